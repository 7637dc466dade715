package nest_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"presage/perf/engine"
	"presage/perf/engine/rv64"
	"presage/perf/fit"
	"presage/perf/iperf"
	"presage/perf/iperf/nest"
	"presage/perf/trace"
)

// overlays for the kernels of the programs, by language: which registers hold n
// and the arrays. Fortran's compiler makes max(n, 0) the stride: a5, a6 or what
// paths leave in a1.
var overlays = map[string]map[string]string{
	"c": {
		"ij":      "{values: {a1: n}, arrays: {a0: a}, loops: [{name: i}, {name: j}]}",
		"ji":      "{values: {a1: n}, arrays: {a0: a}, loops: [{name: j}, {name: i}]}",
		"copy":    "{values: {a2: n}, arrays: {a1: a, a0: b}, loops: [{name: i}]}",
		"stencil": "{values: {a2: n}, arrays: {a1: a, a0: b}, loops: [{name: i}, {name: j}]}",
	},
	"fortran": {
		"ij": "{values: {a1: n, a5@: n}, arrays: {a0: a}, loops: [{name: i}, {name: j}]}",
		"ji": "{values: {a1: n, a6@: n}, arrays: {a0: a}, loops: [{name: j}, {name: i}]}",
	},
	"go": {
		"ij":      "{values: {a3: n}, arrays: {a0: a}, loops: [{name: i}, {name: j}]}",
		"ji":      "{values: {a3: n}, arrays: {a0: a}, loops: [{name: j}, {name: i}]}",
		"copy":    "{values: {a6: n}, arrays: {a3: a, a0: b}, loops: [{name: i}]}",
		"stencil": "{values: {a6: n}, arrays: {a3: a, a0: b}, loops: [{name: i}, {name: j}]}",
	},
}

var routines = map[string]map[string]string{
	"c":       {"ij": "kernel_ij", "ji": "kernel_ji", "copy": "kernel_copy", "stencil": "kernel_stencil"},
	"fortran": {"ij": "kernel_ij", "ji": "kernel_ji", "copy": "kernel_copy", "stencil": "kernel_stencil"},
	"go":      {"ij": "main.kernelRows", "ji": "main.kernelColumns", "copy": "main.kernelCopy", "stencil": "main.kernelStencil"},
}

// described are the descriptions by hand, in kernels.yaml.
var described = map[string]string{"ij": "increment-ij", "ji": "increment-ji", "copy": "copy", "stencil": "stencil"}

// TestKernelsAsDescribedByHand demands that an analysed kernel equals the one described
// by hand, whatever the compiler and level, except for references (kept, by offset)
// whose values a compiler keeps in registers.
func TestKernelsAsDescribedByHand(t *testing.T) {
	for _, c := range []struct {
		language, flags, kernel string
		overlay                 string // instead of the usual one
		kept                    []string
		note                    string
	}{
		{language: "go", flags: "", kernel: "ij"},
		{language: "go", flags: "", kernel: "ji"},
		{language: "go", flags: "", kernel: "copy"},
		{language: "go", flags: "", kernel: "stencil"},
		{language: "go", flags: "-gcflags=-N", kernel: "ij", note: "scalars"},
		{language: "go", flags: "-gcflags=-N", kernel: "ji"},
		{language: "go", flags: "-gcflags=-N", kernel: "copy"},
		{language: "go", flags: "-gcflags=-N", kernel: "stencil"},
		{language: "c", flags: "-O0", kernel: "ij", note: "scalars"},
		{language: "c", flags: "-O0", kernel: "ji"},
		{language: "c", flags: "-O0", kernel: "copy"},
		{language: "c", flags: "-O0", kernel: "stencil"},
		{language: "c", flags: "-O1", kernel: "ij"},
		{language: "c", flags: "-O1", kernel: "stencil"},
		{language: "c", flags: "-O3", kernel: "ij"},
		{language: "c", flags: "-O3", kernel: "ji"},
		{language: "c", flags: "-O3", kernel: "copy"},
		// Predictive commoning: what was loaded as a[i][j+1] is kept for the next two
		// iterations, where it is a[i][j] and a[i][j-1].
		{language: "c", flags: "-O2", kernel: "stencil", kept: []string{"8*n", "8*n + 8"}, note: "around the innermost"},
		// Unrolled by two as well, with a loop for what is left over; the conditions
		// are too much.
		{
			language: "c", flags: "-O3", kernel: "stencil", kept: []string{"8*n", "8*n + 8"}, note: "unrolled by 2",
			overlay: "{values: {a2: n}, arrays: {a1: a, a0: b}, loops: [{name: i, trips: n - 2}, {name: j, trips: n - 2}]}",
		},
		{language: "fortran", flags: "-O0", kernel: "ij", overlay: `{values: {"merge(a1)@": n}, arrays: {a0: a}, loops: [{name: i, trips: n}, {name: j, trips: n}]}`},
		{language: "fortran", flags: "-O0", kernel: "copy", overlay: "{arrays: {a1: a, a0: b}, loops: [{name: i, trips: n}]}"},
		{language: "fortran", flags: "-O1", kernel: "ij"},
		{language: "fortran", flags: "-O3", kernel: "ij"},
		{language: "fortran", flags: "-O3", kernel: "ji"},
	} {
		t.Run(strings.Join([]string{c.language, c.flags, c.kernel}, " "), func(t *testing.T) {
			s := build(t, c.language, c.flags)
			if c.overlay == "" {
				c.overlay = overlays[c.language][c.kernel]
			}
			got, err := s.find(t, routines[c.language][c.kernel], c.overlay)
			if err != nil {
				t.Fatal(err)
			}
			want, err := iperf.FindKernel(described[c.kernel])
			if err != nil {
				t.Fatal(err)
			}
			compare(t, got.Kernel, without(t, want, c.kept))
			if notes := strings.Join(got.Notes, "\n"); !strings.Contains(notes, c.note) {
				t.Errorf("notes %q, want one about %q", notes, c.note)
			}
			for i, of := range got.Of {
				if ref := &s.access.All[of]; ref.Kind != got.References[i].Kind || uint64(ref.Size) != got.References[i].Bytes {
					t.Errorf("reference %d is said to come from %s", i, ref)
				}
			}
		})
	}
}

