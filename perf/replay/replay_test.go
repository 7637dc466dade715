package replay

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"regexp"
	"strings"
	"testing"

	"presage/perf/cache"
	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/subject"
	"presage/perf/trace"
)

// needLibrary are the kernels that call routines of the C library. The others do
// without, as it takes longer to analyse a library than to run a kernel.
var needLibrary = regexp.MustCompile("HEAP|COPIES|TEMPORARY|KEEPS|PIVOT|CHANGES|ROOT|PRINTS|ASSERTS")

// compile builds the kernels of testdata, in Fortran with -DFORTRAN.
func compile(t testing.TB, flags string) *subject.Program {
	t.Helper()
	if strings.Contains(flags, "FORTRAN") {
		args := append(strings.Fields("-g -static "+flags), "-J", t.TempDir(), "testdata/kernels.f90")
		return perftest.Link(t, oracle.Need(t, "riscv64-linux-gnu-gfortran"), args, "kernel")
	}
	if !needLibrary.MatchString(flags) {
		flags += " -DBARE -nostdlib -ffreestanding"
	}
	args := append([]string{"-g", "-static", "testdata/kernels.c"}, strings.Fields(flags)...)
	return perftest.Link(t, oracle.Need(t, "riscv64-linux-gnu-gcc"), args, "kernel")
}

