package inferred

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/infer"
	"presage/perf/internal/oracle"
	"presage/perf/store"
	"presage/perf/subject"
)

// recorded is the folder of the recorded campaign.
var recorded = filepath.Join(datasets, "inferred")

// TestModelIsTheRecordedOne: the model that is fitted to recorded profiles makes the
// recorded predictions.
func TestModelIsTheRecordedOne(t *testing.T) {
	m, err := LoadModel(recorded)
	if err != nil {
		t.Fatal(err)
	}
	p, err := LoadProfiles(recorded)
	if err != nil {
		t.Fatal(err)
	}
	found, err := Load(filepath.Join(recorded, string(LimitSet)))
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[shardKey]map[int]float64)
	for _, r := range found.Predictions {
		if r.Scenario == Interpolation && r.Shard >= 0 {
			key := shardKey{r.Variant, r.Shard}
			if want[key] == nil {
				want[key] = make(map[int]float64)
			}
			want[key][r.Architecture] = r.Predicted
		}
	}
	r, err := Options{}.runner(p)
	if err != nil {
		t.Fatal(err)
	}
	judging := r.choose(r.known, Check)
	predicted, err := m.Predict(p.Table(judging, LimitSet))
	if err != nil {
		t.Fatal(err)
	}
	if len(judging) < 500 {
		t.Fatalf("%d profiles judge", len(judging))
	}
	for i, q := range judging {
		if w := want[shardKey{q.Variant, q.Shard}][q.Architecture]; math.Abs(predicted[i]-w) > 1e-9*w {
			t.Fatalf("%+v: %g predicted, %g recorded", q, predicted[i], w)
		}
	}
}

// TestPredictCPI predicts a program that no model is fitted to: parts add up,
// predictions come near simulations, and an architecture is predicted the same
// alone, from the store.
func TestPredictCPI(t *testing.T) {
	oracle.Need(t, "riscv64-linux-gnu-gcc")
	st := store.Open(t.TempDir())
	prog, err := Subject{Application: "cg", Level: O3, Folder: "cg-c"}.Build(context.Background(), filepath.Join(datasets, "programs"), st)
	if err != nil {
		t.Fatal(err)
	}
	m, err := LoadModel(recorded)
	if err != nil {
		t.Fatal(err)
	}
	architectures := []infer.Architecture{
		{1, 64, 1, 1, 16, 16, 256, 14, 1, 1, 1, 1, 1},
		{4, 128, 4, 4, 64, 64, 1024, 10, 3, 2, 2, 2, 2},
		{8, 224, 8, 8, 128, 128, 4096, 6, 4, 2, 3, 2, 4},
	}
	opt := PredictCPIOptions{RunOptions: subject.RunOptions{Args: "-n 20 -iterations 4", Store: st}, Length: 200_000, Shards: 3, Simulate: true}
	found, err := PredictCPI(context.Background(), prog, m, architectures, opt)
	if err != nil {
		t.Fatal(err)
	}
	rows := found.Rows
	if len(rows) != 3 {
		t.Fatalf("%d rows, warnings %v", len(rows), found.Warnings)
	}
	outside := 0
	for i, r := range rows {
		outside += r.Outside
		if sum := r.Core + r.Branch + r.L1I + r.L1D + r.L2; math.Abs(sum-r.Sum) > 1e-12 || r.Core < 1/r.Parameters["width_instructions"] {
			t.Errorf("row %d: parts add up to %g: %+v", i, sum, r)
		}
		if e := math.Abs(r.Predicted-r.Simulated) / r.Simulated; e > 0.35 {
			t.Errorf("row %d: predicted %g, simulated %g", i, r.Predicted, r.Simulated)
		}
		if i > 0 && r.Predicted >= rows[i-1].Predicted {
			t.Errorf("more of everything is not faster: %g after %g", r.Predicted, rows[i-1].Predicted)
		}
	}
	opt.Simulate = false
	if warned := strings.Contains(strings.Join(found.Warnings, "\n"), fmt.Sprintf("%d of 9 shards on architectures lie outside", outside)); warned != (outside > 0) {
		t.Errorf("%d shards outside, warnings %v", outside, found.Warnings)
	}
	again, err := PredictCPI(context.Background(), prog, m, architectures[1:2], opt)
	if err != nil || again.Rows[0].Predicted != rows[1].Predicted || again.Rows[0].Simulated != 0 {
		t.Errorf("alone: %+v, error %v", again, err)
	}
	for what, call := range map[string]func() error{
		"no architectures": func() error { _, err := PredictCPI(context.Background(), prog, m, nil, opt); return err },
		"architecture 0": func() error {
			_, err := PredictCPI(context.Background(), prog, m, []infer.Architecture{{3}}, opt)
			return err
		},
		"fewer": func() error {
			short := opt
			short.Shards = 1000
			_, err := PredictCPI(context.Background(), prog, m, architectures, short)
			return err
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: error %v", what, err)
		}
	}
}
