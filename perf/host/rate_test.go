package host

import (
	"slices"
	"strings"
	"testing"
)

// TestRateOfWorkingSets: the rate of a range is that of reading the largest working set in
// it, in bytes per cycle of three digits.
func TestRateOfWorkingSets(t *testing.T) {
	d := describer{p: &Profile{
		Cycle: Sample{Min: 0.25, Median: 0.25, Max: 0.25},
		Bandwidths: []Bandwidth{
			{"read", 16 << 10, Sample{Min: 0.03}},
			{"copy", 512 << 10, Sample{Min: 0.01}},
			{"read", 512<<10 - 64, Sample{Min: 0.5}},
			{"read", 256 << 10, Sample{Min: 0.25}},
		},
	}}
	for _, c := range []struct {
		lo, hi uint64
		want   float64
	}{{0, 16 << 10, 8.33}, {0, 256<<10 - 1, 8.33}, {16 << 10, 256<<10 - 1, 0}, {0, 512 << 10, 0.5}, {32 << 10, 256 << 10, 1}, {512 << 10, 1 << 30, 0}} {
		if got := float64(d.rate(c.lo, c.hi)); got != c.want {
			t.Errorf("%d to %d bytes: %g a cycle, want %g", c.lo, c.hi, got, c.want)
		}
	}
}

// TestStreamSets: half of each cache, further halves of the last down to twice the one
// before it, and the largest working set.
func TestStreamSets(t *testing.T) {
	c := calibration{Profile: &Profile{}, largest: 64 << 20}
	c.Geometry = []Geometry{{Level: 1, Capacity: 32 << 10}, {Level: 2, Capacity: 512 << 10}, {Level: 3, Capacity: 16 << 20}}
	want := []uint64{16 << 10, 256 << 10, 1 << 20, 2 << 20, 4 << 20, 8 << 20, 64 << 20}
	if got := c.streamSets(); !slices.Equal(got, want) {
		t.Errorf("%d, want %d", got, want)
	}
	c.largest = 4 << 20
	if got := c.streamSets(); !slices.Equal(got, []uint64{16 << 10, 256 << 10, 1 << 20, 2 << 20, 4 << 20}) {
		t.Errorf("up to 4 MiB: %d", got)
	}
}

// TestStreamed: of what is measured again the highest rate remains.
func TestStreamed(t *testing.T) {
	c := calibration{Profile: &Profile{}}
	for _, ns := range []float64{0.2, 0.1, 0.3} {
		c.streamed(Bandwidth{readKind, 1 << 20, Sample{Min: ns}})
	}
	c.streamed(Bandwidth{copyKind, 1 << 20, Sample{Min: 0.4}})
	if len(c.Bandwidths) != 2 || c.Bandwidths[0].Byte.Min != 0.1 || c.Bandwidths[1].Byte.Min != 0.4 {
		t.Errorf("%+v", c.Bandwidths)
	}
}

// TestShareOfASharedCache: a cache of which others use the most is described with what
// the curve shows of it, and with a rate from a working set that fits there.
func TestShareOfASharedCache(t *testing.T) {
	p := knownProfile()
	p.Levels[1] = Level{"L2", Geometry{2, 32 << 20, 64, 16, "0-7"}, 4 << 20, 4987840, exact(10)}
	p.Bandwidths = []Bandwidth{{readKind, 2 << 20, exact(0.025)}, {readKind, 16 << 20, exact(0.1)}, {readKind, 64 << 20, exact(0.1)}}
	m := readBack(t, p)
	if c := m.Caches[1]; c.Capacity() != 4<<20 || c.Ways != 16 || c.Bandwidth != 10 || !strings.Contains(m.Sources["chase"], "4 MiB are taken for what others leave") {
		t.Errorf("%+v of %s", c, m.Sources["chase"])
	}
	if text := m.Sources["chase"]; strings.Contains(text, "a stream of") {
		t.Errorf("16 MiB were read at a quarter of its pace: %s", text)
	}
	p.Bandwidths = append(p.Bandwidths, Bandwidth{readKind, 8 << 20, exact(0.03)})
	if m := readBack(t, p); m.Caches[1].Capacity() != 4<<20 || !strings.Contains(m.Sources["chase"], "a stream of 8 MiB was read at its pace") {
		t.Errorf("%+v of %s", m.Caches[1], m.Sources["chase"])
	}
	p.Levels[1].DetectedLo, p.Levels[1].DetectedHi = 14<<20, 20<<20 // near enough to what the system says
	if c := readBack(t, p).Caches[1]; c.Capacity() != 32<<20 || c.Bandwidth != 2.5 {
		t.Errorf("%+v", c)
	}
	l := Level{Geometry: Geometry{Capacity: 480 << 20, LineBytes: 64, Ways: 12}, DetectedLo: 28215744, DetectedHi: 32 << 20}
	if got := l.share(); got%(12*64) != 0 || got > 32<<20 || got < 27<<20 {
		t.Errorf("%d bytes in lines of 64, 12 ways", got)
	}
}
