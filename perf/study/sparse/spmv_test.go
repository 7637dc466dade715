package sparse

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"

	"presage/perf"
	"presage/perf/cache"
	"presage/perf/frame"
	"presage/perf/spmv"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/trace"
)

// spmvMatrix is a small matrix with irregular rows.
func spmvMatrix(t *testing.T, seed uint64) *spmv.Matrix {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	const n = 420
	var entries []spmv.Entry
	for i := range n {
		for range 1 + rng.IntN(9) {
			entries = append(entries, spmv.Entry{Row: i, Col: min(max(i+rng.IntN(80)-40, 0), n-1) / 2 * 2, Value: 1})
		}
	}
	m, err := spmv.NewMatrix(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	m.Name = "random"
	return m
}

// guestOnce takes the guest program apart once for all tests.
var guestOnce = sync.OnceValues(func() (*subject.Program, error) {
	return subject.Build(context.Background(), "../../../datasets/programs/spmv")
})

func guestSpMV(t *testing.T) *subject.Program {
	t.Helper()
	prog, err := guestOnce()
	if err != nil {
		t.Fatal(err)
	}
	return prog
}

// arrayTrace keeps the accesses of a run, without those to the stack, as counts of
// misses cannot depend on where an allocator puts arrays if these are aligned alike.
type arrayTrace struct {
	plan  *trace.Plan
	addrs []uint64
	float []bool
}

func (a *arrayTrace) Observe(b *trace.Batch) {
	for _, x := range b.Accesses {
		a.addrs = append(a.addrs, x.Addr())
		a.float = append(a.float, a.plan.Refs[x.Ref()].Float)
	}
}

// What the guest's kernel loads and stores in the engine is what References says:
// as many of each array's elements, each as often, whatever the order within a
// block that the compiler chose. The kernel's own traffic with the stack is a few
// accesses a call.
func TestSpMVReferencesAreTheGuests(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the engine")
	}
	prog := guestSpMV(t)
	m := spmvMatrix(t, 3)
	for _, s := range []spmv.Shape{{R: 1, C: 1}, {R: 2, C: 3}, {R: 6, C: 6}, {R: 8, C: 8}} {
		k, err := newSpMVKernel(prog, s)
		if err != nil {
			t.Fatal(err)
		}
		b, err := spmv.Block(m, s)
		if err != nil {
			t.Fatal(err)
		}
		guest := &arrayTrace{plan: k.plan}
		if err := k.run(context.Background(), b, guest); err != nil {
			t.Fatal(err)
		}
		ours := &arrayTrace{plan: spmv.Plan()}
		b.References(trace.NewDirect(ours))
		const stack = 12 // of a call: saved registers, the return address
		if extra := len(guest.addrs) - len(ours.addrs); extra < 0 || extra > stack {
			t.Errorf("%v: the guest makes %d accesses, References says %d", s, len(guest.addrs), len(ours.addrs))
		}
		floats := func(a *arrayTrace) (times map[uint64]int) {
			times = make(map[uint64]int)
			for i, addr := range a.addrs {
				if a.float[i] {
					times[addr]++
				}
			}
			return times
		}
		// Histograms of how often an element is accessed do not depend on where the
		// arrays are.
		histogram := func(times map[uint64]int) map[int]int {
			h := make(map[int]int)
			for _, n := range times {
				h[n]++
			}
			return h
		}
		g, o := histogram(floats(guest)), histogram(floats(ours))
		for n, count := range o {
			if g[n] != count {
				t.Errorf("%v: %d elements are accessed %d times, by the guest %d", s, count, n, g[n])
			}
		}
	}
}

