package scaling

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"presage/perf/fit"
	"presage/perf/reuse"
)

var trainedSizes = []int{2500, 3300, 4200, 5300, 6500, 8000}

// withNoise returns f at the sizes, times what is lognormal with a deviation.
func withNoise(r *rand.Rand, deviation float64, f func(n float64) float64) []float64 {
	var out []float64
	for _, n := range trainedSizes {
		out = append(out, math.Round(f(float64(n))*math.Exp(deviation*r.NormFloat64())))
	}
	return out
}

// groupOf returns a group with so many reuses at some distances, and cold accesses.
func groupOf(name string, counts, distances, cold []float64) Group {
	g := Group{Name: name}
	for i := range counts {
		h := reuse.Histogram{Cold: uint64(cold[i])}
		if counts[i] > 0 {
			lo, hi := binOf(uint64(distances[i]))
			h.Bins = []reuse.Bin{{Lo: lo, Hi: hi, Count: uint64(counts[i])}}
		}
		g.Hists = append(g.Hists, h)
	}
	return g
}

func flat(v float64) []float64 { return slices.Repeat([]float64{v}, len(trainedSizes)) }

// TestUnevenCountsGrowAsTheProgram models groups that grow as the program does, but for
// chance, as levels of a recursion do. Powers through their counts make some of them
// many times too large.
func TestUnevenCountsGrowAsTheProgram(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 17))
	all := func(n float64) float64 { return 400 * n }
	groups := []Group{groupOf("whole", withNoise(r, 0, all), flat(3), flat(0))}
	for range 40 {
		groups = append(groups, groupOf("level", withNoise(r, 0.4, func(n float64) float64 { return all(n) / 1e4 }), flat(600), flat(0)))
	}
	m := fitOne(t, trainedSizes, Options{}, groups...)
	far, doubted := 0, 0
	for i := 1; i < len(groups); i++ {
		h := m.Groups[i].Histogram(fit.Point{"n": 32000})
		ratio := h.Accesses() / (all(32000) / 1e4)
		if ratio > 2.5 || ratio < 1/2.5 {
			far++
		}
		if slices.ContainsFunc(m.Groups[i].Accesses.Warnings, func(w fit.Warning) bool { return w.Doubt == Uneven }) {
			doubted++
		}
	}
	// The share itself is known to exp(0.4/√4), about, as large sizes weigh more. By powers
	// alone, half of the counts are off by more than that at four times the size.
	if far > 4 {
		t.Errorf("%d of 40 uneven counts are off by more than 2.5 times", far)
	}
	if doubted < 35 {
		t.Errorf("%d of 40 uneven counts are doubted", doubted)
	}
	if h := m.Groups[0].Histogram(fit.Point{"n": 32000}); math.Abs(h.Accesses()/all(32000)-1) > 0.01 {
		t.Errorf("the whole: %.0f accesses, want %.0f", h.Accesses(), all(32000))
	}
}

// TestUnevenCountsWithATrendKeepIt demands that counts that clearly grow otherwise than
// the program do so in the model.
func TestUnevenCountsWithATrendKeepIt(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 20 {
		square := withNoise(r, 0.06, func(n float64) float64 { return n * n / 1e3 })
		m := fitOne(t, trainedSizes, Options{},
			groupOf("whole", withNoise(r, 0, func(n float64) float64 { return 1e5 * n }), flat(3), flat(0)), groupOf("square", square, flat(600), flat(0)))
		h := m.Groups[1].Histogram(fit.Point{"n": 32000})
		if ratio := h.Accesses() / (32000 * 32000 / 1e3); ratio < 0.6 || ratio > 1.6 {
			t.Errorf("%v: %.2f times the accesses at four times the size", square, ratio)
		}
	}
}

// TestDistancesGrowNoFasterThanTheFootprint models noisy distances of a program whose
// data grow with the size, and exact ones of a program whose data grow with its square.
func TestDistancesGrowNoFasterThanTheFootprint(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	linear := func(n float64) float64 { return n / 4 }
	touched := withNoise(r, 0, linear)
	for range 20 {
		m := fitOne(t, trainedSizes, Options{BlockBytes: 64}, groupOf("g", withNoise(r, 0, func(n float64) float64 { return 9 * n }),
			withNoise(r, 0.15, func(n float64) float64 { return n / 8 }), touched))
		if d := m.Groups[0].Histogram(fit.Point{"n": 32000}).Bins[0].Distance; d > 2*linear(32000) {
			t.Errorf("distance %.0f of %.0f blocks", d, linear(32000))
		}
	}
	square := func(n float64) float64 { return 1000 + n*n/1e3 }
	m := fitOne(t, trainedSizes, Options{BlockBytes: 64}, groupOf("g", withNoise(r, 0, func(n float64) float64 { return 9 * n }),
		withNoise(r, 0, square), withNoise(r, 0, func(n float64) float64 { return 2 * square(n) })))
	if d := m.Groups[0].Histogram(fit.Point{"n": 32000}).Bins[0].Distance; math.Abs(d/square(32000)-1) > 0.01 {
		t.Errorf("distance %.0f, want %.0f", d, square(32000))
	}
}

// TestChanceIsNoPiece models counts with chance, of which the last two happen to grow
// steeply: no regime begins there.
func TestChanceIsNoPiece(t *testing.T) {
	counts := []float64{16000, 20115, 30882, 39905, 36603, 66147}
	f, err := newFitter(sizesOf(trainedSizes...), nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.chance = true
	g, err := f.fit(ofFrequency, f.design, f.extents, counts, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	if v := g.Eval(fit.Point{"n": 32000}); v > 6e5 {
		t.Errorf("%v: %.0f at four times the size", &g, v)
	}
	if !doubted(g, Pieces) {
		t.Errorf("%v: no doubt", g.Warnings)
	}
}

// TestLargestSizesDecideWhereTheyForetell models counts with remainders that grow by
// another law from a size on: no function meets three of the largest sizes, but those of
// fewer sizes foretell the next ones, and those of all sizes do not.
func TestLargestSizesDecideWhereTheyForetell(t *testing.T) {
	sizes := []int{10, 13, 16, 19, 22, 25, 28, 31, 34, 37, 40}
	law := func(n float64) float64 { return 5 * n * n * n }
	f, err := newFitter(sizesOf(sizes...), nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.chance = true
	var counts []float64
	for i, n := range sizes {
		remainder := []float64{1.06, 0.94}[i%2]
		if n < 20 {
			counts = append(counts, 90*law(float64(n))*remainder/float64(n))
		} else {
			counts = append(counts, law(float64(n))*remainder)
		}
	}
	g, err := f.fit(ofFrequency, f.design, f.extents, counts, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	if meets(&g, f.extents, counts) {
		t.Fatalf("%v meets the largest sizes", &g)
	}
	if v := g.Eval(fit.Point{"n": 80}) / law(80); v < 0.75 || v > 1.25 {
		t.Errorf("%v: %.2f of the counts at twice the size", &g, v)
	}
}
