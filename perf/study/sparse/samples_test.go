package sparse

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"presage/perf/spmv"
	"presage/perf/store"
)

// randomMatrix is a small matrix with irregular rows.
func randomMatrix(t *testing.T, seed uint64) *spmv.Matrix {
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

// TestSamplesComeBack fits models to samples, and to the same samples read from
// files: the predictions are the same to the last bit.
func TestSamplesComeBack(t *testing.T) {
	m := randomMatrix(t, 11)
	st := store.Open(t.TempDir())
	study := Options{Train: 120, Validate: 10, Store: st, Parts: []Part{SamplesPart}}
	found, err := study.Run(context.Background(), []*spmv.Matrix{m})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := found.Record(dir, "invented"); err != nil {
		t.Fatal(err)
	}
	read, err := Load(dir, SamplesPart)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(read.Samples, found.Samples) {
		t.Error("samples come back otherwise")
	}
	opt := FitOptions{ModelOptions: spmv.ModelOptions{Generations: 3}, Store: st}
	predict := func(samples []Sample) []Prediction {
		t.Helper()
		model, err := Fit(context.Background(), samples, opt)
		if err != nil {
			t.Fatal(err)
		}
		best, err := model.BestShapes()
		if err != nil {
			t.Fatal(err)
		}
		if ratio := best[0].Ratio; ratio > 1 || ratio < 0.5 {
			t.Errorf("the best block size by the model has %g of the best's speed", ratio)
		}
		predictions, err := model.Predictions()
		if err != nil {
			t.Fatal(err)
		}
		return predictions
	}
	predictions := predict(found.Samples)
	if !slices.Equal(predictions, predict(read.Samples)) {
		t.Error("models of samples and of the same samples read from a file differ")
	}
	shapes, err := Topology(predictions, m.Name)
	if err != nil || len(shapes) != 64 || shapes[0].Speedup != 1 || shapes[0].PredSpeedup != 1 || shapes[9].Speedup != shapes[9].Mflops/shapes[0].Mflops {
		t.Errorf("topology: %d block sizes, error %v", len(shapes), err)
	}
	if _, err := Topology(predictions, "x"); err == nil {
		t.Error("a matrix without predictions has a topology")
	}
	for want, alter := range map[string]func(s *Sample){
		`row 3: replacement: "psychic"`: func(s *Sample) { s.InstrPolicy = "psychic" },
		"row 3: ":                       func(s *Sample) { s.DataWays = 3 },
		"no samples of the role":        func(s *Sample) { s.Matrix = "alone"; s.Role = Validate },
	} {
		bad := slices.Clone(found.Samples)
		alter(&bad[2])
		if _, err := Fit(context.Background(), bad, opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
}

// TestAccuracy, by hand: two matrices, one role.
func TestAccuracy(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the packages below have tests of their own goroutines")
	}
	of := func(matrix, role string, mflops, watts float64) Prediction {
		return Prediction{Sample: Sample{Matrix: matrix, Role: role}, MflopsError: mflops, WattsError: watts}
	}
	got := Accuracy([]Prediction{
		of("m", Validate, -0.25, 0.5), of("m", Train, 9, 9), of("n", Validate, 0.5, -1), of("m", Validate, 0.75, 0.5), of("m", Baseline, 9, 9),
	}, Validate)
	want := []AccuracyRow{{"m", 2, 0.5, 0.7, 0.5, 0.5}, {"n", 1, 0.5, 0.5, 1, 1}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