// Misses of the guest's own trace in caches of Table 5, against those of
// References, and instruction misses against the lines that the code lies in.
func TestSpMVMissesAreTheGuests(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the engine")
	}
	const (
		placement = 0.03 // arrays collide in other sets of direct-mapped caches than in the engine
		few       = 30   // lines: of the stack, of arrays' ends
	)
	prog := guestSpMV(t)
	m := spmvMatrix(t, 5)
	sim, err := spmv.NewSimulator(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []spmv.Shape{{R: 1, C: 1}, {R: 3, C: 2}, {R: 8, C: 4}} {
		k, err := newSpMVKernel(prog, s)
		if err != nil {
			t.Fatal(err)
		}
		b, err := spmv.Block(m, s)
		if err != nil {
			t.Fatal(err)
		}
		var hardware []spmv.Hardware
		var collectors []trace.Collector
		var caches []*cache.Simulator
		for _, line := range []int{16, 64} {
			for _, kb := range []int{4, 16} {
				h := spmv.Baseline()
				h.LineBytes, h.DataBytes, h.DataWays = line, kb<<10, 4
				c, err := cache.New(k.plan, cache.Config{Levels: []cache.Level{{
					Name: "data", Blocks: uint64(h.DataBytes / line), BlockBytes: uint64(line), Ways: h.DataWays,
				}}})
				if err != nil {
					t.Fatal(err)
				}
				hardware, caches, collectors = append(hardware, h), append(caches, c), append(collectors, c)
			}
		}
		if err := k.run(context.Background(), b, collectors...); err != nil {
			t.Fatal(err)
		}
		outcomes, err := sim.Simulate(context.Background(), s, hardware)
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range hardware {
			guest, ours := float64(caches[i].Result().Levels[0].Total.Misses), outcomes[i].DataMisses
			if math.Abs(guest-ours) > placement*guest+few {
				t.Errorf("%v on %v: the guest misses %g times, References %g", s, h, guest, ours)
			}
		}
		if got, want := k.lines(t, b, 32), outcomes[2].InstrMisses; math.Abs(got-want) > 3 && hardware[2].LineBytes == 32 {
			t.Errorf("%v: code of %g lines, want %g", s, got, want)
		}
	}
}

// blockTrace keeps which blocks ran.
type blockTrace struct{ ran map[trace.BlockID]bool }

func (b *blockTrace) Observe(batch *trace.Batch) {
	for _, id := range batch.Blocks {
		b.ran[id] = true
	}
}

// lines counts the lines that executed code lies in: the misses of an instruction
// cache that holds them all.
func (k *kernel) lines(t *testing.T, b *spmv.Blocks, lineBytes uint64) float64 {
	t.Helper()
	seen := &blockTrace{ran: make(map[trace.BlockID]bool)}
	if err := k.run(context.Background(), b, seen); err != nil {
		t.Fatal(err)
	}
	lines := make(map[uint64]bool)
	for id := range seen.ran {
		for _, in := range k.code[id] {
			lines[uint64(in.PC)/lineBytes] = true
			lines[(uint64(in.PC)+uint64(in.Len)-1)/lineBytes] = true
		}
	}
	return float64(len(lines))
}

// The table of costs is what the guest takes, with the tool chain that it was made
// with; another compiler's kernels differ.
func TestSpMVCostsAreTheGuests(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the engine")
	}
	const (
		near    = 0.02 // of the sum over rows of different lengths: a row's end overlaps with the next one's start
		rounded = 1e-6 // of what costs.csv holds
	)
	recorded, err := spmv.Costs()
	if err != nil {
		t.Fatal(err)
	}
	prog := guestSpMV(t)
	m := spmvMatrix(t, 7)
	for _, s := range []spmv.Shape{{R: 1, C: 1}, {R: 2, C: 3}, {R: 8, C: 8}} {
		cost, err := Cost(context.Background(), prog, s)
		if err != nil {
			t.Fatal(err)
		}
		was := recorded[(s.R-1)*spmv.MaxBlock+s.C-1]
		if math.Abs(cost.BlockCycles-was.BlockCycles) > rounded*cost.BlockCycles || cost.BlockInstructions != was.BlockInstructions {
			t.Errorf("%v: %+v, recorded %+v: with another compiler, make costs.csv again: presage spmv costs", s, cost, was)
		}
		k, err := newSpMVKernel(prog, s)
		if err != nil {
			t.Fatal(err)
		}
		b, err := spmv.Block(m, s)
		if err != nil {
			t.Fatal(err)
		}
		r, err := k.time(context.Background(), b)
		if err != nil {
			t.Fatal(err)
		}
		rows, blocks := b.Stored()
		if got, want := cost.Instructions(rows, blocks), float64(r.Instructions); math.Abs(got/want-1) > near {
			t.Errorf("%v: %g instructions, the guest executes %g", s, got, want)
		}
		if got, want := cost.Cycles(rows, blocks), float64(r.Cycles); math.Abs(got/want-1) > near {
			t.Errorf("%v: %g cycles, the guest takes %g", s, got, want)
		}
	}
}

