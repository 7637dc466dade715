package replayed

import (
	"math"
	"testing"

	"presage/perf/cache"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/trace"
)

// TestContinued tests what models say against what the start of a run had: of 100000 accesses
// it has 30000, and models say that of all 1000 are first uses.
func TestContinued(t *testing.T) {
	type half struct{ missed, cold, full uint64 } // in the first half of the start, and in all
	level := func(first, all half) begun {
		return begun{
			Half: []uint64{first.missed}, Misses: []uint64{all.missed}, HalfCold: []uint64{first.cold}, Cold: []uint64{all.cold},
			HalfFull: []uint64{first.full}, Full: []uint64{all.full},
		}
	}
	for _, c := range []struct {
		why        string
		first, all half
		sets       uint64
		reuse      float64 // that misses, by the model
		want       float64 // of all misses; 0: it stays
	}{
		{"no conflicts", half{1500, 300, 1500}, half{2700, 300, 2700}, 64, 9000, 0},
		{"a tenth of what hits conflicts", half{2850, 300, 1500}, half{5550, 300, 2850}, 64, 9000, 10000 + 90000*1350.0/13650},
		{"evenly filled sets are another matter", half{700, 300, 1500}, half{1400, 300, 2700}, 64, 5000, 0},
		{"a sixth of what hits conflicts, and most is new", half{300, 300, 300}, half{14300, 14100, 14100}, 64, 9000, 10000 + 90000*200.0/1200},
		{"all of it conflicts", half{15000, 300, 300}, half{30000, 300, 300}, 64, 9000, 100000},
		{"models say far more of the rest", half{1500, 300, 1500}, half{2700, 300, 2700}, 1, 39000, 1000 + 2400 + 70000*0.08},
		{"the same where there are sets", half{1500, 300, 1500}, half{2700, 300, 2700}, 64, 39000, 0},
		{"few conflicts", half{1800, 300, 1500}, half{3400, 300, 2850}, 64, 9000, 0},
		{"and it rises", half{900, 300, 900}, half{3000, 300, 3000}, 1, 39000, 0},
		{"what was new is used again", half{1500, 1500, 1500}, half{3000, 1500, 3000}, 1, 39000, 1000 + 1500 + 70000*0.1},
		{"models say a third more", half{1500, 300, 1500}, half{2700, 300, 2700}, 1, 10600, 0},
		{"models say less of the rest", half{1500, 300, 1500}, half{2700, 300, 2700}, 1, 3000, 0},
		{"models say less than it had", half{1500, 300, 1500}, half{2700, 300, 2700}, 1, 1500, 1000 + 2400 + 70000*0.08},
		{"all first uses", half{1500, 1500, 1500}, half{3000, 3000, 3000}, 1, 0, 0},
		{"hardly any misses", half{30, 10, 30}, half{60, 20, 60}, 1, 39900, 1000 + 40 + 70000*20.0/15000},
	} {
		c1 := &Corrector{groups: [][]trace.GroupID{{0}}}
		r := &replayedPoint{Begun: &beginning{
			Half: []uint64{15000}, Accesses: []uint64{30000}, Levels: map[string]begun{"L": level(c.first, c.all)},
		}}
		model := predict.Misses{Accesses: 100000, Cold: 1000, Reuse: c.reuse}
		of := misses.Uncorrected{Level: predict.Level{Name: "L", Sets: c.sets}, Groups: []predict.Misses{model}}
		out := make([]misses.GroupCorrection, 1)
		c1.continued(r, of, out)
		got := out[0]
		if c.want == 0 && got.Method != "" || c.want > 0 && (got.Method != MethodStart || math.Abs(got.Misses.Total()-c.want) > 1e-9*c.want) {
			t.Errorf("%s: %+v, want %g", c.why, got, c.want)
		}
		if total := got.Misses.Total(); got.Method != "" && (total > got.Misses.Accesses || total*(1-got.Off) > model.Total()+1e-6 || total*(1+got.Off) < model.Total()-1e-6) {
			t.Errorf("%s: an interval of %g around %g, without the models' %g", c.why, got.Off, total, model.Total())
		}
	}
}

