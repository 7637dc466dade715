package inferred

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/infer"
	"presage/perf/internal/oracle"
	"presage/perf/store"
	"presage/perf/subject"
)

var inferRecorded = filepath.Join("..", "..", "..", "datasets", "inferred")

// The model that is fitted to what is recorded predicts what is recorded.
func TestInferModelIsTheRecordedOne(t *testing.T) {
	m, err := LoadInferModel(inferRecorded)
	if err != nil {
		t.Fatal(err)
	}
	p, err := LoadInferProfiles(inferRecorded)
	if err != nil {
		t.Fatal(err)
	}
	found, err := LoadInferFindings(filepath.Join(inferRecorded, string(LimitSet)))
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
	r, err := Study{}.runner(p)
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

// A program that no model is made of: parts add up, predictions come near what is
// simulated, and a shard is the same alone and with others, from the store too.
func TestPredictCPI(t *testing.T) {
	oracle.Need(t, "riscv64-linux-gnu-gcc")
	st := store.Open(t.TempDir())
	prog, err := Subject{Application: "cg", Optimised: true, Folder: "cg-c"}.Build(t.Context(), filepath.Join("..", "..", "..", "datasets", "programs"), st)
	if err != nil {
		t.Fatal(err)
	}
	m, err := LoadInferModel(inferRecorded)
	if err != nil {
		t.Fatal(err)
	}
	architectures := []infer.Architecture{
		{1, 64, 1, 1, 16, 16, 256, 14, 1, 1, 1, 1, 1},
		{4, 128, 4, 4, 64, 64, 1024, 10, 3, 2, 2, 2, 2},
		{8, 224, 8, 8, 128, 128, 4096, 6, 4, 2, 3, 2, 4},
	}
	opt := PredictCPIOptions{RunOptions: subject.RunOptions{Args: "-n 20 -iterations 4", Store: st}, Length: 200_000, Shards: 3, Simulate: true}
	rows, warnings, err := PredictCPI(context.Background(), prog, m, architectures, opt)
	if err != nil || len(rows) != 3 {
		t.Fatalf("%d rows, warnings %v, error %v", len(rows), warnings, err)
	}
	for i, r := range rows {
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
	again, _, err := PredictCPI(context.Background(), prog, m, architectures[1:2], opt)
	if err != nil || again[0].Predicted != rows[1].Predicted || again[0].Simulated != 0 {
		t.Errorf("alone: %+v, error %v", again, err)
	}
	if names := CPIPredictionTable(again).Names(); names[len(names)-1] != "pred_cpi" {
		t.Errorf("columns %v", names)
	}
	if names := CPIPredictionTable(rows).Names(); names[len(names)-1] != "sim_cpi" {
		t.Errorf("columns %v", names)
	}
	for what, call := range map[string]func() error{
		"no architectures": func() error { _, _, err := PredictCPI(context.Background(), prog, m, nil, opt); return err },
		"architecture 0": func() error {
			_, _, err := PredictCPI(context.Background(), prog, m, []infer.Architecture{{3}}, opt)
			return err
		},
		"fewer": func() error {
			short := opt
			short.Shards = 1000
			_, _, err := PredictCPI(context.Background(), prog, m, architectures, short)
			return err
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: error %v", what, err)
		}
	}
}

func TestReadArchitectures(t *testing.T) {
	dir := t.TempDir()
	write := func(change func(text string) string) string {
		path := filepath.Join(dir, "cores.csv")
		text, err := os.ReadFile(filepath.Join(inferRecorded, "architectures.csv"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(change(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := write(func(s string) string { return s })
	list, err := ReadArchitectures(path)
	if err != nil || len(list) != 280 {
		t.Fatalf("%d architectures, error %v", len(list), err)
	}
	p, err := LoadInferProfiles(inferRecorded)
	if err != nil {
		t.Fatal(err)
	}
	for j, y := range infer.HardwareSpace() {
		if got, want := list[17][j], p.Hardware[17].Parameters[y.Name]; got != want {
			t.Errorf("%s is %g, want %g", y.Name, got, want)
		}
	}
	for what, change := range map[string]func(string) string{
		"mshrs":            func(s string) string { return strings.Replace(s, "mshrs", "registers", 1) },
		"row 1":            func(s string) string { return strings.Replace(s, "\n0,false,", "\n0,false,9", 1) },
		"no architectures": func(s string) string { return s[:strings.Index(s, "\n")+1] },
		"cores.csv":        func(s string) string { return s + "1,2\n" },
	} {
		if _, err := ReadArchitectures(write(change)); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: error %v", what, err)
		}
	}
	if _, err := ReadArchitectures(filepath.Join(dir, "none.csv")); err == nil {
		t.Error("a file that there is not, and no error")
	}
}