// without leaves out the loads at some offsets.
func without(t *testing.T, k *iperf.Kernel, offsets []string) *iperf.Kernel {
	t.Helper()
	out := *k
	out.References = slices.DeleteFunc(slices.Clone(k.References), func(r iperf.Reference) bool {
		return r.Kind == trace.Load && slices.Contains(offsets, r.Offset.String())
	})
	if len(out.References) != len(k.References)-len(offsets) {
		t.Fatalf("%d references of %s are not at %q", len(out.References), k.Name, offsets)
	}
	return &out
}

// compare holds two kernels against each other: the same loops, parameters and,
// at several sizes, trip counts and references, in any order.
func compare(t *testing.T, got, want *iperf.Kernel) {
	t.Helper()
	if !slices.Equal(got.Params, want.Params) || len(got.Loops) != len(want.Loops) {
		t.Fatalf("parameters %v, %d loops; want %v, %d", got.Params, len(got.Loops), want.Params, len(want.Loops))
	}
	for i := range got.Loops {
		if got.Loops[i].Name != want.Loops[i].Name {
			t.Errorf("loop %d is %s, want %s", i, got.Loops[i].Name, want.Loops[i].Name)
		}
	}
	for _, n := range []float64{5, 8, 100, 513} {
		g, w := at(t, got, n), at(t, want, n)
		if !slices.Equal(g.Trips, w.Trips) {
			t.Errorf("n %g: trip counts %v, want %v", n, g.Trips, w.Trips)
		}
		if a, b := fmt.Sprint(ordered(g.Refs)), fmt.Sprint(ordered(w.Refs)); a != b {
			t.Errorf("n %g: references\n%s\nwant\n%s", n, a, b)
		}
	}
}

func at(t *testing.T, k *iperf.Kernel, n float64) *iperf.Nest {
	t.Helper()
	out, err := k.At(fit.Point{"n": n})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func ordered(refs []iperf.NestReference) []iperf.NestReference {
	out := slices.Clone(refs)
	slices.SortFunc(out, func(a, b iperf.NestReference) int {
		return cmp.Or(cmp.Compare(a.Array, b.Array), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Offset, b.Offset))
	})
	return out
}

