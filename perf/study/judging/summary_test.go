package judging

import (
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presage/perf/frame"
	"presage/perf/internal/num"
	"presage/perf/study/record"
)

func replaceOnce(t *testing.T, text, old, new string) string {
	t.Helper()
	if strings.Count(text, old) != 1 {
		t.Fatalf("%q is there %d times, want once", old, strings.Count(text, old))
	}
	return strings.Replace(text, old, new, 1)
}

// findings returns rows with predictions that are off by known amounts.
func findings() *Findings {
	f := new(Findings)
	miss := func(class, level, warning string, pred, sim, low, high, base float64) {
		f.Misses = append(f.Misses, MissRow{
			Program: "p", Machine: "m", Level: level, Class: class, N: 12, Growth: 1.5, Method: "replay", Sim: sim, Pred: pred, Low: low, High: high,
			Warning: warning, Err: num.RelErr(pred, sim), ErrModel: math.NaN(), Baseline: base, ErrBaseline: num.RelErr(base, sim),
		})
	}
	miss(ClassTLB, "TLB", "", 500, 2000, 400, 600, 2000)
	miss(ClassTLB, "TLB", "far", 9000, 2000, 1000, 9000, 1000)
	miss(ClassTLB, "TLB", "", 0, 999, 0, 0, 0) // too few misses to count
	miss(ClassManyWays, "L1", "", 1010, 1000, 990, 1020, 2000)
	miss(ClassManyWays, "L1", "", 1040, 1000, 1035, 1045, 2000)
	miss(ClassManyWays, "L2", "", 1000, 1000, math.NaN(), math.NaN(), 500)
	miss(ClassManyWays, "L2", "", 0, 5000, 0, 5000, 5000)
	f.Cycles = append(f.Cycles, CycleRow{Program: "p", Machine: "m", N: 12, Growth: 2, Sim: 100, Pred: 80, Err: -0.2, Baseline: 150, ErrBaseline: 0.5})
	return f
}

// renamed returns findings of a program of some name.
func renamed(name string) *Findings {
	f := findings()
	for i := range f.Misses {
		f.Misses[i].Program = name
	}
	return f
}

