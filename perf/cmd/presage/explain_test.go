package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
)

// column returns a column of a table of CSV.
func column(t *testing.T, text, name string) []string {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(records) < 2 {
		t.Fatalf("no table (%v): %s", err, text)
	}
	at := slices.Index(records[0], name)
	if at < 0 {
		t.Fatalf("no column %s in %v", name, records[0])
	}
	var out []string
	for _, r := range records[1:] {
		out = append(out, r[at])
	}
	return out
}

func sum(t *testing.T, text, name string) float64 {
	t.Helper()
	all := 0.0
	for _, v := range column(t, text, name) {
		x, err := strconv.ParseFloat(v, 64)
		if err != nil {
			t.Fatal(err)
		}
		all += x
	}
	return all
}

// patternsProgram compiles the program of package patterns' tests.
func patternsProgram(t *testing.T) string {
	t.Helper()
	return perftest.Link(t, oracle.Need(t, "riscv64-linux-gnu-gcc"), []string{
		"-O2", "-g", "-static", "-nostdlib", "-ffreestanding", "-fno-tree-loop-distribute-patterns", perftest.Path(t, "perf", "patterns", "testdata", "patterns.c"),
	}, "patterns").File.Path
}

// TestExplain: patterns and objects add up to the misses that the other commands
// print, of profiles and of a program.
func TestExplain(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	dir, plain := t.TempDir(), t.TempDir()
	program := patternsProgram(t)
	profile := []string{"profile", program, "--sweep", "n=64,72,80,88,104", "--machine", "origin2000", "-q"}
	must(t, slices.Concat(profile, []string{"--carriers", "-o", dir})...)
	must(t, slices.Concat(profile, []string{"-o", plain})...)
	at := []string{"--machine", "origin2000", "--format", "csv", "--at", "n=200"}
	predicted := must(t, slices.Concat([]string{"explain", dir, "--coverage=-1"}, at)...)
	want := must(t, slices.Concat([]string{"predict", dir, "--coverage=-1"}, at)...)
	if got, want := sum(t, predicted, "pred_misses"), sum(t, want, "pred_misses"); got < want*(1-1e-6) || got > want*(1+1e-6) || want == 0 {
		t.Errorf("patterns have %g misses, the program %g", got, want)
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(column(t, predicted, "carrier"))))); n < 2 {
		t.Errorf("%d carriers: %s", n, predicted)
	}
	run := []string{"--machine", "origin2000", "--format", "csv", "--at", "n=60", "-q"}
	simulated := sum(t, must(t, "simulate", program, "--machine", "origin2000", "--format", "csv", "--sweep", "n=60", "-q"), "sim_misses")
	for _, more := range [][]string{{"--by", "routine", "--limit", "4"}, {"--objects", "--min-share", "0"}} {
		if got := sum(t, must(t, slices.Concat([]string{"explain", program}, more, run)...), "sim_misses"); got != simulated || got == 0 {
			t.Errorf("%v: %g misses, simulated %g", more, got, simulated)
		}
	}
	picture := filepath.Join(t.TempDir(), "calls.svg")
	if got := sum(t, must(t, slices.Concat([]string{"explain", program, "--calls", "--figure", picture, "--level", "L2"}, run)...), "sim_misses"); got != simulated {
		t.Errorf("paths of calls: %g misses, simulated %g", got, simulated)
	}
	if svg, err := os.ReadFile(picture); err != nil || !strings.Contains(string(svg), "L2") || !strings.Contains(string(svg), "misses") {
		t.Errorf("%d bytes of a flame graph, error %v", len(svg), err)
	}
	calls := must(t, slices.Concat([]string{"explain", plain, "--calls", "--coverage=-1", "--replay=false"}, at)...)
	want = must(t, slices.Concat([]string{"predict", plain, "--coverage=-1", "--replay=false"}, at)...)
	if got, want := sum(t, calls, "pred_misses"), sum(t, want, "pred_misses"); got < want*(1-1e-6) || got > want*(1+1e-6) || want == 0 {
		t.Errorf("paths of calls have %g misses, the program %g", got, want)
	}
	if text := must(t, slices.Concat([]string{"explain", program, "--sharing"}, run)...); strings.Contains(text, "\npatterns") {
		t.Errorf("one thread shares: %s", text)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{slices.Concat([]string{plain}, at), "presage profile --carriers"},
		{[]string{dir, "--machine", "origin2000"}, "no sizes"},
		{slices.Concat([]string{dir, "--objects"}, at), "--objects"},
		{slices.Concat([]string{dir, "--args", "-n 9"}, at), "--args"},
		{slices.Concat([]string{program, "--objects", "--sharing"}, at), "one table"},
		{slices.Concat([]string{program, "--objects", "--calls"}, at), "one table"},
		{slices.Concat([]string{program, "--figure", "x.svg"}, at), "--calls"},
		{slices.Concat([]string{program, "--calls", "--level", "L1"}, at), "--figure"},
		{slices.Concat([]string{program, "--calls", "--figure", "x.txt"}, at), "x.txt"},
		{slices.Concat([]string{program, "--calls", "--join-below", "0.1"}, at), "PROFILES"},
		{slices.Concat([]string{dir, "--by", "line"}, at), `"line"`},
		{[]string{dir, "--machine", "cray1", "--at", "n=200"}, "cray1"},
		{[]string{"nothing", "--machine", "origin2000"}, "nothing"},
	} {
		if _, _, err := presage(t, append([]string{"explain"}, c.args...)...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.args, err, c.want)
		}
	}
}

