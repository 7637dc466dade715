package simpoint

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// lloyd is k-means without any bounds: every distance, every time.
func lloyd(p *points, centres []float64, iterations int) (label []int32, sse float64) {
	k := len(centres) / p.stride
	centre := func(c int) []float64 { return centres[c*p.stride : (c+1)*p.stride] }
	label = make([]int32, p.n)
	assign := func() (changed bool) {
		for i := range p.n {
			best := int(label[i])
			for c := range k {
				if squared(p.row(i), centre(c)) < squared(p.row(i), centre(best)) {
					best = c
				}
			}
			// Of centres that are equally near, one's own, else the first.
			for c := k - 1; c >= 0; c-- {
				if squared(p.row(i), centre(c)) == squared(p.row(i), centre(best)) {
					best = c
				}
			}
			if squared(p.row(i), centre(int(label[i]))) == squared(p.row(i), centre(best)) {
				best = int(label[i])
			}
			changed = changed || best != int(label[i])
			label[i] = int32(best)
		}
		return changed
	}
	means := func() {
		sums, weight := make([]float64, len(centres)), make([]float64, k)
		for i, c := range label {
			weight[c] += p.weight[i]
			for d, x := range p.row(i) {
				sums[int(c)*p.stride+d] += p.weight[i] * x
			}
		}
		for c := range k {
			if weight[c] > 0 {
				for d := range p.stride {
					centre(c)[d] = sums[c*p.stride+d] / weight[c]
				}
			}
		}
	}
	fill := func() (filled bool) {
		empty := make([]bool, k)
		for c := range empty {
			empty[c] = !slices.Contains(label, int32(c))
		}
		for c := range k {
			if !empty[c] {
				continue
			}
			furthest, most := -1, negligible*p.squares()/float64(p.n)
			for i := range p.n {
				if d := squared(p.row(i), centre(int(label[i]))); d > most {
					furthest, most = i, d
				}
			}
			if furthest >= 0 {
				label[furthest], filled = int32(c), true
				copy(centre(c), p.row(furthest))
			}
		}
		return filled
	}
	assign()
	for converged := false; !converged && iterations > 0; iterations-- {
		means()
		filled := fill()
		converged = !assign() && !filled
	}
	means() // and no more: a cluster that the last iteration left empty is none
	for i, c := range label {
		sse += p.weight[i] * squared(p.row(i), centre(int(c)))
	}
	return label, sse
}

// drawPoints draws points, some of them equal, of which the weights add up to n.
func drawPoints(t *rapid.T) *points {
	n, dims := rapid.IntRange(1, 60).Draw(t, "n"), rapid.SampledFrom([]int{1, 2, 5, 15}).Draw(t, "dims")
	p := &points{n: n, dims: dims, stride: (dims + lane - 1) / lane * lane}
	grid := rapid.Bool().Draw(t, "grid") // equal distances and equal points
	var sum float64
	for range n {
		row := make([]float64, p.stride)
		for d := range dims {
			if grid {
				row[d] = float64(rapid.IntRange(-2, 2).Draw(t, "x"))
			} else {
				row[d] = rapid.Float64Range(-1, 1).Draw(t, "x")
			}
		}
		p.at = append(p.at, row...)
		w := 1.0
		if !grid {
			w = rapid.Float64Range(0.1, 3).Draw(t, "w")
		}
		p.weight = append(p.weight, w)
		sum += w
	}
	for i := range p.weight {
		p.weight[i] *= float64(n) / sum
	}
	return p
}

// TestLastIterationEmptiesACluster demands that a cluster that loses its last point in
// the last iteration, to one that was empty before, is not filled again.
func TestLastIterationEmptiesACluster(t *testing.T) {
	p := &points{n: 60, dims: 5, stride: 8}
	for i := range p.n {
		row, weight := []float64{1, 1, 1, 1, 1, 0, 0, 0}, 1.0
		switch i {
		case 54, 57, 58:
			row[4] = 0.5
		case 56:
			row[3] = 0.5
		case 59:
			row[4], weight = -1, 1.5
		}
		p.at, p.weight = append(p.at, row...), append(p.weight, weight)
	}
	var begin []float64
	for _, i := range []int{0, 1, 2, 3, 4, 57} {
		begin = append(begin, p.row(i)...)
	}
	want, sse := lloyd(p, slices.Clone(begin), 1)
	got, err := cluster(t.Context(), p, begin, 1, Own)
	if err != nil {
		t.Fatal(err)
	}
	if got.k != 5 || math.Abs(sse-got.sse) > 1e-9 || slices.Contains(want, 5) {
		t.Errorf("%d clusters, sum of squares %g, naively %g with %v", got.k, got.sse, sse, want)
	}
}

