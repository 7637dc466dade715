package locality_test

import (
	stdcmp "cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/internal/perftest"
	"presage/perf/locality"
	"presage/perf/store"
	"presage/perf/subject"
)

// carried is a row of what some routine's accesses are carried by, in short: the
// innermost loops' lines of the scope and of the carrier.
type carried struct {
	Object, Carrier string
	Crosses         bool
	Reuses          uint64
}

// shortOf sums rows of one routine by object and carrier.
func shortOf(rows []locality.Carried, routine string) (out []carried, cold map[string]uint64) {
	sums := make(map[carried]uint64)
	cold = make(map[string]uint64)
	for _, r := range rows {
		if r.Scope != routine && !strings.HasPrefix(r.Scope, routine+"/") || r.Object == locality.StackObject || strings.HasPrefix(r.Object, ".") { // constants
			continue
		}
		if r.Cold > 0 {
			cold[r.Object] += r.Cold
		}
		if r.Accesses > r.Cold {
			sums[carried{Object: r.Object, Carrier: r.Carrier[strings.LastIndexByte(r.Carrier, '/')+1:], Crosses: r.Crosses}] += r.Accesses - r.Cold
		}
	}
	for c, n := range sums {
		c.Reuses = n
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b carried) int {
		return stdcmp.Or(stdcmp.Compare(a.Object, b.Object), stdcmp.Compare(a.Carrier, b.Carrier), stdcmp.Compare(fmt.Sprint(a.Crosses), fmt.Sprint(b.Crosses)))
	})
	return out, cold
}

