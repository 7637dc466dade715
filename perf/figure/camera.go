package figure

import (
	"fmt"
	"math"
)

// View is the viewpoint of a surface. The zero value looks from the near left,
// 37.5 degrees off the y axis and 30 above the floor, in parallel projection;
// in any other value, all fields count.
type View struct {
	// Azimuth turns the eye around the vertical axis, in degrees: 0 looks
	// along the y axis from its small end, 90 against the x axis from its
	// large end.
	Azimuth float64
	// Elevation of the eye above the floor, in degrees, between 0 and 90.
	Elevation float64
	// Distance of the eye from the middle of the box, in lengths of the box's
	// diagonal, at least 1; 0: infinite, a parallel projection.
	Distance float64
}

func (v View) orDefault() View {
	if v == (View{}) {
		return View{Azimuth: -37.5, Elevation: 30}
	}
	return v
}

func (v View) check() error {
	switch {
	case !(v.Elevation > 0 && v.Elevation < 90):
		return fmt.Errorf("figure: view at an elevation of %g degrees: it must lie between 0 and 90", v.Elevation)
	case math.IsNaN(v.Azimuth) || math.IsInf(v.Azimuth, 0):
		return fmt.Errorf("figure: view at an azimuth of %g degrees", v.Azimuth)
	case v.Distance != 0 && !(v.Distance >= 1):
		return fmt.Errorf("figure: view from %g diagonals off: nearer than 1 the eye may be inside the box; 0 is a parallel projection", v.Distance)
	}
	return nil
}

// vec is a point or direction in space: problem size, share, height.
type vec [3]float64

func (a vec) minus(b vec) vec { return vec{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }

func (a vec) plus(b vec, by float64) vec {
	return vec{a[0] + by*b[0], a[1] + by*b[1], a[2] + by*b[2]}
}

func (a vec) dot(b vec) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

func (a vec) unit() vec { return vec{}.plus(a, 1/math.Sqrt(a.dot(a))) }

// extent of the box around a surface. Points of the surface have coordinates
// from 0 to 1 in it.
var extent = vec{1, 1, 0.8}

// camera projects the box onto a plane.
type camera struct {
	right, up, toEye vec     // orthonormal
	distance         float64 // from the box's middle to the eye; +Inf: parallel projection
}

func newCamera(v View) camera {
	sinA, cosA := math.Sincos(v.Azimuth * math.Pi / 180)
	sinE, cosE := math.Sincos(v.Elevation * math.Pi / 180)
	c := camera{
		right:    vec{cosA, sinA, 0},
		up:       vec{-sinA * sinE, cosA * sinE, cosE},
		toEye:    vec{sinA * cosE, -cosA * cosE, sinE},
		distance: math.Inf(1),
	}
	if v.Distance != 0 {
		c.distance = v.Distance * math.Sqrt(extent.dot(extent))
	}
	return c
}

// project returns the place in the plane of a point with coordinates from 0 to
// 1 in the box; the box's middle is at 0, 0.
func (c camera) project(p vec) (x, y float64) {
	for i := range p {
		p[i] = (p[i] - 0.5) * extent[i]
	}
	x, y = p.dot(c.right), p.dot(c.up)
	if !math.IsInf(c.distance, 1) {
		scale := c.distance / (c.distance - p.dot(c.toEye))
		x, y = x*scale, y*scale
	}
	return x, y
}

// eye returns the eye's coordinate along an axis of the box, infinite for a
// parallel projection.
func (c camera) eye(axis int) float64 {
	if math.IsInf(c.distance, 1) {
		if c.toEye[axis] < 0 {
			return math.Inf(-1)
		}
		return math.Inf(1)
	}
	return 0.5 + c.distance*c.toEye[axis]/extent[axis]
}

// near returns the end of an axis, 0 or 1, nearer to the eye.
func (c camera) near(axis int) float64 {
	if c.toEye[axis] < 0 {
		return 0
	}
	return 1
}

// backToFront visits the intervals of an axis in an order in which no interval
// hides a later one from the eye: planes across the axis at the edges separate
// them, and the side of a plane away from the eye comes first. between is
// called for the plane at edge i, after everything behind it and before
// everything in front.
func backToFront(edges []float64, eye float64, within func(i int), between func(i int)) {
	last := len(edges) - 2 // the last interval
	i := 0
	for ; i <= last && edges[i+1] <= eye; i++ {
		within(i)
		between(i + 1)
	}
	for k := last; k > i; k-- {
		within(k)
		between(k)
	}
	if i <= last { // the eye is within it, or before all
		within(i)
		if i == 0 && edges[0] >= eye {
			between(0)
		}
	}
}
