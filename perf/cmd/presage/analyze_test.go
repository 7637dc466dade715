package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnalyze(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	summary := must(t, "analyze", program, "--format", "csv")
	for _, want := range []string{"quantity,value", "routines,", "references_in_loops_regular,", "edge_counters,"} {
		if !strings.Contains(summary, want) {
			t.Errorf("no %q in %s", want, summary)
		}
	}
	run := []string{"--run", "--args", "-n 6 -iterations 1", "-q", "--format", "csv"}
	for table, want := range map[string]string{
		"routines":   "routine,file,first_line,last_line,pc,size_bytes,instructions",
		"loops":      "loop,routine,depth,file",
		"references": "routine,loop,file,line,pc,kind,size_bytes,float,first,strides,irregular,indirect,strides_from,observed_stride_bytes,observed_share,stack,group,set,accesses\n",
		"groups":     "aggregation,references,groups",
		"mix":        "scope,class,group,size_bytes,instructions,executed_instructions,share",
		"edges":      "routine,loop,from_pc,to_pc",
	} {
		got := must(t, append([]string{"analyze", program, "--table", table, "--limit", "3"}, run...)...)
		if !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 4 {
			t.Errorf("--table %s: %s", table, got)
		}
	}
	seen := must(t, append([]string{"analyze", program, "--table", "references"}, run...)...)
	if want := "observed in the run of -n 6 -iterations 1, not derived"; !strings.Contains(seen, want) {
		t.Errorf("no stride was %s: %.2000s", want, seen)
	}
	refs := must(t, "analyze", program, "--table", "references", "--routine", "main.angularSource", "--format", "csv")
	if strings.Contains(refs, "observed") {
		t.Errorf("observed without a run: %s", refs)
	}
	if !strings.Contains(refs, "main.angularSource/loop@sweep.go:") || strings.Contains(refs, "main.solveLine") {
		t.Errorf("got %s", refs)
	}
}

func TestAnalyzeDraws(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	dir := t.TempDir()
	for name, begin := range map[string]string{"flow.svg": "<?xml", "flow.png": "\x89PNG"} {
		file := filepath.Join(dir, name)
		must(t, "analyze", program, "--routine", "main.solveLine", "--draw", file, "--limit", "1")
		if data, err := os.ReadFile(file); err != nil || !bytes.HasPrefix(data, []byte(begin)) {
			t.Errorf("%s: %.20q, %v", name, data, err)
		}
	}
}

func TestAnalyzeErrors(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	for _, c := range []struct{ args, want string }{
		{"--table edges", "give --run"},
		{"--table nothing", "want summary, routines"},
		{"--draw x.gif", ".svg or .png"},
		{"--routine main.nothing --table loops", "no routine main.nothing"},
		{"--table mix --by page", "instruction mix by"},
		{"--format xml", "want text, csv or json"},
		{"--limit -2", "want 0 for all"},
		{"--args x", "--args does nothing without --run"},
		{"--threads free", "--threads does nothing without --run"},
		{"--engine interp", "--engine does nothing without --run"},
		{"--cpu x86-64-v2", "--cpu does nothing without --run"},
		{"--memory 1048576", "--memory does nothing without --run"},
		{"--stack-bytes 65536", "--stack-bytes does nothing without --run"},
		{"--routine main.main", "--routine does nothing without --table loops, references or edges, or --draw"},
		{"--routine main.main --table mix", "--routine does nothing"},
		{"--stack --table loops", "--stack does nothing without --table references"},
		{"--by loop", "--by does nothing without --table mix"},
		{"--least 0.1 --table loops", "--least does nothing without --table edges"},
		{"--cold --draw x.svg", "--cold does nothing without --draw and --run"},
	} {
		args := append([]string{"analyze", program}, strings.Fields(c.args)...)
		if _, _, err := presage(t, args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.args, err, c.want)
		}
	}
}

func TestCheckStrides(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	out, errs, err := presage(t, "check-strides", "-q", "--min", "0.99", "--format", "csv", program, "-n", "6", "-iterations", "1")
	if err != nil || !strings.HasPrefix(out, "program,agree_share,regular_share,compared,disagree") || !strings.Contains(out, "\nsweep3d,") {
		t.Errorf("%v: %s%s", err, out, errs)
	}
	for _, c := range []struct{ args, want string }{
		{"--min 1.5 x", "want a share"},
		{"--worst -1 x", "want 0 for none"},
		{"--args x y", "come after its name"},
		{"--min 0.9 no-such-file", "no-such-file"},
	} {
		if _, _, err := presage(t, append([]string{"check-strides"}, strings.Fields(c.args)...)...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.args, err, c.want)
		}
	}
}

// TestCheckStridesBelowMinimum tests only the exit status: all programs of the
// repository agree.
func TestCheckStridesBelowMinimum(t *testing.T) {
	if status := exitStatus(statusDisagrees); !errors.As(belowMinimum(0.5, 0.99, new(bytes.Buffer)), &status) || status != 1 {
		t.Error("0.5 of at least 0.99 is no failure")
	}
	if err := belowMinimum(0.99, 0.99, new(bytes.Buffer)); err != nil {
		t.Error(err)
	}
}
