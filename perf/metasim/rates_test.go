package metasim_test

import (
	"math"
	"strings"
	"testing"

	"presage/perf/bbv"
	"presage/perf/machine"
	"presage/perf/metasim"
	"presage/perf/predict"
	"presage/perf/simpoint"
	"presage/perf/trace"
)

// example returns a program of four blocks: one without references, one seen in
// both stretches, one only in the second, and one in neither.
func example() (*metasim.Code, *metasim.Simulation, []uint64) {
	code := &metasim.Code{Blocks: []metasim.Block{{Instructions: 3}, {Instructions: 10, Refs: 2}, {Instructions: 4, Refs: 4}, {Instructions: 5, Refs: 1}}}
	s := &metasim.Simulation{
		Levels: []string{"L1", "L2"},
		Stretches: []metasim.StretchResult{
			{
				Stretch: metasim.Stretch{Window: trace.Window{From: 0, To: 100}, Weight: 0.75}, Instructions: 100,
				Blocks: []metasim.Counts{{Block: 1, Accesses: 100, Misses: []uint64{20, 10}}},
			},
			{
				Stretch: metasim.Stretch{Window: trace.Window{From: 500, To: 700}, Weight: 0.25}, Instructions: 200,
				Blocks: []metasim.Counts{{Block: 1, Accesses: 10, Misses: []uint64{6, 0}}, {Block: 2, Accesses: 40, Misses: []uint64{8, 8}}},
			},
		},
	}
	return code, s, []uint64{7, 30, 5, 20}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-12*math.Max(1, math.Abs(want)) {
		t.Errorf("%s: %.15g, want %.15g", what, got, want)
	}
}

// TestEquation4 checks equation (4) on an example worked by hand.
func TestEquation4(t *testing.T) {
	code, s, _ := example()
	r := metasim.RatesOf(code, s)
	near(t, "block 1, L1", r.Hit[0][1], 0.75*0.8+0.25*0.4)
	near(t, "block 1, L2", r.Hit[1][1], 0.75*0.9+0.25*1)
	near(t, "block 2, L1", r.Hit[0][2], 0.8) // of the stretch that has it
	near(t, "block 3, unseen", r.Hit[0][3], 1)
	for l, seen := range r.Seen {
		if seen[0] || !seen[1] || !seen[2] || seen[3] {
			t.Errorf("level %d, seen: %v", l, seen)
		}
	}
	// By accesses: 0.75·100/100 and 0.25·10/200 of each instruction.
	s.Sample.Combine = metasim.ByAccess
	r = metasim.RatesOf(code, s)
	near(t, "block 1, L1, by access", r.Hit[0][1], 1-(0.75*0.2+0.25*0.03)/(0.75+0.25*0.05))
	near(t, "block 2, L1, by access", r.Hit[0][2], 0.8)
}

func TestProgramRates(t *testing.T) {
	code, s, executions := example()
	r := metasim.RatesOf(code, s)
	list, err := r.Program(code, executions)
	if err != nil {
		t.Fatal(err)
	}
	// Accesses of the run: 60, 20 and 20.
	p := list[0]
	near(t, "L1", p.Hit, (60*0.7+20*0.8+20)/100)
	near(t, "L1, unseen missing", p.Lo, (60*0.7+20*0.8)/100)
	near(t, "L1, unseen hitting", p.Hi, p.Hit)
	near(t, "L1, unseen like the rest", p.Like, (60*0.7+20*0.8)/80)
	near(t, "unseen", p.Unseen, 0.2)
	near(t, "by executions", p.ByExecutions, (30*0.7+5*0.8+20)/55)
	near(t, "L2", list[1].Hit, (60*0.925+20*0.8+20)/100)
	if _, err := r.Program(code, executions[1:]); err == nil {
		t.Error("executions of other code: no error")
	}
	nothing, err := r.Program(code, make([]uint64, 4))
	if err != nil || nothing[0].Hit != 1 || nothing[0].Unseen != 0 {
		t.Errorf("nothing executed: %+v, %v", nothing, err)
	}
}

