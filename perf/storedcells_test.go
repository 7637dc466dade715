package perf_test

import (
	"os"
	"path/filepath"
	"testing"

	"presage/perf"
)

// TestStoredResultsNeedNoGraphs: a process that finds everything in the store predicts
// without the graphs of the program, whose instructions take longer to decode than all the
// rest. Graphs that are asked for and not there are made and kept again.
func TestStoredResultsNeedNoGraphs(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PRESAGE_STORE", dir)
	chain := func() string {
		prog, err := perf.Open(filepath.Join("..", "datasets", "quickstart", "matmul"))
		if err != nil {
			t.Fatal(err)
		}
		runs, err := perf.Profile(t.Context(), prog, perf.Sweep("n", 12, 16, 20, 24, 28), perf.ProfileOptions{RunOptions: perf.RunOptions{Args: "{n}"}})
		if err != nil {
			t.Fatal(err)
		}
		model, err := perf.FitScaling(t.Context(), runs, perf.FitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		on, err := perf.FindMachine("zen4")
		if err != nil {
			t.Fatal(err)
		}
		df, err := perf.PredictMisses(t.Context(), model, on, perf.Sweep("n", 40, 56), perf.PredictOptions{By: perf.ByRoutine})
		if err != nil {
			t.Fatal(err)
		}
		return df.String()
	}
	first := chain()
	graphs := filepath.Join(dir, "graphs")
	if _, err := os.Stat(graphs); err != nil {
		t.Fatalf("a first chain keeps no graphs: %v", err)
	}
	if err := os.RemoveAll(graphs); err != nil {
		t.Fatal(err)
	}
	if again := chain(); again != first {
		t.Errorf("predictions from the store differ:\n%s\n%s", first, again)
	}
	if _, err := os.Stat(graphs); err == nil {
		t.Error("predictions from the store asked for the graphs of the program")
	}
}