// TestBoundsChangeNothing demands that k-means finds exactly the same clusters with and
// without bounds.
func TestBoundsChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPoints(t)
		how := rapid.SampledFrom([]Init{PlusPlus, Sample, FurthestFirst}).Draw(t, "init")
		k := rapid.IntRange(1, 12).Draw(t, "k")
		iterations := rapid.SampledFrom([]int{1, 2, 100}).Draw(t, "iterations")
		begin := p.begin(k, how, stream(rapid.Uint64().Draw(t, "seed"), purposeStart))
		want, sse := lloyd(p, slices.Clone(begin), iterations)
		got, err := cluster(t.Context(), p, begin, iterations, Own)
		if err != nil {
			t.Fatal(err)
		}
		numbers := make(map[int32]int32)
		for i, l := range want {
			if n, seen := numbers[l]; seen && n != got.label[i] {
				t.Fatalf("point %d: label %d, naively %d\n%v\n%v", i, got.label[i], l, got.label, want)
			}
			numbers[l] = got.label[i]
		}
		if len(numbers) != got.k || len(got.weight) != got.k {
			t.Fatalf("%d clusters, naively %d", got.k, len(numbers))
		}
		const rounding = 1e-9
		if math.Abs(sse-got.sse) > rounding*(1+sse) {
			t.Fatalf("sum of squares %g, naively %g", got.sse, sse)
		}
	})
}

// TestBoundsChangeNothingOfMuch demands the same for many points, most of which the
// bounds skip.
func TestBoundsChangeNothingOfMuch(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	r := stream(5, purposeStart)
	p := &points{n: 3000, dims: 15, stride: 16}
	for i := range p.n {
		for d := range p.stride {
			x := 0.0
			if d < p.dims {
				x = r.NormFloat64() + 3*float64(i%7*(d%3))
			}
			p.at = append(p.at, x)
		}
		p.weight = append(p.weight, 1)
	}
	for _, k := range []int{2, 9, 30} {
		begin := p.begin(k, PlusPlus, r)
		want, _ := lloyd(p, slices.Clone(begin), 100)
		got, err := cluster(t.Context(), p, begin, 100, Own)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(want, got.label) {
			t.Errorf("k = %d: labels differ", k)
		}
	}
}

// TestBICAgainstDensities compares bic's closed form with the sum of the logarithms of
// the points' densities, minus the penalty.
func TestBICAgainstDensities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPoints(t)
		k := rapid.IntRange(1, 6).Draw(t, "k")
		c, err := cluster(t.Context(), p, p.begin(k, PlusPlus, stream(1, purposeStart)), 100, Own)
		if err != nil {
			t.Fatal(err)
		}
		got := c.bic(p)
		if c.sse < 1e-12 || p.n <= c.k {
			if p.n <= c.k && !math.IsInf(got, 1) {
				t.Fatalf("a cluster a point: BIC %g", got)
			}
			return
		}
		n, d := float64(p.n), float64(p.dims)
		sigma := math.Sqrt(c.sse / (d * (n - float64(c.k))))
		var l float64
		for i := range p.n {
			own := int(c.label[i])
			var share float64
			for j := range p.n {
				if int(c.label[j]) == own {
					share += p.weight[j] / n
				}
			}
			density := math.Log(share)
			for j := range p.dims {
				z := (p.row(i)[j] - c.centres[own*p.stride+j]) / sigma
				density += math.Log(1/(sigma*math.Sqrt(2*math.Pi))) - z*z/2
			}
			l += p.weight[i] * density
		}
		parameters := float64(c.k-1) + float64(c.k*p.dims) + 1
		want := l - parameters/2*math.Log(n)
		const rounding = 1e-9
		if math.Abs(got-want) > rounding*(1+math.Abs(want)) {
			t.Fatalf("BIC %g, by densities %g", got, want)
		}
	})
}