func profileCarriers(t *testing.T, st *store.Store, opt locality.ProfileOptions, sizes ...int) *locality.Runs {
	t.Helper()
	var points []subject.BinaryPoint
	for _, n := range sizes {
		prog := perftest.Compile(t, "gcc", fmt.Sprintf("-O1 -g -DN=%d", n), fmt.Sprintf("carriers.%d", n), "carriers.c")
		points = append(points, subject.BinaryPoint{Point: subject.Point{"n": float64(n)}, Program: prog})
	}
	opt.Store = st
	if opt.BlockBytes == nil {
		opt.BlockBytes = []uint64{8}
	}
	runs, err := locality.ProfileBinaries(t.Context(), points, opt)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// TestCarriersOfKnownLoops: in blocks of one element, the carriers of a matrix
// product of order ijk, of a stencil over time steps and of a loop that is called
// in a loop, by theory, for executables of two sizes. The lines are those of
// carriers.c.
func TestCarriersOfKnownLoops(t *testing.T) {
	const steps = 5
	runs := profileCarriers(t, store.Open(t.TempDir()), locality.ProfileOptions{Carriers: true}, 24, 40)
	rows, err := runs.Carriers(locality.CarrierOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range runs.Runs {
		n := uint64(runs.Runs[i].Point["n"])
		inner := n - 2 // cells a side that the stencil computes
		var own []locality.Carried
		sum := uint64(0)
		for _, r := range rows {
			if r.Point["n"] == float64(n) {
				own = append(own, r)
				sum += r.Accesses
			}
		}
		if sum != runs.Runs[i].Accesses {
			t.Errorf("n = %d: rows hold %d accesses, the run made %d", n, sum, runs.Runs[i].Accesses)
		}
		loops := namesOf(own)
		for routine, want := range map[string][]carried{
			// Row i of a is read again for each j, column j of b for each i; c[i][j]
			// is loaded and stored in one iteration of j.
			"multiply": {
				{"a", loops[routineDepth{"multiply", 2}], true, n * n * (n - 1)},
				{"b", loops[routineDepth{"multiply", 1}], true, n * n * (n - 1)},
				{"c", loops[routineDepth{"multiply", 2}], false, n * n},
			},
			// Each element is loaded and stored in each of the calls.
			"sum": {
				{"table", loops[routineDepth{"sum", 1}], false, steps * 8 * n},
				{"table", loops[routineDepth{"calls", 1}], true, (steps - 1) * 8 * n},
			},
		} {
			got, _ := shortOf(own, routine)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("n = %d: %s: -theory +got:\n%s", n, routine, diff)
			}
		}
		_, cold := shortOf(own, "multiply")
		if diff := cmp.Diff(map[string]uint64{"a": n * n, "b": n * n, "c": n * n}, cold); diff != "" {
			t.Errorf("n = %d: -elements +cold accesses:\n%s", n, diff)
		}
		checkStencil(t, own, inner, steps)
	}
}

// checkStencil compares the stencil's rows with theory. A time step stores each
// cell of v, then loads it and stores the one of u, in one iteration of the loop
// over steps. Of the four loads of a cell of u in a step, by the cells below it,
// to the right, to the left and above it, the first in that order finds it stored
// in the step before, those of the next row are carried by the loop over rows,
// that of the cell two to the left by the innermost one.
func checkStencil(t *testing.T, rows []locality.Carried, inner, steps uint64) {
	t.Helper()
	sums := make(map[string]uint64)
	for _, r := range rows {
		if strings.HasPrefix(r.Scope, "relax/") && r.Object != locality.StackObject {
			depth := strings.Count(r.Carrier, "/")
			sums[fmt.Sprint(r.Object, " ", depth, " ", r.Crosses)] += r.Accesses - r.Cold
		}
	}
	cells := inner * inner
	// Loads of u: 4·cells a step, at inner²+4·inner elements. Elements of rows
	// 1..n-2 and columns 1..n-2 were stored before, edges loaded.
	corners := uint64(4)
	touched := (inner+2)*(inner+2) - corners
	columns := (inner - 2) * inner         // u[i][j-1] of j, u[i][j+1] of j-2: j = 3..n-2
	rowwise := 4*cells - touched - columns // the rest
	want := map[string]uint64{
		"u 3 true":  steps * columns,
		"u 2 true":  steps * rowwise,
		"u 1 true":  (steps - 1) * touched,
		"u 1 false": steps * cells,
		"v 1 false": steps * cells,
		"v 1 true":  (steps - 1) * cells,
	}
	for k, n := range sums {
		if n == 0 {
			delete(sums, k)
		}
	}
	if diff := cmp.Diff(want, sums); diff != "" {
		t.Errorf("stencil: -theory +got, by object, depth of the carrier, crossing:\n%s", diff)
	}
}

// namesOf returns the last parts of the names of loops, by routine and depth; of
// several, the first by name.
func namesOf(rows []locality.Carried) map[routineDepth]string {
	names := make(map[routineDepth]string)
	for _, r := range rows {
		for _, path := range []string{r.Scope, r.Carrier} {
			parts := strings.Split(path, "/")
			for d := 1; d < len(parts); d++ {
				names[routineDepth{parts[0], d}] = parts[d]
			}
		}
	}
	return names
}

type routineDepth struct {
	routine string
	depth   int
}

// TestCarriersAreKept: carriers are found again in the store and in a folder, and
// runs without them say so.
func TestCarriersAreKept(t *testing.T) {
	st := store.Open(t.TempDir())
	opt := locality.ProfileOptions{Carriers: true, BlockBytes: []uint64{64, 4096}}
	runs := profileCarriers(t, st, opt, 16)
	want, err := runs.Carriers(locality.CarrierOptions{BlockBytes: 4096, By: subject.ByRoutine})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := runs.Save(dir); err != nil {
		t.Fatal(err)
	}
	loaded, err := locality.LoadRuns(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, again := range map[string]*locality.Runs{"store": profileCarriers(t, st, opt, 16), "folder": loaded} {
		got, err := again.Carriers(locality.CarrierOptions{BlockBytes: 4096, By: subject.ByRoutine})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -first +again:\n%s", name, diff)
		}
	}
	opt.Carriers = false
	plain := profileCarriers(t, st, opt, 16)
	for i, res := range plain.Runs[0].Reuse {
		if diff := cmp.Diff(res.Groups, runs.Runs[0].Reuse[i].Groups); diff != "" {
			t.Errorf("blocks of %d bytes: -without carriers +with:\n%s", res.BlockBytes, diff)
		}
	}
	if _, err := plain.Carriers(locality.CarrierOptions{}); !errors.Is(err, locality.ErrNoCarriers) {
		t.Errorf("without carriers: %v", err)
	}
	if _, err := runs.Carriers(locality.CarrierOptions{BlockBytes: 128}); err == nil {
		t.Error("a block size that was not collected: no error")
	}
	opt.Carriers, opt.SampleOneIn = true, 8
	if _, err := locality.Profile(t.Context(), runs.Runs[0].Program, []subject.Point{{"n": 16}}, opt); err == nil || !strings.Contains(err.Error(), "SampleOneIn") {
		t.Errorf("carriers of a sample: %v", err)
	}
}

// TestCarriersAcrossGoCalls: a Go routine's prologue, to which it comes back once the
// stack has grown, is an entry all the same, so that loops of callers carry reuses.
func TestCarriersAcrossGoCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other tests profile at once, too")
	}
	runs, err := locality.Profile(t.Context(), perftest.Program(t), []subject.Point{{"n": 8}}, locality.ProfileOptions{
		RunOptions: subject.RunOptions{Args: perftest.OneIteration, Store: store.Open(t.TempDir()), CompiledIn: true}, BlockBytes: []uint64{64}, Carriers: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := runs.Carriers(locality.CarrierOptions{By: subject.ByRoutine})
	if err != nil {
		t.Fatal(err)
	}
	outer, lost, own := uint64(0), uint64(0), uint64(0)
	for _, r := range rows {
		reuses := r.Accesses - r.Cold
		switch {
		case r.Scope != "main.solveLine" || r.Object == locality.StackObject:
		case strings.HasPrefix(r.Carrier, "main.wavefront/"), strings.HasPrefix(r.Carrier, "main.sweep/"):
			outer += reuses
		case r.Carrier == "":
			lost += reuses
		default:
			own += reuses
		}
	}
	// Of a line's eight words, solveLine's own loop carries most; what it found in lines
	// that its callers had accessed is theirs. What is initialised before has no carrier.
	if outer == 0 || own == 0 || lost*20 > outer {
		t.Errorf("loops of callers carry %d reuses, its own %d, none %d", outer, own, lost)
	}
}