// TestAdvise: a program whose columns are summed is told to interchange the loops, by
// simulation and by models of smaller sizes.
func TestAdvise(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	dir := t.TempDir()
	program := patternsProgram(t)
	text, err := os.ReadFile("../../../machines/origin2000.yaml")
	if err != nil {
		t.Fatal(err)
	}
	small := filepath.Join(dir, "small.yaml") // of 64 lines of 64 bytes in L1
	text = []byte(strings.Replace(strings.Replace(string(text), "capacity: 32 KiB", "capacity: 4 KiB", 1), "block: 32 B", "block: 64 B", 1))
	if err := os.WriteFile(small, text, 0o644); err != nil {
		t.Fatal(err)
	}
	must(t, "profile", program, "--sweep", "n=72,80,88,104,120", "--machine", small, "--carriers", "-o", dir, "-q")
	for _, of := range []string{program, dir} {
		text := must(t, "advise", of, "--machine", small, "--at", "n=200", "--format", "csv", "-q")
		kinds, gains, levels := column(t, text, "advice"), column(t, text, "pred_gain_misses"), column(t, text, "level")
		at := slices.Index(kinds, "interchange loops")
		if at < 0 || levels[at] != "L1" {
			t.Fatalf("%s: no advice to interchange loops: %s", of, text)
		}
		// Seven of eight elements of each line are found again.
		if gain, err := strconv.ParseFloat(gains[at], 64); err != nil || gain < 0.98*200*200*7/8 || gain > 1.02*200*200*7/8 {
			t.Errorf("%s: a gain of %s misses", of, gains[at])
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--machine", "zen4"}, "no program"},
		{[]string{dir, "--machine", small}, "no sizes"},
		{[]string{"--kernels", "k.c", "--machine", "zen4"}, "-o FILE"},
		{[]string{"--kernels", "k.c", "--machine", "zen4", "-o", t.TempDir() + "/x.csv"}, "k.c"},
		{[]string{program, "-o", "x.csv", "--machine", "zen4"}, "--kernels"},
	} {
		if _, _, err := presage(t, append([]string{"advise"}, c.args...)...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.args, err, c.want)
		}
	}
}

// TestAnnotate writes each format.
func TestAnnotate(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	program, dir := patternsProgram(t), t.TempDir()
	args := []string{"annotate", program, "--machine", "origin2000", "--at", "n=40", "-q"}
	if text := must(t, append(args, "--source", "../../patterns/testdata")...); !strings.Contains(text, "s += a[i * n + j];") || !strings.Contains(text, "scopes, with the loops inside") {
		t.Errorf("text:\n%s", text)
	}
	if text := must(t, append(args, "--format", "html")...); !strings.Contains(text, "<svg") || !strings.Contains(text, "no text:") {
		t.Errorf("HTML:\n%s", text)
	}
	path := filepath.Join(dir, "p.pb.gz")
	must(t, append(args, "--format", "pprof", "-o", path)...)
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		t.Errorf("pprof: %v", err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--format", "svg"}, `"svg"`},
		{[]string{"--format", "pprof"}, "-o"},
		{[]string{"--at", "k=1,2"}, "one size"},
		{[]string{"--source", filepath.Join(dir, "none")}, ""},
	} {
		_, _, err := presage(t, append(args, c.args...)...)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.args, err, c.want)
		}
	}
}
