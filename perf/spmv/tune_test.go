package spmv

import (
	"context"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"presage/perf/cache"
)

// truth is a made-up law of performance and power that models can hold.
func truth(p Point, fill float64) Observation {
	h := &p.Hardware
	speed := 20 / fill * math.Sqrt(float64(p.Shape.R)) * math.Pow(float64(p.Shape.C), 0.2) * math.Pow(float64(h.LineBytes)/16, 0.3)
	if h.DataPolicy == cache.Random {
		speed *= 0.9
	}
	power := 0.1 * math.Pow(float64(h.DataBytes)/4096, 0.1) * math.Pow(float64(h.InstrBytes)/2048, 0.1)
	return Observation{p, fill, speed, power}
}

// fillOf is a made-up fill ratio, 1 for up to 4×2 and its multiples.
func fillOf(s Shape) float64 {
	up := func(n, b int) float64 { return math.Ceil(float64(n)/float64(b)) * float64(b) / float64(n) }
	ratio := 1.0
	if s.R > 4 {
		ratio *= up(s.R, 4)
	}
	if s.C > 2 {
		ratio *= up(s.C, 2)
	}
	return ratio
}

func lawModels(t *testing.T) *Models {
	t.Helper()
	var train []Observation
	for _, p := range Sample(400, 21) {
		train = append(train, truth(p, fillOf(p.Shape)))
	}
	specs, err := SearchSpecs(context.Background(), train, ModelOptions{Generations: 5})
	if err != nil {
		t.Fatal(err)
	}
	m, err := FitModels(train, specs)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The law is recovered from samples, on points that were not among them.
func TestModelsRecoverALaw(t *testing.T) {
	const goal = 0.01
	m := lawModels(t)
	var fresh []Observation
	for _, p := range Sample(100, 22) {
		fresh = append(fresh, truth(p, fillOf(p.Shape)))
	}
	predicted, err := m.Predict(fresh)
	if err != nil {
		t.Fatal(err)
	}
	var speed, power []float64
	for i := range fresh {
		speed = append(speed, math.Abs(predicted[i].Mflops/fresh[i].Mflops-1))
		power = append(power, math.Abs(predicted[i].Watts/fresh[i].Watts-1))
	}
	slices.Sort(speed)
	slices.Sort(power)
	if speed[50] > goal || power[50] > goal {
		t.Errorf("median errors %.3g and %.3g, want %g", speed[50], power[50], goal)
	}
}

// Searches by the model against the brute force of predicting one point after the
// other.
func TestSearches(t *testing.T) {
	ctx := context.Background()
	m := lawModels(t)
	tuner := &Tuner{Models: m, FillRatio: fillOf, From: Point{Shape{1, 1}, Baseline()}}
	predict := func(p Point) Observation {
		out, err := m.Predict([]Observation{{Point: p, FillRatio: fillOf(p.Shape)}})
		if err != nil {
			t.Fatal(err)
		}
		return out[0]
	}
	for _, objective := range []Objective{Fastest, Frugal} {
		tuner.Objective = objective
		for _, strategy := range []Strategy{Application, Architecture} {
			found, err := tuner.Exhaustive(ctx, strategy, 3)
			if err != nil {
				t.Fatal(err)
			}
			if len(found.Best) != 3 || objective.worth(&found.Best[0]) < objective.worth(&found.Best[1]) {
				t.Fatalf("%v %v: %v", objective, strategy, found.Best)
			}
			if got := predict(found.Best[0].Point); math.Abs(objective.worth(&got)/objective.worth(&found.Best[0])-1) > 1e-12 {
				t.Errorf("%v %v: predicted %v, alone %v", objective, strategy, found.Best[0], got)
			}
			if strategy == Application {
				for _, s := range Shapes() {
					if p := predict(Point{s, Baseline()}); objective.worth(&p) > objective.worth(&found.Best[0])*(1+1e-12) {
						t.Errorf("%v: %v is better than the best found, %v", objective, p, found.Best[0])
					}
				}
				if found.Evaluated != 64 {
					t.Errorf("%d points of 64", found.Evaluated)
				}
			}
			greedy, err := tuner.Greedy(ctx, strategy)
			if err != nil {
				t.Fatal(err)
			}
			end := greedy.Best[0]
			if objective.worth(&end) > objective.worth(&found.Best[0])*(1+1e-12) {
				t.Errorf("%v %v: greedy found %v, exhaustive search less: %v", objective, strategy, end, found.Best[0])
			}
			for _, p := range tuner.neighbourhood(end.Point, strategy) {
				if o := predict(p); objective.worth(&o) > objective.worth(&end)*(1+1e-12) {
					t.Errorf("%v %v: greedy stopped at %v, beside %v", objective, strategy, end, o)
				}
			}
			switch strategy {
			case Application:
				if end.Point.Hardware != Baseline() {
					t.Errorf("tuning the application changed the caches: %v", end.Point)
				}
			case Architecture:
				if end.Point.Shape != (Shape{1, 1}) {
					t.Errorf("tuning the caches changed the block size: %v", end.Point)
				}
			}
		}
	}
	// The law's best: long lines, and no random replacement.
	tuner.Objective = Fastest
	found, err := tuner.Exhaustive(ctx, Coordinated, 1)
	if err != nil {
		t.Fatal(err)
	}
	if found.Evaluated != 64*336 {
		t.Errorf("%d points, want 64 shapes times 336 data caches", found.Evaluated)
	}
	best := found.Best[0].Point
	want := 0.0
	for _, s := range Shapes() {
		h := Baseline()
		h.LineBytes = 128
		o := truth(Point{s, h}, fillOf(s))
		want = max(want, o.Mflops)
	}
	if got := truth(best, fillOf(best.Shape)).Mflops; got < 0.95*want || best.Hardware.LineBytes != 128 {
		t.Errorf("coordinated: %v of %g, the law's best is %g", best, got, want)
	}
}

func TestTimeIsOfAllShapes(t *testing.T) {
	m := figure11(t)
	passes := 0
	timed, err := Time(context.Background(), m, TimeOptions{Passes: 2, Repeats: 1, Least: 20 * time.Microsecond, Progress: func(int, Shape) { passes++ }})
	if err != nil {
		t.Fatal(err)
	}
	if passes != 128 || len(timed) != 64 {
		t.Fatalf("%d timings of %d shapes, want 128 of 64", passes, len(timed))
	}
	for i, s := range Shapes() {
		if timed[i].Shape != s || !(timed[i].Seconds > 0) || timed[i].Spread < 0 {
			t.Errorf("%v: %+v", s, timed[i])
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Time(ctx, m, TimeOptions{}); err == nil {
		t.Error("goes on when cancelled")
	}
	if _, err := Time(context.Background(), m, TimeOptions{Passes: -1}); err == nil {
		t.Error("-1 passes are accepted")
	}
}

// TestDenseBlocks: the dense matrix that is timed is stored as Block stores one.
func TestDenseBlocks(t *testing.T) {
	const n = 1680 / 2 // as divisible
	m := &Matrix{Rows: n, Cols: n, Start: make([]int, n+1), Column: make([]int32, n*n), Value: make([]float64, n*n)}
	value := make([]float64, n*n)
	for i := range n * n {
		m.Start[i/n+1], m.Column[i], m.Value[i], value[i] = i+1, int32(i%n), 1, 1
	}
	for _, s := range []Shape{{1, 1}, {2, 3}, {8, 7}, {5, 8}} {
		want, err := Block(m, s)
		if err != nil {
			t.Fatal(err)
		}
		if got := dense(n, s, value); !reflect.DeepEqual(got, want) {
			t.Errorf("%v: stored otherwise than Block does", s)
		}
	}
}
