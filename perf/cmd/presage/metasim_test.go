package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSimpointAndMetasim chooses points of a small run, simulates them from files,
// and records a study.
func TestSimpointAndMetasim(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	dir := t.TempDir()
	const program, power3 = "../../../datasets/programs/matmul", "../../../datasets/metasim/power3.yaml"
	run := []string{"--args", "-n 24 -repeat 3 -quiet", "-q", "--store", filepath.Join(dir, "store"), "--format", "csv"}
	with := func(args ...string) []string { return append(args, run...) }
	prefix := filepath.Join(dir, "matmul")

	points := must(t, with("simpoint", program, "--interval", "200000", "--k", "3", "-o", prefix)...)
	if !strings.HasPrefix(points, "program,cluster,interval,") || strings.Count(points, "\n") != 4 {
		t.Errorf("points:\n%s", points)
	}
	for _, table := range []string{"timeline", "scores", "starts"} {
		if text := must(t, with("simpoint", program, "--interval", "200000", "--table", table)...); strings.Count(text, "\n") < 3 {
			t.Errorf("%s:\n%s", table, text)
		}
	}
	if text := must(t, "simpoint", prefix+".bb", "--k", "3", "--format", "csv"); strings.Count(text, "\n") != 4 {
		t.Errorf("points of a file:\n%s", text)
	}
	// One of the points that the published program chose of its sample.
	if text := must(t, "simpoint", "../../../datasets/metasim/simpoint32/sample.bb", "--as", "simpoint-3.1", "--format", "csv"); !strings.Contains(text, ",1,339,339000,1000,0.446,") {
		t.Errorf("points as SimPoint 3.1:\n%s", text)
	}
	chosen := must(t, with("metasim", program, "--machine", power3, "--interval", "200000", "--k", "3")...)
	read := must(t, with("metasim", program, "--machine", power3, "--interval", "200000", "--points", prefix)...)
	// The fraction of code that points miss is known only when they are chosen in
	// the same run.
	without := func(text string, column int) (out []string) {
		for line := range strings.Lines(text) {
			words := strings.Split(line, ",")
			out = append(out, strings.Join(append(words[:column:column], words[column+1:]...), ","))
		}
		return out
	}
	mismatch := strings.Count(chosen[:strings.Index(chosen, "mismatch")], ",")
	if a, b := without(chosen, mismatch), without(read, mismatch); strings.Join(a, "") != strings.Join(b, "") || len(a) != 4 {
		t.Errorf("chosen:\n%s\nread:\n%s", chosen, read)
	}
	if text := must(t, with("metasim", program, "--machine", power3, "--percent", "20", "--periods", "3", "--full", "--warmup", "kept")...); strings.Count(text, "\n") != 10 {
		t.Errorf("three samples of three levels:\n%s", text)
	}

	kept := filepath.Join(dir, "m")
	hits := must(t, with("metasim", program, "--machine", power3, "--record", kept)...)
	if !strings.Contains(hits, "simpoint k=2") {
		t.Errorf("study:\n%s", hits)
	}
	again := must(t, with("metasim", program, "--machine", power3, "--record", kept, "--history", "--untimed")...)
	if strings.Count(again, "simpoint") != 3 || strings.Contains(again, "simpoint 8") {
		t.Errorf("a history that is not timed:\n%s", again)
	}
	for _, table := range []string{"hits", "blocks", "runs", "clusters", "history"} {
		if df, from := recorded(t, kept+"-"+table+".csv"); df.Nrow() == 0 || !strings.Contains(from.Command, "metasim") {
			t.Errorf("%s: %d rows, %+v", table, df.Nrow(), from)
		}
	}
	ranks := must(t, "metasim", program, "--machine", power3, "--ranks", "2", "--args", "-n 2{rank} -repeat 3 -quiet", "--untimed", "-q", "--store", filepath.Join(dir, "store"), "--format", "csv", "--record", prefix)
	if files, err := filepath.Glob(prefix + "-rank*.csv"); err != nil || len(files) != 2 || strings.Count(ranks, "\n") != 19 || strings.Count(ranks, ",2,all,") != 6 {
		t.Errorf("%v, %v, two ranks:\n%s", files, err, ranks)
	}
	bad := filepath.Join(dir, "bad.bb")
	if err := os.WriteFile(bad, []byte("T:0:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, line := range map[string]string{
		"bad.bb:1":           "simpoint " + bad,
		"--interval":         "simpoint " + bad + " --interval 5",
		"--ranks":            "metasim " + program + " --machine zen4 --ranks 2 --full",
		"leave out --warmup": "metasim " + program + " --machine zen4 --ranks 2 --warmup none",
		"0 ranks":            "metasim " + program + " --machine zen4 --ranks 0",
		"simpoint-3.2":       "simpoint " + bad + " --as simpoint",
		"--table":            "simpoint " + prefix + ".none --table all", // before anything is run
		"--stdin":            "simpoint " + prefix + ".bb --stdin x",
		"--percent 0":        "metasim " + prefix + ".none --machine zen4 --percent 0",
		"--max-k":            "metasim " + prefix + ".none --machine zen4 --points " + prefix + " --k 2",
		"no such file":       "simpoint " + prefix + ".none",
		"one problem":        "simpoint " + program + " --at n=1,2",
		"--warmup":           "metasim " + program + " --machine zen4 --warmup cold",
		"name the study":     "metasim " + program + " --machine zen4 --history",
		"only with":          "metasim " + program + " --machine zen4 --untimed --record " + kept,
		"recorded":           "metasim " + program + " --machine zen4 --history --record " + kept + ".none",
		"itself":             "metasim " + program + " --machine zen4 --k 3 --record " + kept,
		"nowhere":            "metasim " + program + " --machine nowhere",
		"x.simpoints":        "metasim " + program + " --machine zen4 --points x",
	} {
		if _, _, err := presage(t, strings.Fields(line)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}
