package predict

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"presage/perf/fit"
	"presage/perf/internal/oracle"
	"presage/perf/reuse"
	"presage/perf/scaling"
)

// betaTolerance is the relative error allowed of the incomplete beta function
// against sums and scipy's.
const betaTolerance = 1e-9

// missSum is the formula of the 2005 paper, section 5.2, as a sum, with the
// binomial coefficients as products.
func missSum(s, k, n int) float64 {
	hit := 0.0
	for i := 0; i <= min(k-1, n); i++ {
		p := 1.0
		for j := range i {
			p *= float64(n-j) / float64(i-j) / float64(s)
		}
		hit += p * math.Pow(float64(s-1)/float64(s), float64(n-i))
	}
	return 1 - hit
}

func TestMissProbabilityIsTheSum(t *testing.T) {
	for _, s := range []int{1, 2, 3, 16, 64, 512} {
		for k := 1; k <= 16; k *= 2 {
			for n := range 200 {
				c := Cache{Sets: uint64(s), Ways: uint64(k)}
				got, want := c.MissProbability(float64(n)), missSum(s, k, n)
				// The sum cancels: its error is absolute.
				if math.Abs(got-want) > 1e-12 {
					t.Fatalf("s=%d k=%d n=%d: %g, sum %g", s, k, n, got, want)
				}
			}
		}
	}
}

func TestMissProbabilityIdentities(t *testing.T) {
	// Direct-mapped: a hit if all n blocks fall elsewhere, (1−1/s)^n.
	for _, n := range []float64{0, 1, 10, 1000, 1e6} {
		c := Cache{Sets: 1024, Ways: 1}
		want := -math.Expm1(n * math.Log1p(-1.0/1024))
		if got := c.MissProbability(n); math.Abs(got-want) > betaTolerance*want {
			t.Errorf("direct-mapped at %g: %g, want %g", n, got, want)
		}
	}
	// One set: a step at the capacity, by whole and by average distances.
	c := FullyAssociative(64)
	for _, x := range []struct{ n, p float64 }{{0, 0}, {63, 0}, {63.9, 0}, {64, 1}, {1e9, 1}} {
		if got := c.MissProbability(x.n); got != x.p {
			t.Errorf("64 blocks at %g: %g, want %g", x.n, got, x.p)
		}
	}
	// Fewer distinct blocks than ways always hit; more distance never hits
	// more; more ways in as many sets never miss more.
	for _, s := range []uint64{2, 64, 4096} {
		last := 0.0
		for n := 0.0; n < 1e6; n = n*1.3 + 0.5 {
			p, wider := Cache{s, 4}.MissProbability(n), Cache{s, 8}.MissProbability(n)
			if n <= 3 && p != 0 || p < last-1e-12 || p > 1 || wider > p+1e-12 {
				t.Fatalf("s=%d n=%g: %g after %g", s, n, p, last)
			}
			last = p
		}
		if last < 0.999 && s < 4096 {
			t.Errorf("s=%d: only %g at the far end", s, last)
		}
	}
}

func TestMissProbabilityAgainstSciPy(t *testing.T) {
	python := oracle.NeedPython(t, "scipy")
	type query struct{ s, k, n int }
	var qs []query
	var script strings.Builder
	script.WriteString("from scipy.stats import binom\n")
	for _, s := range []int{64, 256, 512, 2048, 32768} {
		for _, k := range []int{1, 2, 4, 6, 8, 12} {
			for _, n := range []int{100, 5000, 65536, 1000000, 100000000} {
				qs = append(qs, query{s, k, n})
				fmt.Fprintf(&script, "print(repr(float(binom.sf(%d, %d, 1/%d))))\n", k-1, n, s)
			}
		}
	}
	out, err := exec.Command(python, "-c", script.String()).Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Fields(string(out)) {
		want, err := strconv.ParseFloat(line, 64)
		if err != nil {
			t.Fatal(err)
		}
		q := qs[i]
		got := Cache{uint64(q.s), uint64(q.k)}.MissProbability(float64(q.n))
		if math.Abs(got-want) > 1e-8*want+1e-300 {
			t.Errorf("s=%d k=%d n=%d: %g, scipy %g", q.s, q.k, q.n, got, want)
		}
	}
}