// TestContinuedTogether: what models give one group of two, and the start shows of the other, is
// no contradiction; nor is what the start has too little of, or what is corrected.
func TestContinuedTogether(t *testing.T) {
	c := &Corrector{groups: [][]trace.GroupID{{0}, {1}, {2}, {3}}}
	misses1 := func(of ...uint64) begun {
		half := make([]uint64, len(of))
		for i := range of {
			half[i] = of[i] / 2
		}
		none := make([]uint64, len(of))
		return begun{Half: half, Misses: of, HalfCold: none, Cold: none, HalfFull: half, Full: of}
	}
	r := &replayedPoint{Begun: &beginning{
		Half: []uint64{15000, 15000, 4000, 15000}, Accesses: []uint64{30000, 30000, 8000, 30000},
		Levels: map[string]begun{"TLB": misses1(3000, 0, 10, 10)},
	}}
	corrected := misses.GroupCorrection{Method: Method, Misses: predict.Misses{Accesses: 100000, Reuse: 90000}}
	of := misses.Uncorrected{Level: predict.Level{Name: "TLB", Sets: 1}, Groups: []predict.Misses{
		{Accesses: 100000}, {Accesses: 100000, Reuse: 10000}, {Accesses: 100000, Reuse: 90000}, {Accesses: 100000, Reuse: 90000},
	}}
	out := []misses.GroupCorrection{{}, {}, {}, corrected}
	c.continued(r, of, out)
	for i, g := range out {
		if i < 3 && g.Method != "" || i == 3 && g != corrected {
			t.Errorf("group %d: %+v", i, g)
		}
	}
	of.Groups[1].Reuse = 40000
	past := &Corrector{groups: c.groups, config: cache.Config{Levels: []cache.Level{{Name: "L1", BypassFloat: true}}}}
	if past.continued(r, of, out); out[1].Method != "" {
		t.Errorf("where floats pass the first level: %+v", out[1])
	}
	without := &Corrector{groups: c.groups, opt: Options{WithoutStart: true}}
	if without.continued(r, of, out); out[1].Method != "" {
		t.Errorf("without the start: %+v", out[1])
	}
	c.continued(r, of, out)
	if out[0].Misses.Reuse != 10000 || out[1].Misses.Reuse != 0 || out[1].Method != MethodStart || !out[1].Modelled || out[2].Method != "" {
		t.Errorf("of four times as many as the start shows: %+v", out)
	}
}

// TestBeginner tests that the misses of the first half and of all are those of a simulator.
func TestBeginner(t *testing.T) {
	plan := &trace.Plan{Refs: []trace.Ref{{Size: 8}}}
	config := cache.Config{Levels: []cache.Level{{Name: "L1", BlockBytes: 64, Blocks: 64, Ways: 1}}}
	sim, err := cache.New(plan, config)
	if err != nil {
		t.Fatal(err)
	}
	b, err := newBeginner(plan, config, sim)
	if err != nil {
		t.Fatal(err)
	}
	if b.end() != nil {
		t.Error("something of nothing")
	}
	b.on = true
	const batches = 100
	sink := trace.NewDirect(sim, b)
	batch := sink.Exchange(nil)
	for range batches { // two blocks in turn that are in one set
		for i := range trace.BatchAccesses {
			batch.Accesses = append(batch.Accesses, trace.Tag(0, 8)|trace.Access(i%2*4096))
		}
		batch = sink.Exchange(batch)
	}
	all := b.end()
	const n = batches * trace.BatchAccesses
	l := all.Levels["L1"]
	if all.Accesses[0] != n || l.Misses[0] != n || l.Full[0] != 2 {
		t.Errorf("%+v", all)
	}
	if l.Half[0] != all.Half[0] || all.Half[0] < 0.4*n || all.Half[0] > 0.6*n {
		t.Errorf("%d misses of %d accesses in half of %d", l.Half[0], all.Half[0], n)
	}
}
