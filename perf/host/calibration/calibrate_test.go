package calibration

import (
	"bytes"
	"fmt"
	"image/png"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/cache"
	"presage/perf/host"
	"presage/perf/isa"
	"presage/perf/machine"
	"presage/perf/machine/catalog"
)

// TestCalibrate makes the rows, figures and file of the shortest possible
// calibration of this host. The values of the numbers do not matter here.
func TestCalibrate(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	c, err := Calibrate(t.Context(), Options{Quick: true, MaxBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	p := c.Profile
	if want := 2 + len(p.Levels) + 2 + 1 + len(p.TLBs) + len(p.Operations); len(c.Summary()) != want || c.Summary()[0].Host != p.Processor {
		t.Errorf("summary of %d rows, want %d: %+v", len(c.Summary()), want, c.Summary()[0])
	}
	for name, rows := range map[string][2]int{
		"levels": {len(c.Levels()), len(p.Levels)}, "latencies": {len(c.Latencies()), len(p.Latencies)}, "translations": {len(c.Translations()), len(p.Pages)},
		"bandwidths": {len(c.Bandwidths()), len(p.Bandwidths)}, "parallelism": {len(c.Parallelism()), len(p.Parallel)},
		"windows": {len(c.Windows()), len(p.Windows)}, "loops": {len(c.Loops()), len(p.Loops)},
		"patterns": {len(c.Patterns()), len(p.Patterns)},
	} {
		if rows[0] != rows[1] || rows[0] == 0 {
			t.Errorf("%s: %d rows, want %d", name, rows[0], rows[1])
		}
	}
	for _, draw := range []func() ([]byte, error){
		func() ([]byte, error) { return drawn(c.LatencyFigure()) },
		func() ([]byte, error) { return drawn(c.TranslationFigure()) },
	} {
		data, err := draw()
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := png.Decode(bytes.NewReader(data)); err != nil {
			t.Error(err)
		}
	}
	path := filepath.Join(t.TempDir(), "myhost.yaml")
	if err := c.Save(path); err != nil {
		t.Fatal(err)
	}
	m, err := catalog.Find(path)
	if err != nil {
		t.Fatal(err)
	}
	if m.Name != "myhost" || m.Frequency != c.Machine.Frequency || len(m.Caches) != len(c.Machine.Caches) {
		t.Errorf("saved and read: %+v", m)
	}
	if err := c.Save("host.txt"); err == nil || !strings.Contains(err.Error(), ".yaml") {
		t.Errorf("save as text: %v", err)
	}
}

func drawn(fig interface {
	PNG(width, height float64) ([]byte, error)
}, err error,
) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return fig.PNG(6, 4)
}

// TestCalibrationFiguresOfLittle draws the figures of a host without huge pages
// whose system does not describe its caches.
func TestCalibrationFiguresOfLittle(t *testing.T) {
	s := host.Sample{Min: 1, Median: 1, Max: 1}
	c := &Calibration{Profile: &host.Profile{
		Processor: "core", PageBytes: 4096, Cycle: s,
		Latencies: []host.Latency{{Bytes: 4096, Load: s}, {Bytes: 8192, Load: s}},
		Levels:    []host.Level{{Name: "L1D", DetectedLo: 4096, DetectedHi: 8192}},
		Pages:     []host.Paged{{Pages: 8, Sparse: s, Dense: s}, {Pages: 16, Sparse: s, Dense: s}},
	}}
	if _, err := drawn(c.LatencyFigure()); err != nil {
		t.Error(err)
	}
	if _, err := drawn(c.TranslationFigure()); err != nil {
		t.Error(err)
	}
}

// TestRowsOfAKnownHost checks the rows of a host at 2 GHz whose every number is
// known.
func TestRowsOfAKnownHost(t *testing.T) {
	ns := func(v float64) host.Sample { return host.Sample{Min: v, Median: 1.25 * v, Max: 1.5 * v} }
	c := &Calibration{Machine: &machine.Machine{TLBs: []machine.TLB{{TLB: cache.TLB{Name: "TLB1"}}}}, Profile: &host.Profile{
		Processor: "core", PageBytes: 4096, Cycle: ns(0.5), MemoryNs: ns(100), StreamNs: ns(4), Mispredict: ns(8),
		Levels:     []host.Level{{Name: "L1D", Load: ns(2), DetectedLo: 4096, DetectedHi: 8192}},
		TLBs:       []host.Reach{{Lo: 64, Hi: 96, Penalty: 3.5}},
		Operations: []host.Operation{{Class: isa.FPDivide, Latency: ns(10), Reciprocal: ns(5)}, {Class: isa.Branch, Reciprocal: ns(0.25)}},
		Parallel:   []host.Parallel{{Chains: 1, Load: ns(100)}, {Chains: 4, Load: ns(25)}},
		Bandwidths: []host.Bandwidth{{Kind: "read", Bytes: 1 << 20, Byte: ns(0.125)}},
		Loops:      []host.Loop{{Iterations: 4, Execution: ns(10), Ends: ns(1)}},
		Patterns:   []host.Pattern{{Directions: 512, Branch: ns(2)}},
		Pages:      []host.Paged{{Pages: 8, Sparse: ns(6), Dense: ns(2)}},
	}}
	var got []string
	for _, r := range c.Summary() {
		got = append(got, fmt.Sprintf("%s of %s: %.4g cycles, %.4g ns, %.4g a cycle", r.Part, r.Of, r.Cycles, r.Ns, r.PerCycle))
	}
	want := []string{
		"clock of cycle: 1 cycles, 0.5 ns, NaN a cycle",
		"load of L1D: 4 cycles, 2 ns, NaN a cycle",
		"load of memory: 200 cycles, 100 ns, NaN a cycle",
		"load of memory in order: 8 cycles, 4 ns, NaN a cycle",
		"translation of TLB1: 7 cycles, 3.5 ns, NaN a cycle",
		"operation of fp divide: 20 cycles, 10 ns, 0.1 a cycle",
		"operation of branch: NaN cycles, NaN ns, 2 a cycle",
		"operation of mix: NaN cycles, NaN ns, 0 a cycle",
		"branch of wrong guess: 16 cycles, 8 ns, NaN a cycle",
	}
	want[7] = fmt.Sprintf("operation of mix: NaN cycles, NaN ns, %.4g a cycle", c.Profile.IssueWidth())
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if r := c.Summary()[1]; r.Median != 2.5 || r.Spread != 0.4 {
		t.Errorf("repeats: %+v", r)
	}
	if r := c.Parallelism()[1]; r.InFlight != 4 {
		t.Errorf("four chains: %+v", r)
	}
	if r := c.Bandwidths()[0]; r.Rate != 8e9 || r.Median != 6.4e9 {
		t.Errorf("bandwidth: %+v", r)
	}
	if r := c.Loops()[0]; r.Cycles != 20 || r.Each != 5 || r.Ends != 2.5 {
		t.Errorf("loop: %+v", r)
	}
	if r := c.Patterns()[0]; r.Directions != 512 || r.Cycles != 5 || r.Wrong != 2.5/8 {
		t.Errorf("pattern: %+v", r)
	}
	if r := c.Translations()[0]; r.Cycles != 8 || r.Page != 4096 {
		t.Errorf("translation: %+v", r)
	}
}
