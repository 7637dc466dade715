package perf_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"presage/perf"
)

// TestMust ends a process by an error, and not without one.
func TestMust(t *testing.T) {
	if path := os.Getenv("PRESAGE_TEST_OPEN"); path != "" {
		perf.Must(perf.Open(path))
		os.Exit(7)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMust$")
	cmd.Env = append(os.Environ(), "PRESAGE_TEST_OPEN=/nonexistent/a.out")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 || strings.Count(string(out), "\n") != 1 || !strings.Contains(string(out), "a.out") {
		t.Errorf("%v, want status 1 and one line: %q", err, out)
	}
	if got := perf.Must(perf.FindMachine("zen4")); got.Name != "zen4" {
		t.Errorf("%q", got.Name)
	}
}