func codeOf(t testing.TB, prog *subject.Program) *Code {
	t.Helper()
	plan, err := prog.Plan()
	if err != nil {
		t.Fatal(err)
	}
	code, err := CodeOf(prog.Structure().Graph, plan)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// execute runs the program at size n.
func execute(t testing.TB, ctx context.Context, prog *subject.Program, code *Code, n int64, collectors ...trace.Collector) {
	t.Helper()
	_, err := subject.Run(ctx, prog, subject.Point{"n": float64(n)},
		subject.RecordOptions{Plan: code.Recorded, RunOptions: subject.RunOptions{Args: "{n}"}}, collectors...)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// learn runs the program at sizes, each until a run finds nothing more to look for.
func learn(t testing.TB, prog *subject.Program, code *Code, sizes ...int64) *Model {
	t.Helper()
	var hints Hints
	runs := make([]*Run, len(sizes))
	for known := -1; known < hints.Size(); {
		known = hints.Size()
		for i, n := range sizes {
			runs[i] = learnOne(t, prog, code, n, &hints)
		}
	}
	m, err := NewModel(code, sizes, runs)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// learnOne runs a program at a size until a run finds nothing more to look for than the
// hints, to which it adds what it finds.
func learnOne(t testing.TB, prog *subject.Program, code *Code, n int64, hints *Hints) *Run {
	t.Helper()
	for {
		c := NewCollector(code, *hints)
		execute(t, t.Context(), prog, code, n, c)
		run, err := c.Result()
		if err != nil {
			t.Fatal(err)
		}
		before := hints.Size()
		if *hints = c.Hints(); hints.Size() == before {
			return stored(t, run)
		}
	}
}

// stored returns a run as it comes back from a store.
func stored(t testing.TB, run *Run) *Run {
	t.Helper()
	var file bytes.Buffer
	if err := gob.NewEncoder(&file).Encode(run); err != nil {
		t.Fatal(err)
	}
	back := new(Run)
	if err := gob.NewDecoder(&file).Decode(back); err != nil {
		t.Fatal(err)
	}
	return back
}

// tally is what is compared of a run: the accesses of each reference, in number and
// order, and the misses in several hierarchies.
type tally struct {
	accesses []uint64 // by reference
	hashes   []uint64
	sims     []*cache.Simulator
}

// hierarchies have few and many ways, powers of two in all places, and TLBs.
func hierarchies() []cache.Config {
	one := func(blocks, bytes uint64, ways int) cache.Config {
		return cache.Config{Levels: []cache.Level{{Name: "L", Blocks: blocks, BlockBytes: bytes, Ways: ways}}}
	}
	return []cache.Config{
		one(256, 64, 1), one(1024, 32, 2), one(512, 64, 8), one(512, 64, 0),
		{
			Levels: []cache.Level{{Name: "L1", Blocks: 512, BlockBytes: 32, Ways: 2}, {Name: "L2", Blocks: 1024, BlockBytes: 128, Ways: 4}},
			TLBs:   []cache.TLB{{Name: "T1", Entries: 16, EntryBytes: 4096}, {Name: "T2", Entries: 64, EntryBytes: 4096, Ways: 4}},
		},
	}
}

func newTally(t testing.TB, plan *trace.Plan) (*tally, []trace.Collector) {
	t.Helper()
	c := &tally{accesses: make([]uint64, len(plan.Refs)), hashes: make([]uint64, len(plan.Refs))}
	all := []trace.Collector{c}
	for _, h := range hierarchies() {
		s, err := cache.New(plan, h)
		if err != nil {
			t.Fatal(err)
		}
		c.sims, all = append(c.sims, s), append(all, s)
	}
	return c, all
}

func (c *tally) Observe(b *trace.Batch) {
	for _, a := range b.Accesses {
		c.accesses[a.Ref()]++
		c.hashes[a.Ref()] = mix(c.hashes[a.Ref()], a.Addr())
	}
}

// replayed replays the program at size n after the first accesses of the real run.
func replayed(t testing.TB, m *Model, prog *subject.Program, n int64, start FollowOptions) (*tally, *Certificate) {
	t.Helper()
	in, err := m.At(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	c, collectors := newTally(t, m.code.Plan)
	sink := trace.NewDirect(collectors...)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	f := in.Follow(sink, stop, start)
	execute(t, ctx, prog, m.code, n, f)
	if err := f.End(); err != nil {
		t.Fatalf("n=%d: %v", n, err)
	}
	out, err := in.Replay(t.Context(), sink, Options{MaxAccesses: 1 << 28})
	if err != nil {
		t.Fatalf("n=%d: %v", n, err)
	}
	if 4*out.Accesses < f.Real.Accesses {
		t.Fatalf("n=%d: only %d accesses were replayed, %d are real", n, out.Accesses, f.Real.Accesses)
	}
	return c, in.Certify(f, out)
}

// early is where the tests let replays begin: soon after the start of main, so
// that nearly everything is replayed.
var early = FollowOptions{MinAccesses: 4000}

// TestCertifiedReplaysAreRuns replays kernels at sizes that were never run. What is
// certified must be what the program does: the accesses of each reference in number
// and order, and the misses of its group in every hierarchy. What is not certain must
// not be certified, even if it happens to be right.
func TestCertifiedReplaysAreRuns(t *testing.T) {
	mixed := []int64{15, 18, 21, 24, 28, 31, 34}
	even := []int64{16, 20, 22, 26, 30, 34, 38}
	eights := []int64{16, 24, 32, 40, 48, 56}
	tiles := []int64{25, 30, 37, 41, 47, 55, 61}
	leaning := []int64{25, 30, 34, 37, 41, 47, 48, 55, 61}
	for i, c := range []struct {
		flags     string
		train, at []int64
		routine   string
		certified bool
		most      float64 // of the accesses of a routine that is not certified, the share that is at least
	}{
		{"-O2 -DMATMUL", mixed, []int64{64}, "kernel", true, 0},
		{"-O2 -DMATMUL -DHEAP", mixed, []int64{130}, "kernel", true, 0},            // from brk to mmap
		{"-O2 -DTURNS -DHEAP", even, []int64{64, 130, 160}, "kernel", true, 0},     // the same, of arrays that references go between
		{"-O2 -DTURNS -DHEAP -DACROSS", even, []int64{160}, "kernel", false, 0.85}, // and out of
		{"-O2 -DTURNS", even, []int64{65}, "kernel", true, 0},                      // as often at all sizes
		{"-O2 -DTURNS -DSTEPS=n/6", []int64{24, 36, 48, 60, 72, 84}, []int64{90}, "kernel", false, 0},
		{"-O2 -DTURNS -DSTEPS=n/6", []int64{24, 36, 48, 60, 72, 84}, []int64{96}, "kernel", true, 0},
		{"-O2 -DTHREE -DSTEPS=n/3 -DAFTER", []int64{18, 27, 36, 45, 54, 63, 72}, []int64{75}, "kernel", false, 0},
		{"-O2 -DTURNS -DSTEPS=n", even, []int64{65}, "kernel", false, 0}, // the other is the last
		{"-O2 -DTURNS -DSTEPS=n", even, []int64{64}, "kernel", true, 0},
		{"-O2 -DTHREE -DHEAP", even, []int64{64, 130, 160}, "kernel", true, 0},
		{"-O2 -DTHREE -DHEAP -DSTEPS=5", even, []int64{160}, "kernel", true, 0},
		{"-O2 -DTHREE -DHEAP -DSTEPS=40", even, []int64{160}, "kernel", true, 0},
		{"-O2 -DTHREE -DSTEPS=n -DAFTER", []int64{12, 15, 18, 24, 27, 30, 36, 42}, []int64{64}, "kernel", false, 0},
		{"-O2 -DCHOLESKY", mixed, []int64{99}, "kernel", true, 0},
		{"-O2 -DTAIL", mixed, []int64{99}, "step", true, 0},
		{"-O2 -DSTENCIL -DHEAP", []int64{8, 9, 11, 12, 14, 16}, []int64{32}, "sweep", true, 0},
		{"-O2 -DTRANSPOSE", mixed, []int64{99, 128}, "kernel", true, 0},
		{"-O2 -DPACKED", mixed, []int64{64, 99}, "kernel", true, 0},
		{"-O3 -DPACKED", mixed, []int64{96}, "kernel", true, 0},
		{"-O2 -DCOLOURS", []int64{8, 9, 11, 12, 14, 16}, []int64{32}, "kernel", true, 0},
		{"-O2 -DCOLOURS -DSTEPS=2", []int64{8, 10, 12, 14, 16, 18, 20}, []int64{32}, "kernel", true, 0},
		{"-O2 -DREDBLACK", mixed, []int64{128}, "kernel", true, 0},
		{"-O2 -DMATMUL -DPRINTS", mixed, []int64{90}, "kernel", true, 0},
		{"-O2 -DTILED", eights, []int64{96}, "kernel", true, 0},
		{"-O3 -funroll-loops -DMATMUL", eights, []int64{96}, "kernel", true, 0},
		{"-O2 -DCOPIES", mixed, []int64{91, 128}, "kernel", true, 0}, // memcpy's own references are another matter
		{"-O2 -DSETUP", mixed, []int64{90}, "kernel", true, 0},
		{"-O2 -DROOT -lm", mixed, []int64{90}, "kernel", true, 0},
		{"-O2 -DDIAGONAL", mixed, []int64{90}, "kernel", true, 0},
		{"-O2 -DTRUNC", mixed, []int64{300}, "kernel", false, 0},
		{"-O2 -DHALFROWS -DMARKS", mixed, []int64{64, 90}, "kernel", true, 0}, // two runs went both ways, after the loops
		{"-O1 -DLASTPLANE", mixed, []int64{50}, "kernel", true, 0},
		{"-O2 -DASSERTS", mixed, []int64{90}, "kernel", true, 0},
		{"-O2 -DROOTS -lm", []int64{24, 30, 38, 46, 56, 64}, []int64{96, 98}, "kernel", true, 0},
		{"-O2 -DFORTRAN", mixed, []int64{65}, "__work_MOD_multiply", true, 0},
		{"-O3 -DFORTRAN", []int64{16, 18, 22, 24, 28, 34}, []int64{64}, "__work_MOD_relax", true, 0},

		// The least or greatest of several functions.
		{"-O2 -DTILES", tiles, []int64{97, 128}, "kernel", true, 0},
		{"-O1 -DSKEWED", leaning, []int64{97}, "kernel", true, 0},
		{"-O3 -DSKEWED", leaning, []int64{128}, "kernel", true, 0},
		{"-O2 -DDIAGONALS", mixed, []int64{97, 128}, "kernel", true, 0},
		{"-O2 -DBAND", mixed, []int64{97, 128}, "kernel", true, 0},
		{"-O2 -DTILED", mixed, []int64{90}, "kernel", true, 0},
		{"-O2 -DTILES", []int64{13, 14, 16, 18, 19, 21, 22}, []int64{97}, "kernel", false, 0}, // two tiles in all runs
		{"-O2 -DTILES", []int64{24, 30, 36, 37, 48, 60, 61}, []int64{97}, "kernel", false, 0}, // few sizes of the last tile
		{"-O2 -DUNEVEN", []int64{26, 30, 34, 38, 42, 47, 50, 56, 58, 66, 74, 76}, []int64{114}, "kernel", true, 0},
		{"-O2 -DUNEVEN", []int64{30, 38, 47, 56, 66, 76}, []int64{114}, "kernel", false, 0}, // too few of these
		{"-O3 -DJAMMED", []int64{26, 28, 34, 36, 38, 44, 46, 48, 54, 56, 58, 64}, []int64{86, 98}, "kernel", true, 0},
		{"-O2 -DGUARDED", []int64{30, 38, 47, 56, 66, 76}, []int64{97, 114}, "kernel", true, 0},
		{"-O2 -DHALVES", []int64{64, 80, 96, 112, 120, 128}, []int64{192, 256, 512}, "kernel", true, 0},     // nor pieces that no points pin
		{"-O2 -DFACTOR", []int64{18, 26, 30, 34, 38, 42, 50, 58, 66, 74}, []int64{114}, "kernel", false, 0}, // a loop is left out
		{"-O2 -DPARABOLA", mixed, []int64{97}, "kernel", false, 0},

		// Borders that wrap.
		{"-O2 -DPERIODIC", mixed, []int64{97, 128}, "kernel", true, 0},
		{"-O2 -DBORDERS", mixed, []int64{97, 128}, "kernel", true, 0},
		{"-O2 -DTORUS", []int64{8, 9, 11, 12, 14, 16}, []int64{32}, "kernel", true, 0},
		{"-O2 -DNEIGHBOURS", mixed, []int64{97, 128}, "kernel", true, 0},
		{"-O2 -DLATTICE", mixed, []int64{64, 75}, "kernel", true, 0},
		{"-O2 -DSPINS", mixed, []int64{128}, "kernel", false, 0.85}, // data
		{"-O2 -DSHIFTED", mixed, []int64{128}, "kernel", false, 0},
		{"-O2 -DFOLDED", mixed, []int64{128}, "kernel", false, 0},

		// Addresses and bounds from numbers in memory, and conditions on sums of indices.
		{"-O2 -DELEMENTS", mixed, []int64{97, 128}, "kernel", true, 0},
		{"-O2 -DROWS", mixed, []int64{97, 128}, "kernel", true, 0},
		{"-O2 -DNUMBERED", mixed, []int64{97, 128}, "kernel", true, 0},
		{"-O2 -DOUTSIDE", mixed, []int64{97, 128}, "kernel", true, 0},
		{"-O1 -DELEMENTS -DREST", mixed, []int64{97}, "kernel", true, 0},
		{"-O2 -DELEMENTS -DLATER", mixed, []int64{97}, "kernel", false, 0},
		{"-O2 -DELEMENTS -DSHUFFLED", mixed, []int64{97}, "kernel", false, 0},
		{"-O2 -DELEMENTS -DSPOILED", mixed, []int64{97}, "kernel", false, 0},

		// What no run did.
		{"-O2 -DSELDOM", mixed, []int64{97}, "kernel", false, 0.7},
		{"-O2 -DSELDOM -DWORSE", mixed, []int64{97}, "kernel", false, 0},

		{"-O2 -DTILED", eights, []int64{90}, "kernel", false, 0},                                   // a tile that is not full
		{"-O3 -funroll-loops -DTRANSPOSE", eights, []int64{90}, "kernel", false, 0},                // a remainder
		{"-O2 -DCHANGES", mixed, []int64{128}, "kernel", false, 0},                                 // another loop nest
		{"-O2 -DCLAMPED", mixed, []int64{128}, "kernel", false, 0},                                 // min(n, 70)
		{"-O2 -DBLOCKS", mixed, []int64{128}, "kernel", false, 0},                                  // the first block was never full
		{"-O2 -DBLOCKS", []int64{66, 74, 83, 90, 101, 110, 127}, []int64{200}, "kernel", false, 0}, // two blocks in all runs
		{"-O2 -DVANISHES", mixed, []int64{128}, "kernel", false, 0},                                // if (n < 80)
		{"-O2 -DPADDED", eights, []int64{90}, "kernel", false, 0},                                  // rows of 96 words
		{"-O2 -DFLAGGED", mixed, []int64{128}, "kernel", false, 0},                                 // a flag for n > 100
		{"-O2 -DTEMPORARY", mixed, []int64{150}, "kernel", false, 0},                               // malloc in the loop
		{"-O2 -DPIVOT", mixed, []int64{80}, "kernel", false, 0.9},                                  // data
		{"-O2 -DSEARCH", mixed, []int64{90}, "kernel", false, 0.6},
		{"-O1 -DUNSTEADY", mixed, []int64{97}, "kernel", false, 0.95}, // data, and the start of the run shows it
		{"-O1 -DCOMPACT", mixed, []int64{90}, "kernel", false, 0},
		{"-O2 -DSTOPS", mixed, []int64{90}, "kernel", false, 0},
		{"-O2 -DREGIMES", []int64{15, 19, 23, 27, 31, 44, 48, 52}, []int64{91}, "kernel", false, 0},
		{"-O2 -DHANDLER", []int64{16, 20, 24, 30, 36, 40, 46}, []int64{90}, "kernel", false, 0},
		{"-O2 -DWIDENS", []int64{16, 20, 24, 30, 36, 40, 46}, []int64{90}, "kernel", false, 0},
		{"-O2 -DEVENT", mixed, []int64{90}, "kernel", false, 0},
		{"-O2 -DSPARSE", []int64{300, 350, 400, 450, 500}, []int64{1100}, "kernel", false, 0},
		{"-O2 -DBUTTERFLY", []int64{300, 350, 400, 450, 500}, []int64{4096}, "kernel", false, 0},
	} {
		if testing.Short() && i%4 != 0 {
			continue // six minutes under the race detector, and of one goroutine
		}
		t.Run(c.flags, func(t *testing.T) {
			prog := compile(t, c.flags)
			m := learn(t, prog, codeOf(t, prog), c.train...)
			for _, n := range c.at {
				got, certificate := replayed(t, m, prog, n, early)
				want, collectors := newTally(t, m.code.Plan)
				execute(t, t.Context(), prog, m.code, n, collectors...)
				sure := checkCertified(t, n, prog, m.code.Plan, certificate, got, want)
				if s := certificate.Of(refsOf(prog, c.routine)...); s.Certified() != c.certified || float64(s.Accesses-s.Doubtful) < c.most*float64(s.Accesses) {
					t.Errorf("n=%d: %s: certified %v, %d doubtful of %d; want %v and a share of %v: %q", n, c.routine, s.Certified(), s.Doubtful, s.Accesses, c.certified, c.most, s.Reasons)
				}
				if c.certified && sure == 0 {
					t.Errorf("n=%d: no misses were compared", n)
				}
			}
		})
	}
}

// TestWhatIsOverIsNotExpected: small arrays are cleared in the heap before the loops. At a
// size that has them mapped nobody clears them, which the start of the run shows, so that
// the replay lacks nothing.
func TestWhatIsOverIsNotExpected(t *testing.T) {
	prog := compile(t, "-O2 -DMATMUL -DHEAP -DCLEARED")
	m := learn(t, prog, codeOf(t, prog), 40, 50, 60, 72, 84, 100)
	_, small := replayed(t, m, prog, 40, early)
	_, large := replayed(t, m, prog, 130, early)
	clears := refsOf(prog, "memset")
	if small.Of(clears...).Accesses < 1000 {
		t.Fatalf("%d accesses clear arrays of 40 rows: the test tests nothing", small.Of(clears...).Accesses)
	}
	if s := large.Of(clears...); s.Doubtful > 100 || large.LeftOut > 100 {
		t.Errorf("of arrays of 130 rows, %d accesses that clear are in doubt, and %d are left out: %q", s.Doubtful, large.LeftOut, s.Reasons)
	}
}

// checkCertified compares what is certified, and returns the number of misses
// compared.
func checkCertified(t *testing.T, n int64, prog *subject.Program, plan *trace.Plan, c *Certificate, got, want *tally) (compared uint64) {
	t.Helper()
	groups := make([][]trace.RefID, plan.Groups())
	for i, r := range plan.Refs {
		groups[r.Group] = append(groups[r.Group], trace.RefID(i))
		if s := c.Of(trace.RefID(i)); s.Certified() && (got.accesses[i] != want.accesses[i] || got.hashes[i] != want.hashes[i]) {
			t.Errorf("n=%d: %s: certified, and its %d accesses are not the %d of the program", n, prog.References()[i], got.accesses[i], want.accesses[i])
		}
	}
	for k, config := range hierarchies() {
		a, b := got.sims[k].Result(), want.sims[k].Result()
		for l := range a.Levels {
			compared += checkGroups(t, n, c, groups, a.Levels[l], b.Levels[l], config.Levels[l].Ways)
		}
		for l := range a.TLBs {
			compared += checkGroups(t, n, c, groups, a.TLBs[l], b.TLBs[l], config.TLBs[l].Ways)
		}
	}
	return compared
}

// checkGroups compares the misses of certified groups: they are equal, unless
// accesses in doubt came before.
func checkGroups(t *testing.T, n int64, c *Certificate, groups [][]trace.RefID, got, want cache.LevelResult, ways int) (compared uint64) {
	t.Helper()
	if ways == 0 {
		ways = 1 << 10 // more than any of the fully associative levels has blocks
	}
	for g := range groups {
		if !c.Of(groups[g]...).Certified() {
			continue
		}
		compared += want.Groups[g].Misses
		slack := c.Before * uint64(ways)
		if a, b := got.Groups[g].Misses, want.Groups[g].Misses; a > b+slack || b > a+slack {
			t.Errorf("n=%d: level %s, group %d: certified, and %d misses instead of %d", n, got.Name, g, a, b)
		}
	}
	return compared
}

// refsOf returns the references of a routine.
func refsOf(prog *subject.Program, routine string) (refs []trace.RefID) {
	for i, r := range prog.References() {
		if r.Routine == routine {
			refs = append(refs, trace.RefID(i))
		}
	}
	return refs
}

// TestNothingDoubtfulBefore tests that nothing blurs the comparison of misses where
// kernels are regular: all accesses before the end of the last certified loop are
// certain, so that the counts of misses must be equal, not just close.
func TestNothingDoubtfulBefore(t *testing.T) {
	prog := compile(t, "-O2 -DCHOLESKY")
	m := learn(t, prog, codeOf(t, prog), 20, 24, 28, 30, 32, 36, 44)
	_, c := replayed(t, m, prog, 128, early)
	if c.Before != 0 {
		t.Errorf("%d doubtful accesses come before certain ones", c.Before)
	}
	if s := c.All(); float64(s.Doubtful) > 1e-3*float64(s.Accesses) {
		t.Errorf("%d of %d accesses are in doubt", s.Doubtful, s.Accesses)
	}
}

// TestRecursionIsRefused tests that a program whose calls nest without end is not
// followed for ever.
func TestRecursionIsRefused(t *testing.T) {
	prog := compile(t, "-O1 -DRECURSION")
	code := codeOf(t, prog)
	c := NewCollector(code, Hints{})
	execute(t, t.Context(), prog, code, 30000, c)
	var trouble *TroubleError
	if _, err := c.Result(); !errors.As(err, &trouble) || !strings.Contains(err.Error(), "recursion") {
		t.Errorf("got error %v, want one about recursion", err)
	}
}

// TestForeignRunsAreRefused tests that runs of another executable do not pass for
// those of this one.
func TestForeignRunsAreRefused(t *testing.T) {
	prog, other := compile(t, "-O2 -DMATMUL"), compile(t, "-O1 -DPIVOT -DHEAP")
	code := codeOf(t, prog)
	c := NewCollector(code, Hints{})
	execute(t, t.Context(), prog, code, 20, c)
	run, err := c.Result()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Fit(codeOf(t, other), []int64{20}, []*Run{run}); err == nil {
		t.Error("a run of another executable was fitted")
	}
	if _, err := NewModel(code, []int64{20}, []*Run{run}); err == nil {
		t.Error("a model of one run was made")
	}
	if _, err := NewModel(code, []int64{20, 22, 22, 24}, []*Run{run, run, run, run}); err == nil {
		t.Error("a model of sizes that do not ascend was made")
	}
}

// TestLongJumps: a return to a caller of callers ends the calls between, so that however
// many there are they have the same contexts.
func TestLongJumps(t *testing.T) {
	prog := compile(t, "-O2 -DJUMPS -DHEAP")
	code := codeOf(t, prog)
	contexts, counts := make(map[int64]int), make(map[int64]uint64)
	for _, n := range []int64{10, 40} {
		run := learnOne(t, prog, code, n, new(Hints))
		contexts[n] = len(run.Contexts)
		for _, p := range run.Places {
			if code.routine(p.Block) == "row" && p.Context > 0 {
				counts[n] = max(counts[n], p.Count)
			}
		}
	}
	if contexts[10] != contexts[40] || contexts[10] < 4 {
		t.Errorf("%d contexts with 10 jumps, %d with 40", contexts[10], contexts[40])
	}
	if counts[10] != 100 || counts[40] != 1600 {
		t.Errorf("the inner loop was executed %d and %d times in one context, want 100 and 1600", counts[10], counts[40])
	}
}
