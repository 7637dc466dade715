package timing

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"presage/perf/pipeline"
)

// TestWindows demands one interval in each part of the run, in order, another seed's
// elsewhere, and that what is recorded for them begins by lead and history before each.
func TestWindows(t *testing.T) {
	const n = 1_000_003
	s, err := Sampling{Intervals: 10, Length: 1000, Lead: 500, History: 20_000}.filled(n)
	if err != nil {
		t.Fatal(err)
	}
	all := s.windows(n)
	for i, w := range all {
		part := float64(n) / 10
		if from, to := float64(w.From), float64(w.To); from < math.Floor(part*float64(i)) || to > part*float64(i+1) || w.To-w.From != 1000 {
			t.Errorf("interval %d is %v, outside of its part", i, w)
		}
	}
	other := s
	other.Seed = 1
	same := 0
	for i, w := range other.windows(n) {
		if w == all[i] {
			same++
		}
	}
	if same > 1 {
		t.Errorf("%d of 10 intervals are at the same place with another seed", same)
	}
	recorded := s.recorded(all)
	for i, w := range recorded {
		if i > 0 && w.From <= recorded[i-1].To {
			t.Errorf("%v is recorded, which touches %v before it", w, recorded[i-1])
		}
	}
	for _, w := range all {
		need := pipeline.Window{From: w.From - min(w.From, 20_500), To: w.To}
		held := false
		for _, r := range recorded {
			held = held || r.From <= need.From && need.To <= r.To
		}
		if !held {
			t.Errorf("%v is not recorded, of %v", need, recorded)
		}
	}
	s.History = WholeHistory
	if r := s.recorded(all); len(r) != 1 || r[0].From != 0 || r[0].To != all[9].To {
		t.Errorf("with the whole history %v is recorded", r)
	}
}

func TestNoSuchSample(t *testing.T) {
	for want, s := range map[string]Sampling{
		"two or more": {Intervals: 1},
		"do not fit":  {Intervals: 100, Length: 20_000, Lead: 10},
		"before each": {Intervals: 2, Length: 100, Lead: 500_000},
	} {
		if _, err := s.filled(1_000_000); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
	if _, err := estimated(make([]pipeline.Piece, 1), 10); err == nil {
		t.Error("an estimate from one interval")
	}
}

// TestEstimate draws samples of a known run, whose cycles per instruction drift and
// scatter, and counts how often the run's are within the bounds.
func TestEstimate(t *testing.T) {
	const (
		parts, per = 40, 50 // intervals in a part
		length     = 1000
		samples    = 400
	)
	random := rand.New(rand.NewPCG(1, 2))
	run := make([]pipeline.Piece, parts*per)
	total := 0.0
	for i := range run {
		run[i].Instructions = length
		run[i].Cycles = uint64(length * (1 + float64(i)/float64(len(run)) + 0.4*random.Float64()))
		total += float64(run[i].Cycles)
	}
	inside, width, mean := 0, 0.0, 0.0
	for range samples {
		chosen := make([]pipeline.Piece, parts)
		for p := range chosen {
			chosen[p] = run[p*per+random.IntN(per)]
		}
		e, err := estimated(chosen, uint64(len(run)*length))
		if err != nil {
			t.Fatal(err)
		}
		if e.low <= total && total <= e.high {
			inside++
		}
		width += (e.high - e.low) / 2 / total / samples
		mean += e.cycles / samples
	}
	// 95% of 400 are 380, with a standard deviation of 4.4: four of them below.
	if inside < 362 || inside == samples {
		t.Errorf("the run is within the bounds of %d of %d samples", inside, samples)
	}
	// Scatter 0.4/√12 about a mean of 1.7 cycles, by √40 intervals and 2.05 for t.
	if want := 2.05 * 0.4 / math.Sqrt(12) / 1.7 / math.Sqrt(parts); math.Abs(width/want-1) > 0.1 {
		t.Errorf("bounds are at %.4f of the cycles, want %.4f: the drift is none of the scatter", width, want)
	}
	if math.Abs(mean/total-1) > 0.003 {
		t.Errorf("estimates are %g on average, the run takes %g", mean, total)
	}
	e, err := estimated(run, uint64(len(run)*length))
	if err != nil || e.cycles != total || e.low != total || e.high != total || e.share != 1 {
		t.Errorf("all of the run gives %+v, %v; it takes %g", e, err, total)
	}
	apart := slices.Clone(run[:2])
	apart[0].Cycles, apart[1].Cycles = 1, 99*length
	if e, err := estimated(apart, uint64(len(run)*length)); err != nil || e.low != 0 || e.high < e.cycles {
		t.Errorf("two intervals far apart: %+v, %v; no run takes less than no cycles", e, err)
	}
	if e, err := estimated(make([]pipeline.Piece, 3), 1000); err == nil {
		t.Errorf("intervals without an instruction: %+v", e)
	}
}
