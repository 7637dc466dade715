package host

import "testing"

// TestRateOfWorkingSets: the rate of a working set is that of reading what fits into it,
// in bytes per cycle of three digits.
func TestRateOfWorkingSets(t *testing.T) {
	d := describer{p: &Profile{
		Cycle: Sample{Min: 0.25, Median: 0.25, Max: 0.25},
		Bandwidths: []Bandwidth{
			{"read", 16 << 10, Sample{Min: 0.03}}, {"copy", 512 << 10, Sample{Min: 0.01}}, {"read", 512<<10 - 64, Sample{Min: 0.5}},
		},
	}}
	for bytes, want := range map[uint64]float64{16 << 10: 8.33, 16<<10 + 63: 8.33, 16<<10 + 64: 0, 16<<10 - 1: 0, 512<<10 - 1: 0.5, 512 << 10: 0} {
		if got := float64(d.rate(bytes)); got != want {
			t.Errorf("%d bytes: %g a cycle, want %g", bytes, got, want)
		}
	}
}