// TestMissProbabilityByThrowing compares with Monte Carlo: distinct blocks
// placed at random over the sets.
func TestMissProbabilityByThrowing(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	r := rand.New(rand.NewPCG(1, 2))
	const throws = 20000
	for _, c := range []Cache{{16, 1}, {16, 2}, {64, 4}} {
		for _, n := range []int{5, 40, 150, 300} {
			misses := 0
			for range throws {
				inSet := uint64(0)
				for range n {
					if r.Uint64N(c.Sets) == 0 {
						inSet++
					}
				}
				if inSet >= c.Ways {
					misses++
				}
			}
			p := c.MissProbability(float64(n))
			sigma := math.Sqrt(p*(1-p)/throws) + 1e-4
			if got := float64(misses) / throws; math.Abs(got-p) > 4.5*sigma {
				t.Errorf("%v at %d: thrown %g, predicted %g (sigma %g)", c, n, got, p, sigma)
			}
		}
	}
}

// TestMissesAgainstSimulation compares the model, on a trace's measured stack
// distances, with a set-associative LRU simulation of accesses to blocks at
// random addresses, for which the model's assumption holds.
func TestMissesAgainstSimulation(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	r := rand.New(rand.NewPCG(3, 4))
	c := Cache{Sets: 32, Ways: 4}
	address := make([]uint64, 400)
	for i := range address {
		address[i] = r.Uint64() // independent and even over the sets
	}
	sets := make([][]uint64, c.Sets)
	var stack []int
	h := reuse.Histogram{}
	counts := map[int]uint64{}
	simulated := 0
	for range 60000 {
		x := int(float64(len(address)) * math.Pow(r.Float64(), 3))
		a := address[x]
		set := &sets[a%c.Sets]
		if !touch(set, a, int(c.Ways)) {
			simulated++
		}
		at := -1
		for i, y := range stack {
			if y == x {
				at = i
				break
			}
		}
		if at < 0 {
			h.Cold++
			stack = append([]int{x}, stack...)
			continue
		}
		counts[at]++
		copy(stack[1:at+1], stack[:at])
		stack[0] = x
	}
	for d := range 400 {
		if counts[d] > 0 {
			h.Bins = append(h.Bins, reuse.Bin{Lo: uint64(d), Hi: uint64(d + 1), Count: counts[d]})
		}
	}
	measured := fromMeasured(&h)
	set, full := OfHistogram(&measured, c), OfHistogram(&measured, FullyAssociative(c.Blocks()))
	errSet := math.Abs(set.Total()/float64(simulated) - 1)
	errFull := math.Abs(full.Total()/float64(simulated) - 1)
	t.Logf("simulated %d, set-associative %.0f (%.1f%%), fully associative %.0f (%.1f%%)", simulated, set.Total(), 100*errSet, full.Total(), 100*errFull)
	// The placement of 400 blocks is one draw: within 5% of the expectation.
	if errSet > 0.05 || errSet > errFull {
		t.Errorf("set-associative model is off by %g, fully associative by %g", errSet, errFull)
	}
}

// touch accesses a in an LRU set and reports whether it hit.
func touch(set *[]uint64, a uint64, ways int) bool {
	s := *set
	for i, b := range s {
		if b == a {
			copy(s[1:i+1], s[:i])
			s[0] = a
			return true
		}
	}
	if len(s) < ways {
		s = append(s, 0)
	}
	copy(s[1:], s)
	s[0] = a
	*set = s
	return false
}

// fromMeasured returns a measured histogram with each bin's distances at their
// mean.
func fromMeasured(h *reuse.Histogram) scaling.Histogram {
	out := scaling.Histogram{Cold: float64(h.Cold)}
	for _, b := range h.Bins {
		out.Bins = append(out.Bins, scaling.WeightedBin{Distance: b.Mid(), Count: float64(b.Count)})
	}
	return out
}

func example() scaling.Histogram {
	return scaling.Histogram{Cold: 10, Bins: []scaling.WeightedBin{{Distance: 3, Count: 70}, {Distance: 99.5, Count: 15}, {Distance: 2000, Count: 5}}}
}

