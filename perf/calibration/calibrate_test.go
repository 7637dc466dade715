package calibration

import (
	"bytes"
	"image/png"
	"path/filepath"
	"presage/perf/frame"
	"presage/perf/host"
	"presage/perf/machine/catalog"
	"strings"
	"testing"
)

// The facade's tables, figures and file, from a calibration of this host that is
// as short as can be. What the numbers are does not matter here.
func TestCalibrate(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	c, err := Calibrate(t.Context(), CalibrateOptions{Quick: true, MaxBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{
		"summary": 2 + len(c.Profile.Levels) + 2 + 1 + len(c.Profile.TLBs) + len(c.Profile.Operations),
		"levels":  len(c.Profile.Levels), "latency": len(c.Profile.Latencies), "tlb": len(c.Profile.Pages),
		"bandwidth": len(c.Profile.Bandwidths), "parallelism": len(c.Profile.Parallel), "window": len(c.Profile.Windows), "loops": len(c.Profile.Loops),
	}
	for _, name := range CalibrationTables {
		df, err := c.Table(name)
		if err != nil || df.Err != nil || df.Nrow() != rows[name] || rows[name] == 0 {
			t.Errorf("table %s: %d rows, want %d, errors %v, %v", name, df.Nrow(), rows[name], err, df.Err)
			continue
		}
		hosts, err := frame.Strings(df, "host")
		if err != nil || hosts[0] != c.Profile.Processor {
			t.Errorf("table %s: host %q, error %v", name, hosts, err)
		}
	}
	if _, err := c.Table("other"); err == nil || !strings.Contains(err.Error(), "there are summary") {
		t.Errorf("another table: %v", err)
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
	m, err := catalog.FindMachine(path)
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

// Figures of a host without huge pages, and without a word of the system about
// its caches.
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

func TestCalibrationTicks(t *testing.T) {
	labels := func(ticks []string) string { return strings.Join(ticks, " ") }
	var sizes, cycles []string
	for _, tick := range (sizeTicks{}).Ticks(12, 20.5) {
		sizes = append(sizes, tick.Label)
	}
	for _, tick := range (cycleTicks{}).Ticks(0.4, 2.1) {
		cycles = append(cycles, tick.Label)
	}
	if got := labels(sizes); got != "4 KiB   32 KiB   256 KiB  " {
		t.Errorf("sizes %q", got)
	}
	if got := labels(cycles); got != "5 10 20 50 100" {
		t.Errorf("cycles %q", got)
	}
}