func TestSummary(t *testing.T) {
	rows := findings().Summary()
	if len(rows) != 3 || rows[0].Class != ClassManyWays || rows[1].Class != ClassTLB || rows[2].Class != ClassCycles {
		t.Fatalf("%+v", rows)
	}
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-12 || math.IsNaN(got) != math.IsNaN(want) {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	caches, tlbs, cycles := rows[0], rows[1], rows[2]
	// Errors 0, 0.01, 0.04 and 1: the 0.9-quantile is 0.04 + 0.7 (1 - 0.04).
	near("median", caches.Median, 0.025)
	near("p90", caches.P90, 0.04+0.7*0.96)
	near("worst", caches.Worst, 1)
	near("within", caches.Within5, 0.75)
	near("intervals", caches.Intervals, 2.0/3)
	near("half width", caches.HalfWidth, 15./1010) // of 5/1040, 15/1010 and 2500/1
	near("factor", caches.Factor, math.Log(1041./1001)/math.Log(1041./1036))
	near("baseline", caches.BaselineMedian, 0.75)
	near("model", caches.ModelMedian, math.NaN())
	if caches.Rows != 4 || caches.Unwarned != 1 {
		t.Errorf("%+v", caches)
	}
	if tlbs.Rows != 2 || tlbs.Unwarned != 1 {
		t.Errorf("%+v", tlbs)
	}
	near("TLBs", tlbs.Median, (0.75+3.5)/2)
	near("TLB intervals", tlbs.Intervals, 0.5)
	near("cycles", cycles.Median, 0.2)
	near("cycles' intervals", cycles.Intervals, math.NaN())
	near("cycles' baseline", cycles.BaselineP90, 0.5)

	var levels []string
	for _, r := range findings().ByLevel() {
		levels = append(levels, r.Machine+" "+r.Level)
	}
	if got := strings.Join(levels, ","); got != "m L1,m L2,m TLB,m " {
		t.Errorf("levels %s", got)
	}
	if len(new(Findings).Summary()) != 0 {
		t.Error("a summary of nothing")
	}
}

func TestRecordAndLoad(t *testing.T) {
	f := findings()
	f.Failed = []Failure{{"q", failedCycles, "a reason, with a comma"}}
	for _, c := range []*Findings{f, {Misses: f.Misses}} {
		prefix := filepath.Join(t.TempDir(), "suite")
		if err := c.Record(prefix, "presage judge"); err != nil {
			t.Fatal(err)
		}
		got, err := Load(prefix)
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range [][2]string{
			{frame.String(frame.Of(got.Misses)), frame.String(frame.Of(c.Misses))},
			{frame.String(frame.Of(got.Cycles)), frame.String(frame.Of(c.Cycles))},
			{frame.String(frame.Of(got.Failed)), frame.String(frame.Of(c.Failed))},
		} {
			if pair[0] != pair[1] {
				t.Errorf("loaded\n%s\nrecorded\n%s", pair[0], pair[1])
			}
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("nothing recorded, and no error")
	}
}

func TestHeadlines(t *testing.T) {
	all := findings().Headlines(HeadlineOptions{Half: Open, PageBytes: 16384, Command: "presage judge"})
	metrics := make(map[string]record.Headline)
	for _, h := range all {
		if _, err := h.Reached(); err != nil {
			t.Error(err)
		}
		if h.Study != "judging suite, open half" || h.Command != "presage judge" {
			t.Errorf("%+v", h)
		}
		metrics[h.Metric+h.Beside] = h
	}
	if len(metrics) != len(all) || len(all) != 2*(3+3)+2+1 {
		t.Errorf("%d headlines, %d names", len(all), len(metrics))
	}
	cycles := "cycles of 1 programs of the open half, 2 to 2 times the largest training size: predicted against the simulated core"
	if h := metrics[cycles]; h.Value != 0.2 || h.Worst != 0.2 || h.Rows != 1 || h.Question != "" {
		t.Errorf("cycles: %+v", h)
	}
	// The README answers by the closed half, with the open one beside it.
	cyclesClosed := strings.Replace(cycles, "open", "closed", 1)
	closed := findings().Headlines(HeadlineOptions{Half: Closed, Command: "presage judge", Beside: findings()})
	for _, want := range []record.Headline{{Metric: cyclesClosed}, {Metric: "the open half", Beside: cyclesClosed}} {
		if !slices.ContainsFunc(closed, func(h record.Headline) bool {
			return h.Metric == want.Metric && h.Beside == want.Beside && h.Value == 0.2 && (h.Question != "") == (h.Beside == "")
		}) {
			t.Errorf("%q beside %q: not among %+v", want.Metric, want.Beside, closed)
		}
	}
	// Of fresh programs it asks once.
	fresh := findings().Headlines(HeadlineOptions{Half: Fresh, Command: "presage judge", Beside: findings(), Together: []*Findings{renamed("x"), renamed("y")}})
	for _, h := range findings().Headlines(HeadlineOptions{Half: Fresh, Again: true, Command: "presage judge"}) {
		if h.Study != "judging suite, fresh programs, by the models of now" || h.Question != "" {
			t.Errorf("again: %+v", h)
		}
	}
	together, every := 0, 0
	for _, h := range fresh {
		if strings.HasSuffix(h.Metric, "of these and the closed half's together") {
			together++
		}
		if strings.HasSuffix(h.Metric, "of all 3 programs that none is calibrated on") {
			every++
		}
		if asked := strings.HasPrefix(h.Metric, "misses of ") && strings.Contains(h.Metric, ClassManyWays); (h.Question != "") != asked || h.Study != "judging suite, fresh programs" {
			t.Errorf("fresh: %+v", h)
		}
	}
	if together == 0 || every != together || !slices.ContainsFunc(fresh, func(h record.Headline) bool { return h.Metric == "the closed half" }) {
		t.Errorf("fresh: %d shares of intervals together with the closed half, %d with all, %+v", together, every, fresh)
	}
	if h := metrics["n³ from the largest training size"+cycles]; h.Value != 0.5 || h.Beside != cycles {
		t.Errorf("cycles' baseline: %+v", h)
	}
	if h := metrics["TLBs: rows of 2 off by more than 3 times without a warning"]; h.Value != 1 || h.Rows != 0 {
		t.Errorf("unwarned: %+v", h)
	}
	tlbs := "misses of 1 programs of the open half, TLBs, 1.5 to 1.5 times the largest training size: predicted (replay) against simulated with pages of 16384 bytes in random places"
	if h := metrics[tlbs]; h.Value != (0.75+3.5)/2 || h.Worst != 3.5 || h.Rows != 2 {
		t.Errorf("TLBs: %+v of %v", h, slices.Sorted(maps.Keys(metrics)))
	}
}

// TestHeadlinesWithoutStart: where starts of runs correct models, the rows as they would be
// without stand beside, those of other classes not.
func TestHeadlinesWithoutStart(t *testing.T) {
	f := findings()
	for i, err := range []float64{2, -0.5} {
		f.Misses[i].Method, f.Misses[i].ErrWithoutStart = "fully associative, start of the run", err
	}
	var beside []record.Headline
	for _, h := range f.Headlines(HeadlineOptions{Half: Open, Command: "presage judge"}) {
		if h.Metric == "without the start of the run" {
			beside = append(beside, h)
		}
	}
	if len(beside) != 1 || !strings.Contains(beside[0].Beside, ClassTLB) || beside[0].Value != 1.25 || beside[0].Worst != 2 || beside[0].Rows != 2 {
		t.Errorf("%+v", beside)
	}
}
