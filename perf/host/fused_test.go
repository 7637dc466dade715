package host

import (
	"math"
	"testing"
)

// TestFusedKernels compares the kernels with fused multiply-adds, in assembly
// on amd64, with loops that state what they compute.
func TestFusedKernels(t *testing.T) {
	if !hasFused() {
		t.Skip("the processor has no fused multiply-add")
	}
	const x, y, z = 1.1, 1 + 0x1p-30, 0.7
	repeat := func(v float64, n int, next func(float64) float64) float64 {
		for range n {
			v = next(v)
		}
		return v
	}
	fused := func(v float64) float64 { return math.FMA(y, z, v) }
	times := func(v float64) float64 { return v * y }
	plus := func(v float64) float64 { return v + y }
	for _, rounds := range []int{0, 1, 7} {
		if got, want := fusedChain(x, y, z, rounds), repeat(x, chainOps*rounds, fused); got != want {
			t.Errorf("%d rounds of fusedChain give %v, want %v", rounds, got, want)
		}
		// Streams start from x, or from x, x+1, …, and end in a sum.
		sum := func(chains int, next func(float64) float64, step float64) float64 {
			total := 0.0
			for i := range chains {
				total += repeat(x+step*float64(i), streamOps/floatStreams*rounds, next)
			}
			return total
		}
		near := func(got, want float64) bool { return math.Abs(got-want) <= 1e-12*math.Abs(want) }
		half := floatStreams / 2
		for _, c := range []struct {
			name   string
			kernel func(x, y, z float64, rounds int) float64
			want   func(step float64) float64
		}{
			{"fusedStream", fusedStream, func(step float64) float64 { return sum(floatStreams, fused, step) }},
			{"mulFusedMix", mulFusedMix, func(step float64) float64 { return mixed(x, step, half, streamOps/floatStreams*rounds, times, fused) }},
			{"addFusedMix", addFusedMix, func(step float64) float64 { return mixed(x, step, half, streamOps/floatStreams*rounds, plus, fused) }},
		} {
			got := c.kernel(x, y, z, rounds)
			if !near(got, c.want(0)) && !near(got, c.want(1)) {
				t.Errorf("%d rounds of %s give %v, want %v or %v", rounds, c.name, got, c.want(0), c.want(1))
			}
		}
	}
}

// mixed sums half chains of one operation and half of another, of n each.
func mixed(x, step float64, half, n int, first, second func(float64) float64) float64 {
	total := 0.0
	for i := range 2 * half {
		v, next := x+step*float64(i), first
		if i >= half {
			next = second
		}
		for range n {
			v = next(v)
		}
		total += v
	}
	return total
}

// TestReadStream demands that readStream adds up every word.
func TestReadStream(t *testing.T) {
	data := make([]byte, 10*streamBytes)
	for i := 0; i < len(data); i += 8 {
		data[i] = byte(i/8 + 1) // little and big endian hosts alike: see want
	}
	var want uint64
	for i := range len(data) / 8 {
		want += uint64(i + 1)
	}
	if got := readStream(data); got != want && got != want<<56 {
		t.Errorf("sum %d, want %d", got, want)
	}
}
