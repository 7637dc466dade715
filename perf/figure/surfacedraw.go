package figure

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Plot implements plot.Plotter by the painter's algorithm, farthest first. The
// order is exact and does not rely on a mean depth of faces: horizontal planes
// at the cuts divide the scene into layers, planes at the sizes divide a layer
// into slabs, planes at the steps divide a slab into strips, and the side of a
// plane away from the eye is painted first. A strip contains one level face,
// and between strips are the risers.
func (s *surface) Plot(c draw.Canvas, _ *plot.Plot) {
	labels := s.space.labels()
	at := fit(c.Rectangle, s.space.camera, labels)
	b := &brush{c: c, placement: at, space: &s.space}
	b.walls(labels)
	scene := s.scene(at.length(vec{0, 1, 0}), at.length(vec{0, 0, 1}))
	backToFront(s.space.layers(), s.space.camera.eye(2), func(layer int) {
		scene.paint(b, layer)
	}, func(edge int) {
		if edge >= 1 && edge <= len(s.space.cuts) {
			b.plane(&s.space.cuts[edge-1])
			scene.hitRatios(b, &s.space.cuts[edge-1])
		}
	})
	b.axes(labels)
}

// layers returns the edges of the layers between the cuts.
func (sp *space) layers() []float64 {
	edges := []float64{math.Inf(-1)}
	for _, cut := range sp.cuts {
		edges = append(edges, cut.height)
	}
	return append(edges, math.Inf(1))
}

// layerOf returns the layer of a level face: the first whose cut it hits.
func (sp *space) layerOf(height float64) int {
	for i, cut := range sp.cuts {
		if sp.axis.hits(height, cut.height) {
			return i
		}
	}
	return len(sp.cuts)
}

// position returns the place of a problem size in the box, from 0 to 1.
func (sp *space) position(size float64) float64 {
	return (size - sp.size[0]) / (sp.size[1] - sp.size[0])
}

// slab is the part of a surface between two neighbouring sizes; it has no
// strips if one of them has no reuse.
type slab struct {
	from, to float64 // places of the sizes
	strips   []strip
}

// scene is a surface in coordinates from 0 to 1, with no more steps than are
// visible.
type scene struct {
	edges []float64 // of the slabs
	slabs []slab
	space *space
}

// scene prepares a drawing with axes of shares and of distance of the given
// lengths in dots.
func (s *surface) scene(shareDots, heightDots float64) *scene {
	out := &scene{space: &s.space}
	stairs := make([][]step, len(s.stairs))
	for i, stair := range s.stairs {
		scaled := make([]step, len(stair))
		for k, st := range stair {
			scaled[k] = step{st.share, st.height / s.space.top}
		}
		stairs[i] = thin(scaled, 1/shareDots, 0.5/heightDots)
		out.edges = append(out.edges, s.space.position(s.sizes[i]))
	}
	for i := 1; i < len(stairs); i++ {
		out.slabs = append(out.slabs, slab{out.edges[i-1], out.edges[i], strips(stairs[i-1], stairs[i])})
	}
	return out
}

// tread returns the face over a strip of shares.
func (sl *slab) tread(i int) []vec {
	st := sl.strips[i]
	return []vec{{sl.from, st.from, st.a}, {sl.to, st.from, st.b}, {sl.to, st.to, st.b}, {sl.from, st.to, st.a}}
}

// riser returns the vertical face at the end of strip i, between it and the
// next.
func (sl *slab) riser(i int) []vec {
	lo, hi := sl.strips[i], sl.strips[i+1]
	return []vec{{sl.from, lo.to, lo.a}, {sl.to, lo.to, lo.b}, {sl.to, lo.to, hi.b}, {sl.from, lo.to, hi.a}}
}

// shareEdges returns the edges of the strips.
func (sl *slab) shareEdges() []float64 {
	if len(sl.strips) == 0 {
		return nil
	}
	edges := []float64{0}
	for _, st := range sl.strips {
		edges = append(edges, st.to)
	}
	return edges
}

// paint draws the part of the scene in a layer, farthest first.
func (sc *scene) paint(b *brush, layer int) {
	eye := sc.space.camera.eye
	backToFront(sc.edges, eye(0), func(i int) {
		sl := &sc.slabs[i]
		backToFront(sl.shareEdges(), eye(1), func(k int) {
			b.face(sl.tread(k), layer)
			st := sl.strips[k]
			b.profile(vec{sl.from, st.from, st.a}, vec{sl.from, st.to, st.a}, layer)
			b.profile(vec{sl.to, st.from, st.b}, vec{sl.to, st.to, st.b}, layer)
		}, func(edge int) {
			if edge < 1 || edge >= len(sl.strips) {
				return
			}
			riser := sl.riser(edge - 1)
			b.face(riser, layer)
			b.profile(riser[0], riser[3], layer)
			b.profile(riser[1], riser[2], layer)
		})
	}, func(int) {})
}

