package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHeadlinesAreReplacedAndKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "headlines.csv")
	a := Headline{Study: "quickstart", Metric: "median error", Value: 0.2, Goal: "<=0.05", Unit: "ratio", Command: "make notebooks"}
	b := Headline{Study: "engine", Metric: "speed, Sweep3D", Value: 600, Goal: ">=100", Unit: "MIPS", Command: "go test -bench Guest"}
	if err := UpdateHeadlines(path, a, b); err != nil {
		t.Fatal(err)
	}
	a.Value = 0.1
	if err := UpdateHeadlines(path, a); err != nil {
		t.Fatal(err)
	}
	all, err := Headlines(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 || all[0].Value != 0.1 || all[1].Metric != b.Metric || all[1].Date == "" {
		t.Errorf("got %+v", all)
	}
	text, err := WithHeadlines("# Title\n"+headlinesBegin+"\nold\n"+headlinesEnd+"\nend\n", all)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Title\n", "| 0.1 ratio | <=0.05 (not reached) |", "| 600 MIPS | >=100 |", "\nend\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "old") {
		t.Error("the old table is still there")
	}
	again, err := WithHeadlines(text, all)
	if err != nil || again != text {
		t.Errorf("not stable: %v\n%s", err, again)
	}
}

func TestHeadlineErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "headlines.csv")
	if err := UpdateHeadlines(path, Headline{Goal: "about 5"}); err == nil {
		t.Error("a goal without an operator: no error")
	}
	header := strings.Join(headlineColumns, ",") + "\n"
	for want, text := range map[string]string{
		"want the columns": "a,b\n",
		"record 2: value":  header + "s,m,fast,,u,c,d\n",
		"record 2: perf":   header + "s,m,1,<=x,u,c,d\n",
		"wrong number":     header + "s,m\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Headlines(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if err := UpdateHeadlines(path, Headline{}); err == nil {
			t.Errorf("%q was overwritten", text)
		}
	}
	if _, err := WithHeadlines("no place", nil); err == nil {
		t.Error("a README without the lines: no error")
	}
}

// TestHeadlinesAreKeptToTheByte demands that the recorded headlines, read and
// written again, are the same bytes.
func TestHeadlinesAreKeptToTheByte(t *testing.T) {
	const recorded = "../../../datasets/headlines.csv"
	all, err := Headlines(recorded)
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "headlines.csv")
	if err := writeHeadlines(again, all); err != nil {
		t.Fatal(err)
	}
	if a, b := read(t, recorded), read(t, again); a != b || len(all) == 0 {
		t.Errorf("%d headlines: read and written again:\n%s\nrecorded:\n%s", len(all), b, a)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReadmeHasTheHeadlines: the table in the README is the recorded one.
func TestReadmeHasTheHeadlines(t *testing.T) {
	all, err := Headlines("../../../datasets/headlines.csv")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := WithHeadlines(string(readme), all)
	if err != nil {
		t.Fatal(err)
	}
	if want != string(readme) {
		t.Error("README.md is behind datasets/headlines.csv: run go run ./perf/cmd/presage headlines")
	}
}