// TestConvolve checks a convolution worked by hand.
func TestConvolve(t *testing.T) {
	code, s, executions := example()
	p := &metasim.MachineProfile{
		Name: "m", Hertz: 100, Instruction: 0.5, Access: 1.5,
		Penalties: []predict.Penalty{{Level: "L2", Latency: 100, Share: 0.5}, {Level: "L1", Latency: 10, Share: 1}},
	}
	got, err := metasim.Convolve(&metasim.Signature{Code: code, Executions: executions, Rates: metasim.RatesOf(code, s)}, p)
	if err != nil {
		t.Fatal(err)
	}
	// Blocks: 7·1.5; 30·5 (not 30·3); 5·6 (not 5·2); 20·2.5 (not 20·1.5).
	near(t, "work", got.Work, 10.5+150+30+50)
	near(t, "L1", got.Waits[0], 10*(60*0.3+20*0.2))
	near(t, "L2", got.Waits[1], 50*(60*0.075+20*0.2))
	near(t, "block 1", got.Blocks[1], 150+10*60*0.3+50*60*0.075)
	near(t, "cycles", got.Cycles, got.Work+got.Waits[0]+got.Waits[1])
	near(t, "seconds", got.Seconds, got.Cycles/100)
	var sum float64
	for _, c := range got.Blocks {
		sum += c
	}
	near(t, "all blocks", sum, got.Cycles)
	if len(got.Warnings) != 0 {
		t.Errorf("warnings %v", got.Warnings)
	}
	scheduled := &metasim.Signature{Code: code, Executions: executions, Rates: metasim.RatesOf(code, s), Cycles: []float64{2, 7, 1, 0}}
	if got, err = metasim.Convolve(scheduled, p); err != nil {
		t.Fatal(err)
	}
	near(t, "work as scheduled", got.Work, 7*2+30*7+5)
	scheduled.Cycles = scheduled.Cycles[1:]
	if _, err := metasim.Convolve(scheduled, p); err == nil {
		t.Error("cycles of other blocks: no error")
	}
	p.Penalties = p.Penalties[:1]
	got, err = metasim.Convolve(&metasim.Signature{Code: code, Executions: executions, Rates: metasim.RatesOf(code, s)}, p)
	if err != nil || got.Waits[0] != 0 || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Error(), "L1") {
		t.Errorf("a level without a cost: %+v, %v", got, err)
	}
}

// TestConvolveOverlapped checks that with a reach, misses overlap with one another
// and with the work. One block is executed 100 times, with 10 instructions in 5
// cycles and 2 references, all of which miss in L1 and half of those in L2. 25
// instructions hide 12.5 cycles; within that reach 5 misses go to L2, of which 4
// can be in flight, and 2.5 to memory.
func TestConvolveOverlapped(t *testing.T) {
	code := &metasim.Code{Blocks: []metasim.Block{{Instructions: 10, Refs: 2}}}
	p := &metasim.MachineProfile{
		Instruction: 0.5, Access: 1.5, Reach: 25, Outstanding: 4,
		Penalties: []predict.Penalty{{Level: "L1", Latency: 20, Share: 1}, {Level: "L2", Latency: 100, Share: 1}},
	}
	rates := &metasim.Rates{Levels: []string{"L1", "L2"}, Hit: [][]float64{{0}, {0.5}}}
	got, err := metasim.Convolve(&metasim.Signature{Code: code, Executions: []uint64{100}, Rates: rates}, p)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "work", got.Work, 500)
	near(t, "L1", got.Waits[0], 100*(20-12.5)/4)
	near(t, "L2", got.Waits[1], 100*(120-12.5)/2.5)
	near(t, "cycles", got.Cycles, 500+187.5+4300)
}

