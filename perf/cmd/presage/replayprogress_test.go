package main

import (
	"strings"
	"testing"

	"presage/perf/progress"
)

func TestReplayProgress(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	reports := []progress.Report{
		{Task: "learning loops at n=24", Total: 2},
		{Task: "learning loops at n=32", Done: 1, Total: 2},
		{Task: "replaying n=400"},
		{Task: "replaying n=400", Share: 0.124},
		{Task: "replaying n=400", Share: 0.1241},
		{Done: 1, Total: 1},
		{Done: 1, Total: 1},
	}
	for _, c := range []struct {
		terminal bool
		want     string
	}{
		{false, "learning loops at n=24: 0% …\nlearning loops at n=32: 50% …\nreplaying n=400: 0% …\n"},
		{true, "\rlearning loops at n=24: 0% …\rlearning loops at n=32: 50% …\rreplaying n=400: 0% …        \rreplaying n=400: 12% …\r" + strings.Repeat(" ", 22) + "\r"},
	} {
		var out strings.Builder
		show := replayProgress(&out, c.terminal)
		for _, r := range reports {
			show(r)
		}
		if out.String() != c.want {
			t.Errorf("terminal %v: %q, want %q", c.terminal, out.String(), c.want)
		}
	}
}