// The whole way on a small matrix: samples, models, tuning, and the store.
func TestTuneSpMV(t *testing.T) {
	m := spmvMatrix(t, 9)
	steps := 0
	opt := Options{Train: 250, Validate: 40, Store: store.Open(t.TempDir()), Progress: func(string, string, int, int) { steps++ }}
	tuned, accuracy, err := TuneSpMV(context.Background(), m, opt)
	if err != nil {
		t.Fatal(err)
	}
	if steps == 0 {
		t.Error("no progress is reported")
	}
	speed := must(frame.Floats(accuracy, "mflop_median_abs_rel_err"))
	if len(speed) != 1 || !(speed[0] > 0 && speed[0] < 0.1) {
		t.Errorf("median error %v", speed)
	}
	value := func(column, objective, strategy, search string) float64 {
		df := must(frame.Where(must(frame.Where(must(frame.Where(tuned, "objective", objective)), "strategy", strategy)), "search", search))
		v := must(frame.Floats(df, column))
		if len(v) != 1 {
			t.Fatalf("%d rows of %s %s %s", len(v), objective, strategy, search)
		}
		return v[0]
	}
	// What was simulated can only have been bettered by what was found.
	fast := func(strategy, search string) float64 {
		return value("sim_mflop_per_sec", "performance", strategy, search)
	}
	base := fast("baseline", "none")
	if app := fast("application", "simulated"); app < base || fast("application", "exhaustive") > app+1e-9 {
		t.Errorf("1×1 %g, best of all %g, the search found %g", base, app, fast("application", "exhaustive"))
	}
	if both := fast("coordinated", "exhaustive"); both < base {
		t.Errorf("coordinated tuning lost: %g of %g", both, base)
	}
	if value("sim_energy_nj_per_flop", "energy", "application", "simulated") > value("sim_energy_nj_per_flop", "energy", "baseline", "none") {
		t.Error("the least energy of all block sizes is more than that of 1×1")
	}
	// Again, from the store, to the last bit.
	opt.Objectives = []spmv.Objective{spmv.Fastest}
	again, _, err := TuneSpMV(context.Background(), m, opt)
	if err != nil {
		t.Fatal(err)
	}
	if frame.String(again) != frame.String(must(frame.Where(tuned, "objective", "performance"))) {
		t.Error("from the store comes another table")
	}
	if _, _, err := TuneSpMV(context.Background(), &spmv.Matrix{Name: "empty", Start: []int{0}}, opt); err == nil || !strings.Contains(err.Error(), "no entries") {
		t.Errorf("a matrix without entries: error %v", err)
	}
}

func must[T any](v T, err error) T { return perf.Must(v, err) }

// Samples that were written and read again give the same models.
func TestSpMVSamplesReadBack(t *testing.T) {
	m := spmvMatrix(t, 11)
	opt := Options{Train: 120, Validate: 10, Store: store.Open(t.TempDir())}
	samples, err := Samples(context.Background(), []*spmv.Matrix{m}, opt)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := frame.WriteCSV(&text, samples); err != nil {
		t.Fatal(err)
	}
	read, err := frame.ReadCSV(&text)
	if err != nil {
		t.Fatal(err)
	}
	fit := func(df dataframe.DataFrame) string {
		model, err := FitSpMV(context.Background(), df, spmv.ModelOptions{Generations: 3})
		if err != nil {
			t.Fatal(err)
		}
		best, err := model.BestShapes()
		if err != nil {
			t.Fatal(err)
		}
		if ratio := must(frame.Floats(best, "pred_best_over_best")); ratio[0] > 1 || ratio[0] < 0.5 {
			t.Errorf("the best block size by the model has %g of the best's speed", ratio[0])
		}
		return frame.String(must(model.Predictions()))
	}
	if fit(samples) != fit(read) {
		t.Error("models of samples and of the same samples read from a file differ")
	}
	if _, err := FitSpMV(context.Background(), samples.Drop("data_ways"), spmv.ModelOptions{}); err == nil || !strings.Contains(err.Error(), "data_ways") {
		t.Errorf("without a column: error %v", err)
	}
}