func TestFullyAssociativeQueries(t *testing.T) {
	h := example()
	for _, x := range []struct {
		blocks uint64
		misses float64
	}{{1, 100}, {3, 100}, {4, 30}, {99, 30}, {100, 15}, {2000, 15}, {2001, 10}} {
		m := OfHistogram(&h, FullyAssociative(x.blocks))
		if m.Total() != x.misses || m.Accesses != 100 || m.Cold != 10 {
			t.Errorf("%d blocks: %+v, want %g misses", x.blocks, m, x.misses)
		}
	}
	for _, x := range []struct {
		ratio  float64
		blocks uint64
	}{{0, 1}, {0.5, 4}, {0.7, 4}, {0.71, 100}, {0.85, 100}, {0.86, 2001}, {0.9, 2001}} {
		c, err := Smallest(&h, 0, (1-x.ratio)*h.Accesses(), MethodBinomial)
		if err != nil || c.Blocks() != x.blocks {
			t.Errorf("ratio %g: %v, %v, want %d blocks", x.ratio, c, err, x.blocks)
		}
		if got := OfHistogram(&h, c).hitRatio(); got < x.ratio-1e-12 {
			t.Errorf("ratio %g: cache %v has %g", x.ratio, c, got)
		}
	}
	if _, err := Smallest(&h, 0, 5, MethodBinomial); !errors.Is(err, ErrUnreachable) {
		t.Errorf("fewer misses than cold accesses: %v", err)
	}
	c, err := Smallest(&h, 2, 0.2*h.Accesses(), MethodBinomial)
	if err != nil {
		t.Fatal(err)
	}
	half := Cache{c.Sets / 2, 2}
	if OfHistogram(&h, c).hitRatio() < 0.8 || OfHistogram(&h, half).hitRatio() >= 0.8 {
		t.Errorf("smallest 2-way cache for 0.8: %v, %g; half of it %g", c, OfHistogram(&h, c).hitRatio(), OfHistogram(&h, half).hitRatio())
	}
}

func TestAt(t *testing.T) {
	sizes := []fit.Point{{"n": 10}, {"n": 20}, {"n": 30}, {"n": 40}, {"n": 50}}
	g := scaling.Group{Name: "g"}
	for _, s := range sizes {
		n := uint64(s["n"])
		g.Hists = append(g.Hists, reuse.Histogram{Cold: n * n, Bins: []reuse.Bin{{Lo: 3, Hi: 4, Count: n * n * n}, {Lo: n * n, Hi: n*n + 1, Count: 2 * n * n}}})
	}
	m, err := scaling.Fit(context.Background(), sizes, []scaling.Group{g, g}, scaling.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := At(m, fit.Point{"n": 100}, FullyAssociative(5000))
	if err != nil {
		t.Fatal(err)
	}
	// 100² cold and 2·100² at distance 100² > 5000, in each of two groups.
	if len(p.Groups) != 2 || math.Abs(p.Groups[1].Total()-30000) > 1 || math.Abs(p.Program.Total()-60000) > 1 || len(p.Warnings) != 0 {
		t.Errorf("prediction %+v", p)
	}
	if q, err := At(m, fit.Point{"n": 500}, FullyAssociative(64)); err != nil || len(q.Warnings) != 1 {
		t.Errorf("ten times beyond: %v, %v", q, err)
	}
	if _, err := At(m, fit.Point{"m": 5}, FullyAssociative(64)); err == nil {
		t.Error("size without n accepted")
	}
	if _, err := At(m, fit.Point{"n": 5}, Cache{}); !errors.Is(err, ErrCache) {
		t.Errorf("cache without sets: %v", err)
	}
	if _, err := SetAssociative(100, 8); !errors.Is(err, ErrCache) {
		t.Errorf("100 blocks in sets of 8: %v", err)
	}
}

// hitRatio returns the share of the accesses that hit; 1 if there are none.
func (m Misses) hitRatio() float64 {
	if m.Accesses == 0 {
		return 1
	}
	return 1 - m.Total()/m.Accesses
}