// TestProfileOf checks the costs of the Origin 2000 against the formula of the 2004
// paper (section 3.2): half of 8 cycles, 81, 78.
func TestProfileOf(t *testing.T) {
	m, err := machine.Load("../../machines/origin2000.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := metasim.ProfileOf(m)
	want := map[string]float64{"L1": 4, "L2": 81, "TLB": 78}
	for _, c := range p.Penalties {
		near(t, c.Level, c.Latency*c.Share, want[c.Level])
		delete(want, c.Level)
	}
	near(t, "instruction", p.Instruction, 0.25)
	near(t, "access", p.Access, 1)
	if p.Hertz != 300e6 || p.Reach != 48 || p.Outstanding != 4 || len(want) != 0 || len(p.Warnings) != 0 {
		t.Errorf("%+v", p)
	}
	if p := metasim.ProfileOf(&machine.Machine{Name: "empty"}); len(p.Warnings) != 3 || p.Instruction != 1 || p.Access != 1 {
		t.Errorf("%+v", p)
	}
}

// TestGuided checks that points become stretches in chronological order.
func TestGuided(t *testing.T) {
	v := &bbv.Vectors{
		Starts: []uint64{0, 101, 199}, Lengths: []uint64{101, 98, 50}, First: []int{0, 1, 2, 3},
		Blocks: []uint32{0, 0, 1}, Instructions: []uint64{101, 98, 50},
	}
	s, err := metasim.Guided(v, []simpoint.Point{{Interval: 2, Weight: 0.2}, {Interval: 0, Weight: 0.8}})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Stretches) != 2 || s.Stretches[0] != (metasim.Stretch{Window: trace.Window{From: 0, To: 101}, Weight: 0.8}) ||
		s.Stretches[1] != (metasim.Stretch{Window: trace.Window{From: 199, To: 249}, Weight: 0.2}) || instructionsOf(s) != 151 {
		t.Errorf("%+v", s)
	}
	for _, points := range [][]simpoint.Point{nil, {{Interval: 3}}, {{Interval: -1}}, {{Interval: 1}, {Interval: 1}}} {
		if _, err := metasim.Guided(v, points); err == nil {
			t.Errorf("points %v: no error", points)
		}
	}
}

// TestSelect checks that selecting a sample from a larger simulation gives the same
// result as simulating the sample alone.
func TestSelect(t *testing.T) {
	code := &metasim.Code{Blocks: make([]metasim.Block, 1)}
	window := func(i int) trace.Window { return trace.Window{From: uint64(10 * i), To: uint64(10*i + 10)} }
	one := metasim.Sample{Name: "one", Stretches: []metasim.Stretch{{Window: window(3), Weight: 1}}}
	two := metasim.Sample{Name: "two", Stretches: []metasim.Stretch{{Window: window(1), Weight: 0.25}, {Window: window(3), Weight: 0.75}}}
	u, err := metasim.Union("both", one, two)
	if err != nil || len(u.Stretches) != 2 || u.Stretches[0].Window != window(1) || u.Stretches[1].Window != window(3) {
		t.Fatalf("%+v, %v", u, err)
	}
	all := &metasim.Simulation{Sample: u, Levels: []string{"L1"}, Simulated: 20}
	for i, misses := range []uint64{1, 4} {
		all.Stretches = append(all.Stretches, metasim.StretchResult{
			Stretch: u.Stretches[i], Instructions: 10, Blocks: []metasim.Counts{{Block: 0, Accesses: 8, Misses: []uint64{misses}}},
		})
	}
	for _, c := range []struct {
		sample    metasim.Sample
		hit       float64
		simulated uint64
	}{{one, 1 - 4./8, 10}, {two, 1 - (0.25*1./8 + 0.75*4./8), 20}} {
		part, err := all.Select(c.sample)
		if err != nil {
			t.Fatal(err)
		}
		if hit := metasim.RatesOf(code, part).Hit[0][0]; hit != c.hit || part.Simulated != c.simulated {
			t.Errorf("%s: hit rate %g of %d instructions, want %g of %d", c.sample.Name, hit, part.Simulated, c.hit, c.simulated)
		}
	}
	other := metasim.Sample{Name: "other", Stretches: []metasim.Stretch{{Window: window(2), Weight: 1}}}
	if _, err := all.Select(other); err == nil {
		t.Error("a stretch that was not simulated: no error")
	}
	// Union rejects overlapping stretches.
	other.Stretches[0].Window = trace.Window{From: 15, To: 25}
	if _, err := metasim.Union("mixed", two, other); err == nil {
		t.Error("stretches that overlap: no error")
	}
	if got := two.Warming(metasim.SimulateOptions{WarmLength: 5}); got != 10 {
		t.Errorf("%d instructions to warm up, want 10", got)
	}
	if got := two.Warming(metasim.SimulateOptions{WarmLength: 50}); got != 20 { // up to the stretch before
		t.Errorf("%d instructions to warm up, want 20", got)
	}
}

// instructionsOf returns how many instructions the stretches of a sample hold.
func instructionsOf(s metasim.Sample) (sum uint64) {
	for _, p := range s.Stretches {
		sum += p.To - p.From
	}
	return sum
}
