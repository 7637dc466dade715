package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/progress"
	"presage/perf/store"
	"presage/perf/subject"
)

// made is a report of a small program.
func made(t *testing.T) (*Report, Options) {
	t.Helper()
	opt := Options{
		RunOptions: subject.RunOptions{Args: perftest.OneIteration, Store: store.Open(t.TempDir())},
		Machines:   []*machine.Machine{profiletest.Machine(t, "origin2000")},
		Train:      subject.Sweep("n", 8, 10, 12, 14),
		Commands:   []string{"presage report 'a <b>'"},
	}
	said := make(map[string]bool) // first words of steps
	opt.Progress = func(p progress.Report) { said[strings.Fields(p.Task + " -")[0]] = true }
	r, err := Make(t.Context(), perftest.Program(t), opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"learning", "simulating"} {
		if !said[step] {
			t.Errorf("nothing said while %s: %v", step, said)
		}
	}
	opt.Progress = nil
	return r, opt
}

// The report has what the functions that it calls for the user give.
func TestReport(t *testing.T) {
	r, opt := made(t)
	if r.Param != "n" || len(r.Runs.Runs) != 4 {
		t.Errorf("%d runs over %q", len(r.Runs.Runs), r.Param)
	}
	// Three levels at twice and four times the largest size.
	if len(r.Predictions) != 6 || r.Predictions[0].Point["n"] != 28 || r.Predictions[5].Point["n"] != 56 {
		t.Errorf("predictions: %+v", r.Predictions)
	}
	sim, err := misses.Simulate(t.Context(), perftest.Program(t), opt.Machines[0], subject.Sweep("n", 21), misses.SimulateOptions{RunOptions: opt.RunOptions})
	if err != nil {
		t.Fatal(err)
	}
	judged := 0
	for _, j := range r.Judgements {
		if j.Of != string(subject.ByProgram) {
			continue
		}
		judged++
		i := slices.IndexFunc(sim, func(s misses.SimulatedRow) bool { return s.Level == j.Level })
		if j.Point["n"] != 21 || i < 0 || sim[i].Misses != j.Sim || math.Abs(j.Err-(j.Pred/j.Sim-1)) > 1e-12 {
			t.Errorf("%+v, simulated apart %+v", j, sim)
		}
		for _, c := range r.Curves {
			if c.Level == j.Level && c.Point["n"] == 21 && c.Sim != j.Sim {
				t.Errorf("%s: the curve has %g simulated misses, the table %g", c.Level, c.Sim, j.Sim)
			}
		}
		wrong := slices.ContainsFunc(r.Doubts, func(d Doubt) bool {
			return d.Gravity == Wrong && strings.Contains(d.About, j.Level+" of origin2000 at n=21")
		})
		if wrong != (math.Abs(j.Err) > wrongBeyond) {
			t.Errorf("%s is off by %g, called wrong: %t", j.Level, j.Err, wrong)
		}
	}
	if judged != 3 {
		t.Errorf("%d levels are judged", judged)
	}
	few := slices.ContainsFunc(r.Doubts, func(d Doubt) bool { return d.Gravity == Doubtful && strings.Contains(d.Text, "fitted to 4 sizes") })
	order := slices.IsSortedFunc(r.Doubts, func(a, b Doubt) int {
		list := []Gravity{Wrong, Doubtful, Note}
		return slices.Index(list, a.Gravity) - slices.Index(list, b.Gravity)
	})
	if !few || !order {
		t.Errorf("doubts, in order %t: %+v", order, r.Doubts)
	}
	html(t, r)
}

// html checks the page: whole, well formed, complete, and from this file alone.
func html(t *testing.T, r *Report) {
	t.Helper()
	page, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, elsewhere := range []string{"src=", "@import", "<link", "<script", "url("} {
		if bytes.Contains(page, []byte(elsewhere)) {
			t.Errorf("the page has %s", elsewhere)
		}
	}
	for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAll(page, -1) {
		d := xml.NewDecoder(bytes.NewReader(svg))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, want := range []string{"presage report &#39;a &lt;b&gt;&#39;", "<title>L1; L2; TLB</title>", ">simulated<", number(r.Predictions[0].Misses), number(r.Judgements[0].Sim)} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if n := bytes.Count(page, []byte("<svg")); n != 2 {
		t.Errorf("%d figures", n)
	}
	if rows := bytes.Count(page, []byte("<tr>")); rows < len(r.Predictions)+len(r.Judgements)+len(r.Doubts)+len(r.Routines)+len(r.Runs.Runs) {
		t.Errorf("%d rows", rows)
	}
}

func TestMakeRefuses(t *testing.T) {
	m := []*machine.Machine{profiletest.Machine(t, "origin2000")}
	for want, opt := range map[string]Options{
		"no machine":         {Train: subject.Sweep("n", 1, 2, 3)},
		"2 sizes to profile": {Machines: m, Train: subject.Sweep("n", 1, 2)},
		"name the sizes":     {Machines: m, Train: []subject.Point{{"n": 1, "k": 1}, {"n": 2, "k": 2}, {"n": 3, "k": 1}}},
	} {
		if _, err := Make(t.Context(), nil, opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestLarger(t *testing.T) {
	r := &Report{Param: "n", opt: Options{Train: []subject.Point{{"n": 7, "k": 2}, {"n": 3, "k": 2}, {"n": 5, "k": 2}}}}
	if got := points(r.larger(1.5, 4)); got != "k=2 n=11, k=2 n=28" {
		t.Errorf("%s", got)
	}
	if got := varying(r.opt.Train); got != "n" {
		t.Errorf("%s varies", got)
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", -1234567.4: "-1,234,567", 2e15: "2e+15", math.Inf(1): "+Inf"} {
		if got := number(v); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
	if number(math.NaN()) != "–" || percent(math.NaN()) != "–" || signed(0.125) != "+12.5%" {
		t.Error("missing values")
	}
}