// hitRatios draws the intersection of the surface with a cut.
func (sc *scene) hitRatios(b *brush, cut *plane) {
	style := draw.LineStyle{Color: cut.color, Width: vg.Points(1.5)}
	for i := range sc.slabs {
		sl := &sc.slabs[i]
		for k := range sl.strips {
			b.stroke(style, crossing(sl.tread(k), cut.height, sc.space.axis.hits))
			if k+1 < len(sl.strips) {
				b.stroke(style, crossing(sl.riser(k), cut.height, sc.space.axis.hits))
			}
		}
	}
}

// brush paints in space onto a canvas.
type brush struct {
	c draw.Canvas
	placement
	space *space
}

// colorBands is the number of heights with a colour of their own.
const colorBands = 64

// face paints the part of a face in a layer, in bands of colour by height.
func (b *brush) face(face []vec, layer int) {
	lo, hi := heights(face)
	if lo == hi {
		if b.space.layerOf(lo) != layer || face[0][1] == face[2][1] { // elsewhere, or a riser of no height
			return
		}
	} else {
		edges := b.space.layers()
		if hi <= edges[layer] || lo >= edges[layer+1] {
			return
		}
		face = clipped(face, edges[layer], edges[layer+1])
		if face == nil {
			return
		}
		lo, hi = heights(face)
	}
	bright := b.brightness(face)
	// Each band is painted over everything above it too, so that anti-aliasing
	// leaves no seams between bands.
	first, last := int(lo*colorBands), int(hi*colorBands)
	for band := first; band <= last; band++ {
		part := face
		if band != first {
			part = clipped(face, float64(band)/colorBands, hi)
		}
		if part != nil {
			b.fill(heightColor((float64(band)+0.5)/colorBands, bright), part)
		}
	}
}

// brightness lights a face from above, from the left of the eye (Lambert's law
// with ambient light).
func (b *brush) brightness(face []vec) float64 {
	var e [2]vec // along two of the face's edges, in the box's real proportions
	for i := range e {
		e[i] = face[i+1].minus(face[i])
		for k := range e[i] {
			e[i][k] *= extent[k]
		}
	}
	normal := vec{e[0][1]*e[1][2] - e[0][2]*e[1][1], e[0][2]*e[1][0] - e[0][0]*e[1][2], e[0][0]*e[1][1] - e[0][1]*e[1][0]}
	if normal.dot(normal) == 0 {
		return 1
	}
	cam := &b.space.camera
	light := cam.toEye.plus(cam.up, 0.8).plus(cam.right, -0.5).unit()
	return 0.75 + 0.25*math.Abs(normal.unit().dot(light))
}

// fill paints a face. Its outline in the same colour closes the seams that
// anti-aliasing would leave between neighbours.
func (b *brush) fill(c color.Color, face []vec) {
	var path vg.Path
	for i, p := range face {
		if i == 0 {
			path.Move(b.at(p))
		} else {
			path.Line(b.at(p))
		}
	}
	path.Close()
	b.c.SetColor(c)
	b.c.Fill(path)
	b.c.SetLineDash(nil, 0)
	b.c.SetLineWidth(vg.Points(0.5))
	b.c.Stroke(path)
}

// stroke draws a line through points in space.
func (b *brush) stroke(style draw.LineStyle, points []vec) {
	line := make([]vg.Point, len(points))
	for i, p := range points {
		line[i] = b.at(p)
	}
	b.c.StrokeLines(style, line)
}

var profileStyle = draw.LineStyle{Color: color.Gray{0x20}, Width: vg.Points(0.6)}

// profile draws the part of a size's stair, level or upright, in a layer.
func (b *brush) profile(from, to vec, layer int) {
	if from[2] == to[2] {
		if b.space.layerOf(from[2]) != layer {
			return
		}
	} else {
		edges := b.space.layers()
		lo, hi := max(from[2], edges[layer]), min(to[2], edges[layer+1])
		if lo >= hi {
			return
		}
		from[2], to[2] = lo, hi
	}
	b.stroke(profileStyle, []vec{from, to})
}

// plane draws a cut through the whole box.
func (b *brush) plane(cut *plane) {
	z := cut.height
	corners := []vec{{0, 0, z}, {1, 0, z}, {1, 1, z}, {0, 1, z}}
	var path vg.Path
	for i, p := range corners {
		if i == 0 {
			path.Move(b.at(p))
		} else {
			path.Line(b.at(p))
		}
	}
	path.Close()
	b.c.SetColor(translucent(cut.color))
	b.c.Fill(path)
	b.stroke(draw.LineStyle{Color: cut.color, Width: vg.Points(0.8)}, append(corners, corners[0]))
}
