package synth_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"presage/perf/anatomy"
	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/machine"
	"presage/perf/pipeline"
	"presage/perf/sched"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/synth"
)

// source has a loop of 5 trips and one whose trips are random, with a routine that is
// called in it, and a walk along a list.
const source = `
typedef struct link { struct link *next; } link;
static link ring[64];
double a[64], b[64];
static unsigned state = 1;
__attribute__((noinline)) static double step(double x) { return x > 0.5 ? x * 0.75 : x + 0.375; }
__attribute__((noinline)) static double fixed(void) { double s = 0; for (int i = 0; i < 300; i++) for (int j = 0; j < 5; j++) s += a[j] * b[i & 63]; return s; }
__attribute__((noinline)) static double drawn(void)
{
	double x = 0.3;
	for (int i = 0; i < 300; i++)
		do { x = step(x); state = state * 1664525 + 1013904223; } while (state >> 30);
	return x;
}
__attribute__((noinline)) static link *chase(void) { link *p = ring; for (int i = 0; i < 4000; i++) p = p->next; return p; }
__attribute__((used)) int run(void)
{
	for (int i = 0; i < 64; i++) ring[i].next = &ring[(i + 1) % 64];
	return fixed() + drawn() < 0 || !chase();
}
void _start(void)
{
	register long status __asm__("a0") = run();
	register long exit __asm__("a7") = 93;
	__asm__ volatile("ecall" : : "r"(status), "r"(exit));
}
`

// fixture is the program with what was counted in its run.
type fixture struct {
	structure *subject.Structure
	f         *sched.Frequencies
	program   *synth.Program
	machine   *machine.Machine
	config    pipeline.Config
	model     *synth.Model
}

func fixed(t *testing.T) *fixture {
	t.Helper()
	gcc := oracle.Need(t, "riscv64-linux-gnu-gcc")
	path := filepath.Join(t.TempDir(), "walk.c")
	if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	prog := perftest.Link(t, gcc, []string{"-O2", "-static", "-nostdlib", "-ffreestanding", "-Wl,--no-relax", path}, "walk")
	counts, err := anatomy.Count(t.Context(), prog, subject.Point{}, subject.RunOptions{CompiledIn: true, Store: store.Open(t.TempDir())})
	if err != nil {
		t.Fatal(err)
	}
	x := &fixture{structure: counts.Structure(), f: sched.Counted(counts.Recovered), machine: profiletest.Machine(t, "zen4")}
	if x.program, err = synth.New(x.structure.Graph, x.f); err != nil {
		t.Fatal(err)
	}
	config, err := x.machine.Pipeline()
	if err != nil {
		t.Fatal(err)
	}
	x.config = config.Config
	branches := sched.PredictBranches(&x.machine.Core, x.structure.Access, x.f, nil)
	x.model = &synth.Model{Frequencies: x.f, Wrong: branches.Wrong, Counted: branches.Counted, Access: make([]synth.Access, len(x.program.Refs))}
	return x
}