// TestKernelsAgainstRuns demands that a run accesses the addresses of the analysed
// kernel in sequence, up to the position of the arrays and the order within an
// iteration.
func TestKernelsAgainstRuns(t *testing.T) {
	for _, c := range []struct{ language, flags, kernel string }{
		{"go", "", "ij"},
		{"go", "-gcflags=-N", "stencil"},
		{"c", "-O0", "ji"},
		{"c", "-O1", "stencil"},
		{"c", "-O3", "ij"},
		{"c", "-O3", "copy"},
		{"fortran", "-O3", "ij"},
		{"fortran", "-O1", "ij"},
	} {
		t.Run(strings.Join([]string{c.language, c.flags, c.kernel}, " "), func(t *testing.T) {
			s := build(t, c.language, c.flags)
			k, err := s.find(t, routines[c.language][c.kernel], overlays[c.language][c.kernel])
			if err != nil {
				t.Fatal(err)
			}
			const n = 11
			got := s.addresses(t, k, c.kernel, n)
			nest := at(t, k.Kernel, n)
			base := make(map[string]uint64)
			perIteration := len(nest.Refs)
			if want := int(nest.Iterations(len(nest.Trips)-1)) * perIteration; len(got) != want {
				t.Fatalf("%d accesses, the kernel has %d", len(got), want)
			}
			index := make([]float64, len(nest.Trips))
			for i := 0; i < len(got); i += perIteration {
				for _, a := range got[i : i+perIteration] {
					r := &nest.Refs[a.ref]
					want := r.Offset
					for j, s := range r.Strides {
						want += int64(index[j]) * s
					}
					if i == 0 && base[r.Array] == 0 {
						base[r.Array] = a.addr - uint64(want)
					}
					if a.addr-base[r.Array] != uint64(want) {
						t.Fatalf("iteration %v: %s is accessed at %d, want %d", index, r.Array, a.addr-base[r.Array], want)
					}
				}
				for j := len(index) - 1; j >= 0; j-- {
					if index[j]++; index[j] < nest.Trips[j] {
						break
					}
					index[j] = 0
				}
			}
		})
	}
}

// accessed is an access by a reference of the kernel.
type accessed struct {
	ref  int
	addr uint64
}

// recorder keeps all accesses.
type recorder struct{ all []accessed }

func (r *recorder) Observe(b *trace.Batch) {
	for _, a := range b.Accesses {
		r.all = append(r.all, accessed{int(a.Ref()), a.Addr()})
	}
}

// addresses runs a kernel and returns its accesses.
func (s *subject) addresses(t *testing.T, k *nest.Found, variant string, n int) []accessed {
	t.Helper()
	plan := &trace.Plan{}
	for i, of := range k.Of {
		ref := &s.access.All[of]
		plan.Refs = append(plan.Refs, trace.Ref{PC: ref.PC, Size: ref.Size, Kind: ref.Kind, Float: ref.Float, Group: trace.GroupID(i)})
	}
	order := make([]int, len(plan.Refs)) // plans list references by ascending pc
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(plan.Refs[a].PC, plan.Refs[b].PC) })
	slices.SortFunc(plan.Refs, func(a, b trace.Ref) int { return cmp.Compare(a.PC, b.PC) })
	r := &recorder{}
	opt := engine.Request{Args: []string{"-n", fmt.Sprint(n), "-variant", variant, "-quiet"}, Plan: plan, Sink: trace.NewDirect(r)}
	if res, err := (rv64.Engine{}).Run(context.Background(), s.access.Program.File, opt); err != nil || res.ExitCode != 0 {
		t.Fatalf("exit code %d, %v", res.ExitCode, err)
	}
	for i := range r.all {
		r.all[i].ref = order[r.all[i].ref]
	}
	return r.all
}

// TestVariantsOfTheStudy checks the variants that represent compilers' levels in the
// recorded study: which facts the binary provides, and which need an overlay.
func TestVariantsOfTheStudy(t *testing.T) {
	s := build(t, "go", "")
	ij, err := iperf.FindKernel("increment-ij")
	if err != nil {
		t.Fatal(err)
	}
	ji, err := iperf.FindKernel("increment-ji")
	if err != nil {
		t.Fatal(err)
	}
	// The index goes on by n: how often is a quotient of two registers.
	_, err = s.find(t, "main.kernelOptimised", "{values: {a3: n}}")
	wantMissing(t, err, "how often loop 2 of 2 goes round", "loops: [{}, {trips: n}]")
	k, err := s.find(t, "main.kernelOptimised", "{values: {a3: n}, arrays: {a0: a}, loops: [{name: i}, {name: j, trips: n}]}")
	if err != nil {
		t.Fatal(err)
	}
	compare(t, k.Kernel, ij)

	// The index comes from a call of a function that computes it in a straight line.
	k, err = s.find(t, "main.kernelNaive", "{values: {a3: n}, arrays: {a0: a}, loops: [{name: i}, {name: j}]}")
	if err != nil {
		t.Fatal(err)
	}
	compare(t, k.Kernel, ij)
	// An overlay may still say so itself.
	k, err = s.find(t, "main.kernelNaive", "{values: {a3: n}, loops: [{name: i}, {name: j}], references: [{at: kernel.go:11, array: a, strides: ['8', 8*n]}]}")
	if err != nil {
		t.Fatal(err)
	}
	compare(t, k.Kernel, ij)

	// Four elements at a time, and a loop of the source for what is left over.
	_, err = s.find(t, "main.kernelInterchanged", "{values: {a3: n}}")
	wantMissing(t, err, "which of 2 nests is meant", "nest: kernel.go:40")
	k, err = s.find(t, "main.kernelInterchanged", "{values: {a3: n}, arrays: {a0: a}, nest: 'kernel.go:40', loops: [{name: j, trips: n}, {name: i}]}")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []float64{8, 100, 800} { // multiples of four
		if g, w := at(t, k.Kernel, n), at(t, ji, n); !slices.Equal(g.Trips, w.Trips) || fmt.Sprint(ordered(g.Refs)) != fmt.Sprint(ordered(w.Refs)) {
			t.Errorf("n %g: %v, want %v", n, g, w)
		}
	}
}