func TestSquared16(t *testing.T) {
	r := stream(1, purposeStart)
	for range 100 {
		var a, b [16]float64
		for i := range a {
			a[i], b[i] = r.NormFloat64(), r.NormFloat64()
		}
		var want float64
		for i := range a {
			want += (a[i] - b[i]) * (a[i] - b[i])
		}
		for _, n := range []int{4, 8, 12, 16} {
			var some float64
			for i := range n {
				some += (a[i] - b[i]) * (a[i] - b[i])
			}
			if got := squared(a[:n], b[:n]); math.Abs(got-some) > 1e-12 {
				t.Fatalf("of %d numbers %g, want %g", n, got, some)
			}
		}
		if got := squared16(&a, &b); math.Abs(got-want) > 1e-12 {
			t.Fatalf("%g, want %g", got, want)
		}
	}
}

// Starts: k different places if there are as many, and what each is for.
func TestStarts(t *testing.T) {
	p := &points{n: 6, dims: 1, stride: 4, weight: []float64{1, 1, 1, 1, 1, 1}}
	for _, x := range []float64{0, 0, 1, 10, 10, 4} {
		p.at = append(p.at, x, 0, 0, 0)
	}
	for _, how := range []Init{PlusPlus, FurthestFirst} {
		for seed := range uint64(50) {
			c := p.begin(9, how, stream(seed, purposeStart))
			var xs []float64
			for i := 0; i < len(c); i += p.stride {
				xs = append(xs, c[i])
			}
			if how == FurthestFirst {
				want := map[float64][]float64{0: {0, 10, 4, 1}, 1: {1, 10, 4, 0}, 10: {10, 0, 4, 1}, 4: {4, 10, 0, 1}}[xs[0]]
				if !slices.Equal(xs, want) {
					t.Errorf("furthest first: %v, want %v", xs, want)
				}
			}
			slices.Sort(xs)
			if !slices.Equal(xs, []float64{0, 1, 4, 10}) {
				t.Errorf("init %d: centres at %v", how, xs)
			}
		}
	}
	if c := p.begin(9, Sample, stream(1, purposeStart)); len(c) != 6*p.stride {
		t.Errorf("sample of %d numbers", len(c))
	}
}

// TestPlusPlusDrawsBySquares demands that k-means++ draws the second centre by squared
// distance: of two points at 1 and 3 from the first, the far one nine times in ten.
func TestPlusPlusDrawsBySquares(t *testing.T) {
	p := &points{n: 3, dims: 1, stride: 4, weight: []float64{2.8, 0.1, 0.1}}
	for _, x := range []float64{0, 1, 3} {
		p.at = append(p.at, x, 0, 0, 0)
	}
	far, all := 0, 0
	for seed := range uint64(20_000) {
		c := p.begin(2, PlusPlus, stream(seed, purposeStart))
		if c[0] != 0 {
			continue
		}
		all++
		if c[p.stride] == 3 {
			far++
		}
	}
	share := float64(far) / float64(all)
	if first := float64(all) / 20_000; math.Abs(first-2.8/3) > 0.01 || math.Abs(share-0.9) > 0.01 {
		t.Errorf("the first centre is the heavy point in %.3f, want 0.933; the second the far one in %.3f, want 0.9", first, share)
	}
}

// TestPublishedRandomNumbers holds the generators against numbers known of them: ran2
// after the seed -1, and what a C program of the GNU library prints of rand after
// srand(1).
func TestPublishedRandomNumbers(t *testing.T) {
	r := newRandom32(1)
	for i, want := range []float64{0.285381, 0.253358, 0.0934685, 0.608497, 0.903420} {
		if got := r.float(); math.Abs(got-want) > 5e-7 {
			t.Errorf("ran2, number %d: %g, want %g", i, got, want)
		}
	}
	c := newRandomC(1)
	for i, want := range []int{1804289383, 846930886, 1681692777, 1714636915, 1957747793} {
		if got := c.next(); got != want {
			t.Errorf("rand, number %d: %d, want %d", i, got, want)
		}
	}
}
