package main

import (
	"strings"
	"testing"
)

// TestTrainPredict trains at toy sizes, and predicts from the folder.
func TestTrainPredict(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	dir := t.TempDir()
	args := []string{"train", program, "--until", "n=11", "--from", "n=6", "--args", "-n {n} -iterations {k}", "--fix", "k=1", "--block", "32,128,32768", "--budget", "15m", "-o", dir, "-q"}
	out, said, err := presage(t, append(args, "--format", "csv")...)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out, "program,k,n,run,reason,outcome,accesses,time_sec,spent_sec,rel_err_p90,") || !strings.Contains(out, "\nsweep3d,1,6,exact,to begin,fitted,") {
		t.Errorf("got %s", out)
	}
	if !strings.Contains(said, " held out") && !strings.Contains(said, "too few misses") {
		t.Errorf("does not say how it ended: %s", said)
	}
	if again := must(t, append(args, "--format", "csv")...); again != out {
		t.Errorf("again\n%s\nfirst\n%s", again, out)
	}
	if held := must(t, append(args, "--held-out", "--format", "csv")...); strings.Count(held, "\n") != 5 || !strings.Contains(held, ",32768,") {
		t.Errorf("got %s", held)
	}
	if pred := must(t, "predict", dir, "--machine", "origin2000", "--at", "n=16", "--at", "k=1", "--format", "csv"); !strings.Contains(pred, "L2") {
		t.Errorf("got %s", pred)
	}
}

func TestTrainErrors(t *testing.T) {
	t.Setenv("PRESAGE_STORE", t.TempDir())
	dir := t.TempDir()
	for _, c := range []struct{ args, want string }{
		{"train nowhere --until n=50 -o " + dir, "no such file"},
		{"train --until n=50 -o " + dir, "no program"},
		{"train " + program + " -o " + dir, `required flag(s) "until"`},
		{"train " + program + " --until n=50,60 -o " + dir, "want one name=value"},
		{"train " + program + " --until n=50 --from m=5 -o " + dir, "want one n=value"},
		{"train " + program + " --until n=50 --fix m=5,6 -o " + dir, "one value for each parameter"},
		{"train " + program + " --until n=5 -o " + dir, "5 sizes beyond it"},
		{"train " + program + " --until n=50 --budget -3s -q -o " + dir, "a budget of -3s"},
		{"train " + program + " --until n=50 --args -x -q -o " + dir, "no place for parameter n"},
		{"train " + program + " --point n=5:x --until n=50 -q -o " + dir, "give no other"},
	} {
		if _, _, err := presage(t, strings.Fields(c.args)...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.args, err, c.want)
		}
	}
}