func wantMissing(t *testing.T, err error, parts ...string) {
	t.Helper()
	if !errors.Is(err, nest.ErrMissing) {
		t.Errorf("error %v, want one that wraps ErrMissing", err)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not say %q", err, p)
		}
	}
}

// TestBadInput checks the errors about facts missing from the binary or the overlay,
// and about superfluous ones in the overlay.
func TestBadInput(t *testing.T) {
	for _, c := range []struct {
		language, flags, routine, overlay, want string
		missing                                 bool
	}{
		{"c", "-O1", "kernel_ij", "{}", "along loop 2 of 2, 8*a1: what a1 is; say so in the overlay, such as values: {a1: n}", true},
		{"c", "-O1", "kernel_copy", "{}", "that depends on a2; say so in the overlay, such as values: {a2: n}", true},
		{"c", "-O3", "kernel_stencil", "{values: {a2: n}}", "how often loop", true},
		{"c", "-O1", "kernel_copy", "{values: {a2: n, a1: 4096}}", "which array kernel_copy (kernels.c:24) fp load of 8 B at 0x", true},
		{"c", "-O1", "kernel_ij", "{values: {a1: n, a9: n}}", "values: a9 stands in no formula of the nest: a0, a1", false},
		{"c", "-O1", "kernel_ij", "{values: {a1: n}, arrays: {a4: x}}", "arrays: no reference of the nest is to a4", false},
		{"c", "-O1", "kernel_copy", "{values: {a2: n}, arrays: {a0: x, a1: x}}", "arrays: a0 and a1 are both called x", false},
		{"c", "-O1", "kernel_ij", "{values: {a1: n}, loops: [{}, {}, {}]}", "the overlay has 3 loops, the nest 2", false},
		{"c", "-O1", "kernel_ij", "{values: {a1: n}, nest: 'kernels.c:99'}", "nest: kernels.c:99: no innermost loop accesses memory there; they do at kernels.c:8", false},
		{"c", "-O1", "kernel_ij", "{values: {a1: n}, references: [{at: 'main.c:1', array: a, strides: ['8', '8']}]}", "references: nothing of the nest accesses memory at main.c:1", false},
		{"c", "-O1", "kernel_ij", "{values: {a1: n}, references: [{at: 'kernels.c:8', array: a, strides: ['8']}]}", "has 1 strides for 2 loops", false},
		{"c", "-O1", "kernel_ij", "{values: {a1: n}, loops: [{name: x}, {name: y, trips: m}]}", "", false},
		{"go", "", "main.kernelIndex", "{}", "no loop of the routine itself accesses memory", false},
		{"fortran", "-O3", "kernel_copy", "{}", "no loop of the routine itself accesses memory: it has 0 loops", false},
	} {
		_, err := build(t, c.language, c.flags).find(t, c.routine, c.overlay)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s %s: %v", c.routine, c.overlay, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, nest.ErrMissing) != c.missing {
			t.Errorf("%s %s: error %v, want %q", c.routine, c.overlay, err, c.want)
		}
	}
}

// TestWithoutOverlay demands that a nil overlay equals an empty one, and that names come
// from the binary.
func TestWithoutOverlay(t *testing.T) {
	s := build(t, "c", "-O1")
	_, err := nest.Find(s.access, s.scopes, s.routine(t, "kernel_ij"), nil)
	wantMissing(t, err, "8*a1")
	k, err := s.find(t, "kernel_copy", "{values: {a2: '100'}}")
	if err != nil {
		t.Fatal(err)
	}
	if len(k.Params) != 0 || k.Name != "kernel_copy" || k.References[0].Array != "a1" || k.Loops[0].Name != "loop1" {
		t.Errorf("%+v", k.Kernel)
	}
	if n, err := k.At(nil); err != nil || n.Trips[0] != 100 {
		t.Errorf("%v, %v", n, err)
	}
}