// execute returns the times of a walk with each of some causes.
func (x *fixture) execute(t *testing.T, with ...synth.Causes) []*synth.Times {
	t.Helper()
	times, err := x.program.Execute(t.Context(), x.model, x.config, with, synth.Options{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	return times
}

// routine returns the index of a routine.
func (x *fixture) routine(t *testing.T, name string) int {
	t.Helper()
	i, err := x.structure.Routine(name)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// per returns the cycles of a routine's blocks in proportion to the executions of the
// most frequent one.
func (x *fixture) per(routine int, times *synth.Times) float64 {
	cycles, most := 0.0, 0.0
	for b, n := range x.f.Routines[routine].Blocks {
		cycles += n * times.Cycles[routine][b]
		most = max(most, n)
	}
	return cycles / most
}

// TestWalkFollowsFrequencies holds how often a walk executes blocks against how often
// the program does.
func TestWalkFollowsFrequencies(t *testing.T) {
	x := fixed(t)
	times := x.execute(t, 0)[0]
	var walked, counted, off float64
	for r := range times.Executed {
		for b, n := range times.Executed[r] {
			insts := float64(len(x.structure.Graph.Routines[r].Blocks[b].Insts))
			walked += float64(n) * insts
			counted += x.f.Routines[r].Blocks[b] * insts
		}
	}
	for r := range times.Executed {
		for b, n := range times.Executed[r] {
			insts := float64(len(x.structure.Graph.Routines[r].Blocks[b].Insts))
			off += math.Abs(float64(n)*insts/walked-x.f.Routines[r].Blocks[b]*insts/counted) / 2
		}
	}
	if off > 0.05 {
		t.Errorf("%.3f of the instructions of a walk are other ones than those of the run", off)
	}
	// A loop that counts is left after its 5 trips, whatever is drawn.
	r := x.routine(t, "fixed")
	var most, second uint64
	for _, n := range times.Executed[r] {
		switch {
		case n > most:
			most, second = n, most
		case n > second && n < most:
			second = n
		}
	}
	if ratio := float64(most) / float64(second); math.Abs(ratio-5) > 0.05 {
		t.Errorf("%.2f trips of a loop of 5", ratio)
	}
}

// part returns which part of the instructions of a walk are those of a routine.
func (x *fixture) part(routine int, times *synth.Times) float64 {
	own, all := 0.0, 0.0
	for r := range times.Executed {
		for b, n := range times.Executed[r] {
			insts := float64(n) * float64(len(x.structure.Graph.Routines[r].Blocks[b].Insts))
			all += insts
			if r == routine {
				own += insts
			}
		}
	}
	return own / all
}

// TestWalksComeToMisses: half of the stretches begin at misses, in addition to those that
// would anyway, if these take longer than there are instructions.
func TestWalksComeToMisses(t *testing.T) {
	x := fixed(t)
	chase := x.routine(t, "chase")
	before := x.part(chase, x.execute(t, 0)[0])
	x.miss(chase, 1, 1, 1)
	after := x.part(chase, x.execute(t, 0)[0])
	if most := (before + 1) / 2; after > most || after < (before+most)/2 { // walks leave the loop at its end
		t.Errorf("%.2f of the instructions are of the loads that miss, %.2f if they hit, want up to %.2f", after, before, most)
	}
}

// miss lets the accesses of a routine miss with some shares.
func (x *fixture) miss(routine int, shares ...float64) {
	for i := range x.program.Refs {
		for b := range x.structure.Graph.Routines[routine].Blocks {
			block := &x.structure.Graph.Routines[routine].Blocks[b]
			if pc := uint64(x.program.Refs[i].PC); pc >= block.PC() && pc < block.End() {
				x.model.Access[i].Missed = shares
			}
		}
	}
}

// TestMissesOfChain: loads each of which waits for the one before take the latency of
// every miss in full.
func TestMissesOfChain(t *testing.T) {
	x := fixed(t)
	chase := x.routine(t, "chase")
	const share = 0.3
	x.miss(chase, share, share, share/3)
	times := x.execute(t, 0, synth.Misses)
	levels := x.config.Memory.Levels
	want := share*2/3*float64(levels[2].Latency-levels[0].Latency) + share/3*float64(x.config.Memory.Latency-levels[0].Latency)
	if got := x.per(chase, times[1]) - x.per(chase, times[0]); math.Abs(got/want-1) > 0.05 {
		t.Errorf("misses add %.2f cycles to each load of a chain, want %.2f", got, want)
	}
}

// TestWrongTransfers: as many transfers are mispredicted as the model says, and each
// costs the penalty at least.
func TestWrongTransfers(t *testing.T) {
	x := fixed(t)
	times := x.execute(t, 0, synth.Mispredictions)
	if times[0].Wrong != 0 {
		t.Errorf("%d transfers mispredicted where none should be", times[0].Wrong)
	}
	blocks, expected, cost := 0.0, 0.0, 0.0
	for r, routine := range x.structure.Graph.Routines {
		for e, share := range x.model.Wrong[r] {
			expected += share * x.f.Routines[r].Edges[e]
		}
		for b := range routine.Blocks {
			blocks += x.f.Routines[r].Blocks[b]
			cost += x.f.Routines[r].Blocks[b] * (times[1].Cycles[r][b] - times[0].Cycles[r][b])
		}
	}
	executed := uint64(0)
	for r := range times[1].Executed {
		for _, n := range times[1].Executed[r] {
			executed += n
		}
	}
	if got, want := float64(times[1].Wrong)/float64(executed), expected/blocks; math.Abs(got/want-1) > 0.1 || want == 0 {
		t.Errorf("%.4f of the transfers are mispredicted, want %.4f", got, want)
	}
	if each := cost / expected; each < float64(x.config.Branch.Penalty) {
		t.Errorf("a misprediction costs %.1f cycles, less than the penalty", each)
	}
}

// TestModelErrors: a model that is not of the program is refused.
func TestModelErrors(t *testing.T) {
	x := fixed(t)
	for name, change := range map[string]func(*synth.Model){
		"no accesses":     func(m *synth.Model) { m.Access = nil },
		"no frequencies":  func(m *synth.Model) { m.Frequencies = nil },
		"other branches":  func(m *synth.Model) { m.Wrong = m.Wrong[1:] },
		"too many levels": func(m *synth.Model) { m.Access = append([]synth.Access{{Missed: make([]float64, 9)}}, m.Access[1:]...) },
		"no such store": func(m *synth.Model) {
			m.Access = append([]synth.Access{{From: []synth.Source{{Store: 1 << 20}}}}, m.Access[1:]...)
		},
	} {
		m := *x.model
		change(&m)
		if _, err := x.program.Execute(t.Context(), &m, x.config, []synth.Causes{0}, synth.Options{}); err == nil {
			t.Errorf("%s, and no error", name)
		}
	}
}