func TestAdviseSpMV(t *testing.T) {
	m := spmvMatrix(t, 13)
	progress := make(map[string]int)
	opt := Options{Store: store.Open(t.TempDir()), Progress: func(matrix, what string, done, total int) {
		if what != "timings" || done != progress[matrix] || total != 64 {
			t.Errorf("%s: %s: %d of %d after %d", matrix, what, done, total, progress[matrix])
		}
		progress[matrix]++
	}}
	a, err := AdviseSpMV(context.Background(), m, opt, spmv.TimeOptions{Passes: 1, Repeats: 1}, true)
	if err != nil {
		t.Fatal(err)
	}
	if progress["dense"] != 64 || progress[m.Name] != 64 {
		t.Errorf("progress: %v", progress)
	}
	if a.Shapes.Nrow() != 64 || !a.Verified || a.Loss < 0 || a.Loss >= 1 || a.MeasuredGain <= 0 {
		t.Errorf("%+v", a)
	}
	pred := must(frame.Floats(a.Shapes, "pred_mflop_per_sec"))
	for i := 1; i < len(pred); i++ {
		if pred[i] > pred[i-1] {
			t.Fatalf("row %d is predicted to be faster than the one before it", i)
		}
	}
	if text := a.Text(); !strings.Contains(text, a.Shape.String()) || !strings.Contains(text, "Measured: ") {
		t.Errorf("the recommendation reads %q", text)
	}
}

func TestSpMVAverages(t *testing.T) {
	df := dataframe.New(
		series.New([]string{"m", "m", "m", "m", "m", "n"}, series.String, "matrix"),
		series.New([]string{"train", "train", "validate", "baseline", "train", "train"}, series.String, "role"),
		series.New([]int{32, 16, 16, 16, 32, 16}, series.Int, "line_bytes"),
		series.New([]float64{1, 1.5, 2, 1, 1.2, 1}, series.Float, "fill_ratio"),
		series.New([]float64{10, 20, 40, 1000, 30, 1000}, series.Float, "sim_mflop_per_sec"),
	)
	got := must(Averages(df, "m", "line_bytes"))
	if v, f := must(frame.Strings(got, "value")), must(frame.Floats(got, "sim_mflop_per_sec")); len(v) != 2 || v[0] != "16" || v[1] != "32" || f[0] != 30 || f[1] != 20 {
		t.Errorf("by line: %v", got)
	}
	got = must(Averages(df, "m", "fill_ratio", 1, 1.2, 2, 3))
	if v, f := must(frame.Strings(got, "value")), must(frame.Floats(got, "sim_mflop_per_sec")); len(v) != 3 || v[1] != "1.2–2" || f[0] != 10 || f[1] != 25 || f[2] != 40 {
		t.Errorf("by fill ratio: %v", got)
	}
	if _, err := Averages(df, "m", "fill_ratio", 1, 1.3); err == nil || !strings.Contains(err.Error(), "outside the edges") {
		t.Errorf("outside the edges: error %v", err)
	}
	if _, err := Averages(df, "x", "line_bytes"); err == nil {
		t.Error("a matrix that is not there is averaged")
	}
}

// The choice by prediction, on times that are made up.
func TestSpMVNativeChoice(t *testing.T) {
	df := dataframe.New(
		series.New([]string{"m", "m", "m", "n", "n"}, series.String, "matrix"),
		series.New([]int{1, 2, 3, 1, 2}, series.Int, "block_rows"),
		series.New([]int{1, 1, 1, 1, 2}, series.Int, "block_columns"),
		series.New([]float64{100, 200, 160, 50, 40}, series.Float, "meas_mflop_per_sec"),
		series.New([]float64{100, 150, 180, 50, 40}, series.Float, "pred_mflop_per_sec"),
	)
	got := must(NativeChoice(df))
	if r, g := must(frame.Floats(got, "pred_best_over_best")), must(frame.Floats(got, "pred_best_over_1x1")); len(r) != 2 || r[0] != 0.8 || g[0] != 1.6 || r[1] != 1 || g[1] != 1 {
		t.Errorf("%v", got)
	}
	if best := must(frame.Strings(got, "meas_best")); best[0] != "2×1" || best[1] != "1×1" {
		t.Errorf("%v", best)
	}
}
