package figure

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

const tiny = 1e-12 // rounding of a few operations on numbers around 1

func TestProject(t *testing.T) {
	// At 30 degrees of elevation, a unit of depth rises by sin 30 and a unit of
	// height by cos 30; the box is 0.8 high.
	for _, c := range []struct {
		view View
		p    vec
		x, y float64
	}{
		{View{Elevation: 30}, vec{0.5, 0.5, 0.5}, 0, 0},
		{View{Elevation: 30}, vec{1, 0.5, 0.5}, 0.5, 0},
		{View{Elevation: 30}, vec{0.5, 1, 0.5}, 0, 0.25},
		{View{Elevation: 30}, vec{0.5, 0.5, 1}, 0, 0.4 * math.Sqrt(3) / 2},
		{View{Azimuth: 90, Elevation: 30}, vec{0.5, 1, 0.5}, 0.5, 0},
		{View{Azimuth: 90, Elevation: 30}, vec{1, 0.5, 0.5}, 0, -0.25},
		// The three-dimensional default of the tool that the papers used:
		// right (0.7934, -0.6088, 0), up (0.3044, 0.3967, 0.8660).
		{View{}, vec{1, 0.5, 0.5}, 0.79335334 / 2, 0.30438071 / 2},
		{View{}, vec{0.5, 1, 0.5}, -0.60876143 / 2, 0.39667667 / 2},
	} {
		x, y := newCamera(c.view.orDefault()).project(c.p)
		if math.Abs(x-c.x) > 1e-7 || math.Abs(y-c.y) > 1e-7 {
			t.Errorf("%+v shows %v at %g, %g, want %g, %g", c.view, c.p, x, y, c.x, c.y)
		}
	}
}

func TestPerspective(t *testing.T) {
	v := View{Azimuth: -37.5, Elevation: 30, Distance: 2}
	near, far := newCamera(v), newCamera(View{Azimuth: v.Azimuth, Elevation: v.Elevation})
	eye := vec{near.eye(0), near.eye(1), near.eye(2)}
	diagonal := math.Sqrt(1 + 1 + 0.64)
	var off vec
	for i := range off {
		off[i] = (eye[i] - 0.5) * extent[i]
	}
	if got := math.Sqrt(off.dot(off)); math.Abs(got-2*diagonal) > tiny {
		t.Errorf("the eye is %g off, want two diagonals, %g", got, 2*diagonal)
	}
	// All points of a ray from the eye are seen at one place; the further ones
	// of a length are shown smaller.
	p := vec{0.2, 0.9, 0.1}
	x0, y0 := near.project(p)
	x1, y1 := near.project(p.plus(eye.minus(p), 0.3))
	if math.Abs(x0-x1) > tiny || math.Abs(y0-y1) > tiny {
		t.Errorf("along a ray: %g, %g and %g, %g", x0, y0, x1, y1)
	}
	length := func(c camera, at vec) float64 {
		ax, ay := c.project(at)
		bx, by := c.project(at.plus(vec{0, 0, 1}, 0.1))
		return math.Hypot(bx-ax, by-ay)
	}
	if a, b := length(near, vec{0, 0, 0}), length(near, vec{1, 1, 0}); a < 1.2*b {
		t.Errorf("near and far lengths %g and %g", a, b)
	}
	if a, b := length(far, vec{0, 0, 0}), length(far, vec{1, 1, 0}); math.Abs(a-b) > tiny {
		t.Errorf("in parallel projection, lengths %g and %g", a, b)
	}
}

// TestBackToFront demands that, of two intervals, the one nearer to the eye is
// visited later, and the plane that separates them in between.
func TestBackToFront(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		edges := make([]float64, 2+rng.IntN(6))
		for i := range edges {
			edges[i] = rng.Float64()
		}
		slices.Sort(edges)
		eye := []float64{math.Inf(-1), math.Inf(1), -0.5, 1.5, rng.Float64()}[rng.IntN(5)]
		when, planes := make(map[int]int), make(map[int]int)
		n := 0
		backToFront(edges, eye, func(i int) { when[i] = n; n++ }, func(i int) { planes[i] = n; n++ })
		if len(when) != len(edges)-1 {
			t.Fatalf("edges %v, eye %g: visited %v", edges, eye, when)
		}
		for i := range len(edges) - 1 {
			for j := i + 1; j < len(edges)-1; j++ {
				if edges[j] <= eye && when[i] > when[j] || edges[i+1] >= eye && when[i] < when[j] {
					t.Fatalf("edges %v, eye %g: order of %d and %d in %v", edges, eye, i, j, when)
				}
			}
			if at, ok := planes[i+1]; i+2 < len(edges) && (!ok || (at < when[i]) == (at < when[i+1])) {
				t.Fatalf("edges %v, eye %g: plane %d at %d, intervals %v", edges, eye, i+1, at, when)
			}
		}
	}
}

func randomStair(rng *rand.Rand, steps int) []step {
	bins := make([]bin, steps)
	for i := range bins {
		bins[i] = bin{rng.Float64(), math.Pow(rng.Float64(), 6)}
	}
	return stairOf(bins, distanceAxis{})
}

