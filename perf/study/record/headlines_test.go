package record

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHeadlinesOfAStudyAreReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "headlines.csv")
	a := Headline{Study: "quickstart", Metric: "misses", Goal: "<=0.05; worst<=0.5", Unit: Relative, Command: "make notebooks", Question: "How far off?"}
	a = a.WithSample([]float64{-0.3, 0.1, math.NaN(), 0.2})
	cubed := Headline{Study: "quickstart", Metric: "n³", Unit: Relative, Beside: "misses"}.WithSample([]float64{1, 20})
	gone := Headline{Study: "quickstart", Metric: "an earlier name", Unit: "ratio"}.Single(7)
	b := Headline{Study: "engine", Metric: "speed, Sweep3D", Goal: ">=100", Unit: "MIPS", Command: "go test -bench Guest"}.Single(600)
	for _, fresh := range [][]Headline{{gone, a, b}, {a, cubed}} {
		if err := UpdateHeadlines(path, fresh...); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Headlines(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 || all[1].Metric != "n³" || all[1].Beside != "misses" || all[2].Study != "engine" || all[0].Date == "" {
		t.Fatalf("got %+v", all)
	}
	if h := all[0]; h.Value != 0.2 || h.Worst != 0.3 || math.Abs(h.P90-0.28) > 1e-12 || h.Rows != 3 || h.Question != a.Question {
		t.Errorf("sample: %+v", h)
	}
	if h := all[2]; h.Value != 600 || !math.IsNaN(h.P90) || !math.IsNaN(h.Worst) || h.Rows != 0 {
		t.Errorf("single figure: %+v", h)
	}
	document := "# Title\n" + headlinesBegin + "\nold\n" + headlinesEnd + "\nend\n"
	answers, err := WithAnswers(document, all)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := WithHeadlines(document, all)
	if err != nil {
		t.Fatal(err)
	}
	row := "| misses | 20% | 28% | 30% | 3 | ≤ 5% **not reached**; worst ≤ 50% | n³: 10.5 times, 18.1 times, 20 times |\n"
	for _, c := range []struct {
		text, want string
		has        bool
	}{
		{answers, "| How far off? " + row, true},
		{answers, "600 MIPS", false},
		{whole, "### quickstart\nAs of " + all[0].Date + ", by `make notebooks`.\n\n| judged |", true},
		{whole, "\n" + row, true},
		{whole, "| speed, Sweep3D | 600 MIPS |  |  |  | ≥ 100 MIPS |  |\n", true},
		{whole, "\n| n³ |", false},
		{whole, "old", false},
		{whole, "# Title\n", true},
		{whole, "\nend\n", true},
	} {
		if strings.Contains(c.text, c.want) != c.has {
			t.Errorf("has %q: %v, want %v, in\n%s", c.want, !c.has, c.has, c.text)
		}
	}
	again, err := WithHeadlines(whole, all)
	if err != nil || again != whole {
		t.Errorf("not stable: %v\n%s", err, again)
	}
}

func TestGoals(t *testing.T) {
	h := Headline{Value: 0.04, P90: 0.2, Worst: 0.5}
	for text, want := range map[string]bool{
		"": true, "<=0.05": true, ">=0.05": false, "<=0.05; p90<=0.2": true, "p90<=0.1; <=0.05": false,
		"worst<=0.5": true, "worst<=0.4": false, "<=0.05; p90<=0.3; worst>=1": false,
	} {
		h.Goal = text
		if got, err := h.Reached(); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	h.P90 = math.NaN()
	h.Goal = "p90<=1"
	if got, err := h.Reached(); err != nil || got {
		t.Errorf("a goal of what is missing: %v, %v", got, err)
	}
	for _, text := range []string{"about 5", "<0.05", "<=x", "mean<=1", "<=0.05;", "<"} {
		h.Goal = text
		if _, err := h.Reached(); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func TestHeadlineErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "headlines.csv")
	for name, fresh := range map[string][]Headline{
		"a goal without an operator": {{Metric: "m", Goal: "about 5"}},
		"two of a name":              {{Study: "s", Metric: "m"}, {Study: "s", Metric: "m"}},
		"beside nothing":             {{Study: "s", Metric: "m", Beside: "other"}},
		"beside another study's":     {{Study: "s", Metric: "m"}, {Study: "t", Metric: "n", Beside: "m"}},
	} {
		if err := UpdateHeadlines(path, fresh...); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	header := strings.Join(headlineColumns, ",") + "\n"
	for want, text := range map[string]string{
		"want the columns":      "a,b\n",
		"record 2: value":       header + "s,m,fast,,,,,u,,,c,d\n",
		"record 2: worst":       header + "s,m,1,,slow,,,u,,,c,d\n",
		"record 2: rows":        header + "s,m,1,,,many,,u,,,c,d\n",
		"record 2: perf":        header + "s,m,1,,,,<=x,u,,,c,d\n",
		"two headlines":         header + "s,m,1,,,,,u,,,c,d\ns,m,1,,,,,u,,,c,d\n",
		"which s does not have": header + "s,m,1,,,,,u,other,,c,d\n",
		"wrong number":          header + "s,m\n",
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
		t.Error("a document without the lines: no error")
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

// TestDocumentsHaveTheHeadlines: the tables of the documents are the recorded ones,
// and the README answers about ten questions.
func TestDocumentsHaveTheHeadlines(t *testing.T) {
	all, err := Headlines("../../../datasets/headlines.csv")
	if err != nil {
		t.Fatal(err)
	}
	questions := make(map[string]bool)
	for _, h := range all {
		if h.Question != "" {
			questions[h.Question] = true
		}
	}
	if n := len(questions); n < 8 || n > 12 {
		t.Errorf("headlines answer %d questions, want about ten: they are the README's", n)
	}
	for path, with := range map[string]func(string, []Headline) (string, error){
		"../../../README.md": WithAnswers, "../../../datasets/README.md": WithHeadlines,
	} {
		text := read(t, path)
		want, err := with(text, all)
		if err != nil {
			t.Fatal(err)
		}
		if want != text {
			t.Errorf("%s is behind datasets/headlines.csv: run go run ./perf/cmd/presage headlines", path)
		}
	}
}

// TestErrorsAreSummedUpWhole: a headline that calls itself a median hides the rest.
func TestErrorsAreSummedUpWhole(t *testing.T) {
	all, err := Headlines("../../../datasets/headlines.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range all {
		if h.Rows == 0 && strings.Contains(h.Metric, "median") {
			t.Errorf("%s: %q is a median alone: give the sample", h.Study, h.Metric)
		}
	}
}

func TestDigits(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1", 0.5293225: "0.529", 0.0092904: "0.00929", -0.02954: "-0.0295", 12.345: "12.3",
		3322.2087: "3322", 123456789: "123456789", 2.5e12: "2.5e+12", math.Inf(1): "+Inf",
	} {
		if got := Digits(v); got != want {
			t.Errorf("Digits(%v) = %s, want %s", v, got, want)
		}
	}
}
