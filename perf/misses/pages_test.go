package misses

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/locality"
	"presage/perf/predict"
	"presage/perf/store"
	"presage/perf/subject"
)

// pagesCase is a kernel of growing.c with a level of pages at which pages as they are
// go astray: at the sizes of the model, a page holds several rows, or all data are a
// few pages.
type pagesCase struct {
	kernel  string
	sizes   []float64
	n       float64
	pages   uint64  // of the level
	within  float64 // of the misses, by scaled pages
	without float64 // by pages as they are, off by this at least
}

// TestScaledPages holds misses of a TLB at three to four times the largest training size
// against those of the run itself, and against models that do not scale pages.
func TestScaledPages(t *testing.T) {
	sides, elements := []float64{18, 22, 27, 33, 40, 48}, []float64{4000, 5600, 7500, 10000, 13000, 16000}
	for _, c := range []pagesCase{
		{"PRODUCT", sides, 128, 16, 0.1, 0.4},
		{"STENCIL", sides, 160, 24, 0.15, 0.3},
		{"SORT LINEAR", elements, 64000, 24, 0.05, 0.15},
		{"TABLE LINEAR", elements, 64000, 64, 0.05, 0.15},
	} {
		t.Run(c.kernel, func(t *testing.T) { c.check(t) })
	}
}

func (c *pagesCase) check(t *testing.T) {
	const page = 4096
	prog := perftest.Compile(t, "gcc", "-O2 -D"+strings.ReplaceAll(c.kernel, " ", " -D"), "kernel", "growing.c")
	run := subject.RunOptions{Args: "{n}", Store: store.Open(t.TempDir())}
	opt := locality.ProfileOptions{RunOptions: run, BlockBytes: []uint64{64, page}}
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", c.sizes...), opt)
	if err != nil {
		t.Fatal(err)
	}
	model, err := Fit(t.Context(), runs, FitOptions{Store: run.Store})
	if err != nil {
		t.Fatal(err)
	}
	truth, err := locality.Profile(t.Context(), prog, subject.Sweep("n", c.n, c.n+1), opt)
	if err != nil {
		t.Fatal(err)
	}
	total := truth.Runs[0].Reuse[1].Total()
	want := float64(total.Misses(c.pages))
	query := Query{Points: subject.Sweep("n", c.n), Caches: []CacheSize{{Name: "TLB", Capacity: c.pages * page, BlockBytes: page}}}
	rows, err := OfCaches(t.Context(), model, query)
	if err != nil {
		t.Fatal(err)
	}
	row := rows[0]
	if row.Method != MethodScaledPages {
		t.Errorf("method %q", row.Method)
	}
	if off := math.Abs(row.Misses/want - 1); off > c.within {
		t.Errorf("%.0f misses, the run has %.0f: off by %.3f", row.Misses, want, off)
	}
	if row.Low > row.Misses || row.High < row.Misses || row.Misses > row.Accesses {
		t.Errorf("%.0f misses of %.0f accesses, from %.0f to %.0f", row.Misses, row.Accesses, row.Low, row.High)
	}
	plain, err := model.Curve(query.Points[0], page, []uint64{c.pages})
	if err != nil {
		t.Fatal(err)
	}
	if off := math.Abs(plain[0]/want - 1); off < c.without {
		t.Errorf("pages as they are: %.0f misses, the run has %.0f: off by %.3f only, so that this shows nothing", plain[0], want, off)
	}
}

// TestPagesThatAreNotScaled: at the sizes of the model, and by the papers' formula, the
// histograms of pages decide, and the program is not run again.
func TestPagesThatAreNotScaled(t *testing.T) {
	prog := perftest.Compile(t, "gcc", "-O2 -DSTENCIL", "stencil", "growing.c")
	run := subject.RunOptions{Args: "{n}", Store: store.Open(t.TempDir())}
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 18, 22, 27, 33, 40), locality.ProfileOptions{RunOptions: run, BlockBytes: []uint64{64, 4096}})
	if err != nil {
		t.Fatal(err)
	}
	model, err := Fit(t.Context(), runs, FitOptions{Store: run.Store})
	if err != nil {
		t.Fatal(err)
	}
	caches := []CacheSize{{Name: "TLB", Capacity: 8 * 4096, BlockBytes: 4096}}
	for _, q := range []Query{
		{Points: subject.Sweep("n", 36), Caches: caches},
		{Points: subject.Sweep("n", 90), Caches: caches, Method: predict.MethodBinomial},
	} {
		rows, err := OfCaches(t.Context(), model, q)
		if err != nil {
			t.Fatal(err)
		}
		if rows[0].Method != string(predict.MethodFullyAssociative) {
			t.Errorf("method %q", rows[0].Method)
		}
	}
	if n := len(model.refits.classes); n > 0 {
		t.Errorf("%d further block sizes were collected", n)
	}
}

// TestProgramThatCannotBeRunAgain: predictions are made without a further run then, and
// say so.
func TestProgramThatCannotBeRunAgain(t *testing.T) {
	dir := t.TempDir()
	input := filepath.Join(dir, "in")
	if err := os.WriteFile(input, []byte("1"), 0o666); err != nil {
		t.Fatal(err)
	}
	prog := perftest.Compile(t, "gcc", "-O2 -DSTENCIL", "stencil", "growing.c")
	run := subject.RunOptions{Args: "{n}", Store: store.Open(t.TempDir()), Folders: []subject.Folder{{Guest: "/data", Host: dir}}}
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 18, 22, 27, 33, 40), locality.ProfileOptions{RunOptions: run, BlockBytes: []uint64{64, 4096}})
	if err != nil {
		t.Fatal(err)
	}
	model, err := Fit(t.Context(), runs, FitOptions{Store: run.Store})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(input, []byte("changed"), 0o666); err != nil {
		t.Fatal(err)
	}
	caches := []CacheSize{{Name: "L1", Capacity: 4096, BlockBytes: 64}, {Name: "TLB", Capacity: 8 * 4096, BlockBytes: 4096}}
	rows, err := OfCaches(t.Context(), model, Query{Points: subject.Sweep("n", 90), Caches: caches})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if !(row.Misses > 0) || row.Method != string(predict.MethodFullyAssociative) || !strings.Contains(row.Warning, "files that the program reads have changed") {
			t.Errorf("%s: %g misses, method %q, warning %q", row.Level, row.Misses, row.Method, row.Warning)
		}
	}
	m := profiletest.Machine(t, "zen4")
	m.Caches, m.TLBs = m.Caches[:1], nil
	known, err := Predict(t.Context(), model, m, subject.Sweep("n", 36), PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r := known[0]; !(r.Misses > 0) || !(r.High >= r.Misses) || !strings.Contains(r.Warning, "conflicts in the runs are not known") {
		t.Errorf("%g misses, at most %g, warning %q", r.Misses, r.High, r.Warning)
	}
}