// TestStairOf demands that every stair has width one, and is level over each
// bin's share of the accesses.
func TestStairOf(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for range 100 {
		bins := make([]bin, 1+rng.IntN(50))
		total, mean := 0.0, 0.0
		for i := range bins {
			bins[i] = bin{math.Floor(1000 * rng.Float64()), math.Floor(9 * rng.Float64())}
			total += bins[i].accesses
			mean += bins[i].accesses * bins[i].mid
		}
		stair := stairOf(bins, distanceAxis{})
		if total == 0 {
			if stair != nil {
				t.Fatalf("no accesses gave %v", stair)
			}
			continue
		}
		area, from := 0.0, 0.0
		for i, s := range stair {
			if s.share <= from || i > 0 && s.height < stair[i-1].height {
				t.Fatalf("stair %v does not rise", stair)
			}
			area += (s.share - from) * s.height
			from = s.share
		}
		if from != 1 || math.Abs(area-mean/total) > 1e-9*area {
			t.Fatalf("%v ends at %g with mean distance %g, want 1 and %g", stair, from, area, mean/total)
		}
	}
	// A bin too rare to have any width.
	got := stairOf([]bin{{1, 1}, {5, 1e-30}, {7, 1}, {9, 1e-30}}, distanceAxis{})
	if !slices.Equal(got, []step{{0.5, 1}, {1, 7}}) {
		t.Errorf("bins without width: %v", got)
	}
}

// TestThin demands that a thinned stair is nowhere farther from the original
// than it reports, and that it keeps the rarest distances.
func TestThin(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	const width, rise = 0.01, 0.005
	for range 50 {
		stair := randomStair(rng, 2000)
		thinned := thin(stair, width, rise)
		if n := len(thinned); n > 300 || n < 20 {
			t.Fatalf("%d steps of %d", n, len(stair))
		}
		if thinned[len(thinned)-1].share != 1 {
			t.Fatal("a thinned stair does not end at 1")
		}
		if d := stair[len(stair)-1].height - thinned[len(thinned)-1].height; d > rise+tiny || d < 0 {
			t.Fatalf("the greatest distance moved by %g", d)
		}
		for share := 0.0005; share < 1; share += 0.001 {
			lo := quantile(stair, math.Max(share-width, 0)) - rise - tiny
			hi := quantile(stair, math.Min(share+width, 1)) + rise + tiny
			if got := quantile(thinned, share); got < lo || got > hi {
				t.Fatalf("at %g the height is %g, outside of %g to %g", share, got, lo, hi)
			}
		}
		if a, b := area(stair), area(thinned); math.Abs(a-b) > 1e-9 {
			t.Fatalf("mean height %g became %g", a, b)
		}
	}
	// A millionth of the accesses at the greatest distance still shows.
	spike := []step{{0.5, 0}, {1 - 1e-6, 0.1}, {1, 1}}
	if got := thin(spike, width, rise); !slices.Equal(got, spike) {
		t.Errorf("%v became %v", spike, got)
	}
}

func area(stair []step) float64 {
	sum, from := 0.0, 0.0
	for _, s := range stair {
		sum += (s.share - from) * s.height
		from = s.share
	}
	return sum
}

func TestStrips(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for range 100 {
		a, b := randomStair(rng, 1+rng.IntN(20)), randomStair(rng, 1+rng.IntN(20))
		at := 0.0
		for _, st := range strips(a, b) {
			middle := (st.from + st.to) / 2
			if st.from != at || st.to <= st.from || st.a != quantile(a, middle) || st.b != quantile(b, middle) {
				t.Fatalf("strip %+v after share %g of %v and %v", st, at, a, b)
			}
			at = st.to
		}
		if at != 1 {
			t.Fatalf("strips end at %g", at)
		}
	}
}

// TestClipped demands that the parts of a face between levels sum to its area,
// with heights between the levels.
func TestClipped(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	r := rng.Float64
	for range 200 {
		x0, x1, y, z := r(), r(), r(), [4]float64{r(), r(), r(), r()}
		face := []vec{{x0, y, z[0]}, {x1, y, z[1]}, {x1, y, z[1] + z[2]}, {x0, y, z[0] + z[3]}}
		sum := 0.0
		for band := range 20 {
			lo, hi := float64(band)/10, float64(band+1)/10
			part := clipped(face, lo, hi)
			if part == nil {
				continue
			}
			if a, b := heights(part); a < lo-tiny || b > hi+tiny {
				t.Fatalf("part from %g to %g in band %g to %g", a, b, lo, hi)
			}
			sum += faceArea(part)
		}
		if want := faceArea(face); math.Abs(sum-want) > 1e-9 {
			t.Fatalf("parts of %v have area %g, want %g", face, sum, want)
		}
	}
}

// faceArea returns the area of a face across the y axis.
func faceArea(face []vec) float64 {
	sum := 0.0
	for i, p := range face {
		q := face[(i+1)%len(face)]
		sum += p[0]*q[2] - q[0]*p[2]
	}
	return math.Abs(sum) / 2
}
