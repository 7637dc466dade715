package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/study/judging"
	"presage/perf/study/record"
)

// tiny is a suite of two programs, the second of which always fails.
const tiny = `programs:
  - {name: fill, source: fill.c, kind: kernel, half: open, size: argument, flags: -O1, train: [32, 48, 64], judge: [96], test: 4}
  - {name: fails, source: fill.c, kind: kernel, half: closed, size: compiled, flags: -O1 -DSTATUS=1, train: [32, 48, 64], judge: [96], test: 4}
`

const fill = `
#include <stdlib.h>
#ifndef STATUS
#define STATUS 0
#endif
static double a[400 * 400];
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	for (int t = 0; t < 2; t++)
		for (int i = 0; i < n * n; i++)
			a[i] += i;
	return a[n * n - 1] != 2.0 * (n * n - 1) || STATUS;
}
`

func TestJudge(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	oracle.Need(t, "riscv64-linux-gnu-gcc")
	dir := t.TempDir()
	suite, kept := filepath.Join(dir, "suite.yaml"), filepath.Join(dir, "kept")
	for path, text := range map[string]string{suite: tiny, filepath.Join(dir, "fill.c"): fill} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	headlines := filepath.Join(dir, "headlines.csv")
	with := func(args ...string) []string {
		return append([]string{"judge", suite, "-q", "--machine", "origin2000", "--store", filepath.Join(dir, "store"), "--format", "csv"}, args...)
	}
	summary := must(t, with("--record", kept, "--headlines", headlines)...)
	if !strings.HasPrefix(summary, "class,machine,level,rows,rel_err_median,") || strings.Count(summary, "\n") != 2 {
		t.Errorf("summary:\n%s", summary)
	}
	found, err := judging.Load(kept)
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Misses) != 3 || found.Misses[0].Program != "fill" || len(found.Cycles)+len(found.Failed) != 0 {
		t.Errorf("recorded: %+v", found)
	}
	if _, from := recorded(t, kept+"-misses.csv"); !strings.HasPrefix(from.Command, "presage judge ") || !strings.Contains(from.Origin, "fill") {
		t.Errorf("%+v", from)
	}
	if all, err := record.Headlines(headlines); err != nil || len(all) != 6 || all[0].Rows != 1 || !strings.HasPrefix(all[0].Metric, "misses of 1 programs of the open half, caches, fewer than 4 ways") {
		t.Errorf("headlines: %+v, %v", all, err)
	} else {
		again := filepath.Join(dir, "again.csv")
		if text := must(t, "judge", "--from", kept, "--headlines", again, "--format", "csv"); text != summary {
			t.Errorf("recorded rows:\n%s\njudged:\n%s", text, summary)
		}
		if reread, err := record.Headlines(again); err != nil || fmt.Sprint(reread) != fmt.Sprint(all) {
			t.Errorf("recorded rows: %+v, %v\njudged: %+v", reread, err, all)
		}
	}
	if rows := must(t, with("--table", "misses", "--program", "fill")...); strings.Count(rows, "\n") != 4 {
		t.Errorf("rows:\n%s", rows)
	}
	if text := must(t, with("--table", "cycles")...); text != "" {
		t.Errorf("no cycles are judged:\n%s", text)
	}
	_, stderr, err := presage(t, with("--half", "all", "--table", "levels")...)
	if err == nil || !strings.Contains(stderr, "not judged: misses of fails: ") || !strings.Contains(stderr, "exit status 1") {
		t.Errorf("a program that fails: %v\n%s", err, stderr)
	}
	const validation = "../../../datasets/validation/"
	fresh := func(args ...string) []string {
		return append([]string{"judge", "--from", validation + "fresh-again", "--half", "fresh", "--headlines", headlines}, args...)
	}
	for want, args := range map[string][]string{
		"--table":             with("--table", "all"),
		`half "best"`:         with("--half", "best"),
		`no program "fails"`:  with("--program", "fails"),
		"nowhere":             with("--machine", "nowhere"),
		"no such file":        {"judge", filepath.Join(dir, "none.yaml"), "--machine", "zen4"},
		"machine":             {"judge", suite},
		"nothing to judge":    {"judge"},
		"--beside":            with("--beside", kept),
		"not of fresh":        {"judge", "--from", kept, "--half", "fresh", "--headlines", headlines},
		"is of the open half": fresh("--beside", kept),
		"want programs of":    fresh("--together", kept),
		"both of the closed":  fresh("--together", validation+"suite-closed,"+validation+"suite-closed"),
		"--together is for":   with("--together", kept),
		"give no suite":       {"judge", suite, "--from", kept},
		"none-misses.csv":     {"judge", "--from", filepath.Join(dir, "none")},
		"--format":            with("--format", "xml"),
	} {
		if _, _, err := presage(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}
