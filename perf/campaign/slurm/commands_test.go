package slurm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"presage/perf/campaign"
)

// commands puts scripts in the place of Slurm's commands.
func commands(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// TestFateOfLaggingAccounting: what accounting says of a task before it knows of its end
// is not how it ended; the controller knows.
func TestFateOfLaggingAccounting(t *testing.T) {
	p := place{"7", 1}
	for _, c := range []struct{ sacct, control, want string }{
		{"7_1|RUNNING|n2|0:0", "JobId=9 JobState=NODE_FAIL NodeList=n2 ExitCode=0:0", "NODE_FAIL on n2"},
		{"7_1|COMPLETED|n2|0:0", "JobId=9 JobState=RUNNING NodeList=n2", "COMPLETED on n2"},
		{"7_1|RUNNING|n2|0:0", "JobId=9 JobState=COMPLETING NodeList=n2 ExitCode=0:0", stateUnknown},
		{"", "JobId=9 JobState=FAILED NodeList=n1 ExitCode=0:9", "FAILED on n1, exit 0:9"},
	} {
		commands(t, map[string]string{"sacct": "echo '" + c.sacct + "'", "scontrol": "echo '" + c.control + "'"})
		if got := askFate(t.Context(), p).String(); got != c.want {
			t.Errorf("accounting %q, controller %q: %s, want %s", c.sacct, c.control, got, c.want)
		}
	}
}

// TestTasksThatDoNotEndAreToldOf: whoever stops a campaign learns that its tasks may go
// on, and what to do about them.
func TestTasksThatDoNotEndAreToldOf(t *testing.T) {
	const one = "echo '7|0|COMPLETING|1'"
	for name, c := range map[string]struct {
		squeue, scancel, want string
		cancelled             bool
	}{
		"they end":           {"", "", "", false},
		"they do not":        {one, "", "although they were to end: 1", false},
		"nobody waits":       {one, "", "although they were to end: 1", true},
		"no answer":          {"echo no contact >&2; exit 1", "", "no contact", false},
		"they are not ended": {one, "echo no rights >&2; exit 1", "no rights", false},
	} {
		commands(t, map[string]string{"squeue": c.squeue, "scancel": c.scancel})
		x := &execution{Executor: &Executor{Poll: 10 * time.Millisecond}, campaign: &campaign.Campaign{ID: "abc"}, patience: 300 * time.Millisecond}
		ctx, cancel := context.WithCancel(t.Context())
		if c.cancelled {
			cancel()
			x.patience = time.Hour // the test would not end
		}
		err := x.stopAll(ctx, campaign.ErrFull)
		cancel()
		if !errors.Is(err, campaign.ErrFull) {
			t.Errorf("%s: %v", name, err)
		}
		if c.want == "" && err != campaign.ErrFull || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if c.want != "" && !strings.Contains(err.Error(), "presage campaign cancel abc") {
			t.Errorf("%s: %v: no remedy", name, err)
		}
	}
}
