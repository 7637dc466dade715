package figure

import (
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"presage/perf/frame"
)

type surfaceRow struct {
	Source   string  `frame:"source"`
	Program  string  `frame:"program"`
	N        float64 `frame:"n"`
	Lo       float64 `frame:"lo_blocks"`
	Hi       float64 `frame:"hi_blocks"`
	Accesses float64 `frame:"accesses"`
}

// sweepLike rows have the shape of the 2004 paper's Figure 4: three quarters of
// the accesses at a small constant distance, the others at distances that grow
// with the size, some with its cube.
func sweepLike(source string, sizes ...float64) []surfaceRow {
	var rows []surfaceRow
	for _, n := range sizes {
		for _, b := range []struct{ distance, accesses float64 }{
			{3, 74}, {10 * n, 16}, {n * n, 6}, {math.Floor(n * n * n / 4), 4},
		} {
			rows = append(rows, surfaceRow{source, "sweep", n, b.distance, b.distance + 1, b.accesses * n * n})
		}
	}
	return rows
}

func TestSurface(t *testing.T) {
	df := frame.Of(append(sweepLike("collected", 8, 14, 20, 26, 32, 38, 46), sweepLike("model", 8, 20, 32, 46)...))
	f, err := Surface(df, SurfaceOptions{Size: "n", Panel: "source", Title: "flux load", Cuts: []Cut{{"L2: 16384 blocks", 16384}, {"L1: 1024 blocks", 1024}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Panels()) != 2 || f.Panels()[0].Title.Text != "flux load: collected" || f.Panels()[1].Title.Text != "flux load: model" {
		t.Fatalf("%d panels, the first titled %q", len(f.Panels()), f.Panels()[0].Title.Text)
	}
	img := render(t, f)
	for i, c := range cutColors[:2] {
		if n := count(img, c); n < 100 {
			t.Errorf("cut %d has %d pixels of its colour", i, n)
		}
	}
	// The constant distance, below both cuts, takes most of the floor.
	below := translucent(cutColors[1]) // which is the colour of the second cut given, the lower
	low := over(color.NRGBAModel.Convert(below).(color.NRGBA), heightColor(0.5/colorBands, 0.87))
	n := 0
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			if distance(toRGBA(img.At(x, y)), low) < 14 {
				n++
			}
		}
	}
	if n < 5000 {
		t.Errorf("the level of the constant distance has %d pixels of its colour", n)
	}
}

func TestSurfaceErrors(t *testing.T) {
	good := func() []surfaceRow { return sweepLike("collected", 8, 16, 24) }
	for want, change := range map[string]func(rows []surfaceRow, o *SurfaceOptions) []surfaceRow{
		"no column named for the problem size": func(r []surfaceRow, o *SurfaceOptions) []surfaceRow { o.Size = ""; return r },
		`no column "size"`:                     func(r []surfaceRow, o *SurfaceOptions) []surfaceRow { o.Size = "size"; return r },
		`no column "panel"`:                    func(r []surfaceRow, o *SurfaceOptions) []surfaceRow { o.Panel = "panel"; return r },
		"holds text":                           func(r []surfaceRow, o *SurfaceOptions) []surfaceRow { o.Size = "source"; return r },
		"two neighbouring sizes":               func(r []surfaceRow, _ *SurfaceOptions) []surfaceRow { return r[:4] },
		"where source is model": func(r []surfaceRow, o *SurfaceOptions) []surfaceRow {
			o.Panel = "source"
			return append(r, sweepLike("model", 8)...)
		},
		"no rows":        func(_ []surfaceRow, o *SurfaceOptions) []surfaceRow { o.Panel = "source"; return nil },
		"one block":      func(r []surfaceRow, o *SurfaceOptions) []surfaceRow { o.Cuts = []Cut{{"none", 0}}; return r },
		"elevation of 0": func(r []surfaceRow, o *SurfaceOptions) []surfaceRow { o.View = View{Azimuth: 10}; return r },
		"from 0.5 diagonals": func(r []surfaceRow, o *SurfaceOptions) []surfaceRow {
			o.View = View{Elevation: 30, Distance: 0.5}
			return r
		},
		"azimuth of NaN": func(r []surfaceRow, o *SurfaceOptions) []surfaceRow {
			o.View = View{Azimuth: math.NaN(), Elevation: 30}
			return r
		},
		"row 2 has n = NaN": func(r []surfaceRow, _ *SurfaceOptions) []surfaceRow { r[2].N = math.NaN(); return r },
		"-1 accesses":       func(r []surfaceRow, _ *SurfaceOptions) []surfaceRow { r[1].Accesses = -1; return r },
		"mixes program sweep and triad": func(r []surfaceRow, _ *SurfaceOptions) []surfaceRow {
			r[1].Program = "triad"
			return r
		},
		"without reuse [16]": func(r []surfaceRow, _ *SurfaceOptions) []surfaceRow { return withoutReuse(r, 16) },
	} {
		opt := SurfaceOptions{Size: "n"}
		rows := change(good(), &opt)
		if _, err := Surface(frame.Of(rows), opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if _, err := Surface(dataframe.DataFrame{}, SurfaceOptions{Size: "n"}); err == nil {
		t.Error("a frame without columns: no error")
	}
}

// withoutReuse empties the histogram of a size, as tables show cold accesses
// alone.
func withoutReuse(rows []surfaceRow, size float64) []surfaceRow {
	for i := range rows {
		if rows[i].N == size {
			rows[i].Lo, rows[i].Hi, rows[i].Accesses = 0, 0, 0
		}
	}
	return rows
}

func TestSurfaceGap(t *testing.T) {
	s, err := newSurface(frame.Of(withoutReuse(sweepLike("", 8, 16, 24, 32), 16)), "n", distanceAxis{})
	if err != nil {
		t.Fatal(err)
	}
	s.space = commonSpace([]*surface{s}, distanceAxis{}, SurfaceOptions{Size: "n"})
	sc := s.scene(400, 400)
	if len(sc.slabs) != 3 || len(sc.slabs[0].strips) != 0 || len(sc.slabs[1].strips) != 0 || len(sc.slabs[2].strips) == 0 {
		t.Errorf("slabs beside a size without reuse: %+v", sc.slabs)
	}
	f, err := Surface(frame.Of(withoutReuse(sweepLike("", 8, 16, 24, 32), 16)), SurfaceOptions{Size: "n"})
	if err != nil {
		t.Fatal(err)
	}
	if e := f.panels[0].Legend.entries; len(e) == 0 || !strings.HasPrefix(e[len(e)-1].text, "no reuse at") {
		t.Errorf("the legend does not mention the gap: %+v", e)
	}
	render(t, f)
}

// TestSurfaceOfManyBins demands no more strips than dots for thousands of bins
// at thirty sizes.
func TestSurfaceOfManyBins(t *testing.T) {
	var rows []surfaceRow
	for size := range 30 {
		for d := range 2000 {
			n := float64(10 + size)
			rows = append(rows, surfaceRow{"", "p", n, n * float64(d), n*float64(d) + 1, 1 + float64(d%7)})
		}
	}
	s, err := newSurface(frame.Of(rows), "n", distanceAxis{})
	if err != nil {
		t.Fatal(err)
	}
	s.space = commonSpace([]*surface{s}, distanceAxis{}, SurfaceOptions{Size: "n"})
	const dots = 300
	for i, sl := range s.scene(dots, dots).slabs {
		if n := len(sl.strips); n > 2*2*dots+4 || n < dots/2 { // two stairs, each with joins of at least half a dot
			t.Errorf("slab %d has %d strips", i, n)
		}
	}
}

// TestSurfaceAgainstRays compares the picture with ray casting: a ray from the
// eye through each pixel, followed in small steps until it passes through the
// surface.
func TestSurfaceAgainstRays(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	rng := rand.New(rand.NewPCG(4, 2004))
	for trial, view := range []View{
		{},
		{Azimuth: 37.5, Elevation: 30},
		{Azimuth: 130, Elevation: 50},
		{Azimuth: -150, Elevation: 20},
		{Azimuth: -37.5, Elevation: 30, Distance: 1.2},
		{Azimuth: 200, Elevation: 10, Distance: 1.1}, // below the upper cut's plane
	} {
		t.Run(fmt.Sprint(trial), func(t *testing.T) {
			var rows []surfaceRow
			for _, n := range []float64{10, 12, 20, 25} {
				for range 4 {
					d := math.Floor(rng.Float64() * 1000)
					rows = append(rows, surfaceRow{"", "p", n, d, d + 1, 1 + rng.Float64()})
				}
			}
			checkAgainstRays(t, rows, SurfaceOptions{
				Size: "n", View: view.orDefault(), Log: trial == 1,
				Cuts: []Cut{{"a", 300}, {"b", 700}},
			})
		})
	}
}

func checkAgainstRays(t *testing.T, rows []surfaceRow, opt SurfaceOptions) {
	axis := distanceAxis{opt.Log}
	s, err := newSurface(frame.Of(rows), "n", axis)
	if err != nil {
		t.Fatal(err)
	}
	s.space = commonSpace([]*surface{s}, axis, opt)
	const pixels, points = 480, 480 * 72. / resolution // of a side
	canvas := vgimg.NewWith(vgimg.UseWH(points, points), vgimg.UseDPI(resolution))
	c := draw.New(canvas)
	s.Plot(c, nil)
	place, img := fit(c.Rectangle, s.space.camera, s.space.labels()), canvas.Image()
	compared, wrong := 0, 0
	for y := 2; y < pixels-2; y += 3 {
		for x := 2; x < pixels-2; x += 3 {
			want, hit := s.look(place, (float64(x)+0.5)*points/pixels, (pixels-float64(y)-0.5)*points/pixels)
			if !hit || !uniform(img.At, x, y) {
				continue
			}
			compared++
			if !want(toRGBA(img.At(x, y))) {
				wrong++
			}
		}
	}
	if compared < 1000 || wrong > compared/100 {
		t.Errorf("%d of %d pixels differ from what a ray meets", wrong, compared)
	}
}

func toRGBA(c color.Color) color.RGBA { return color.RGBAModel.Convert(c).(color.RGBA) }

// uniform tells whether no edge or line runs within two pixels.
func uniform(at func(x, y int) color.Color, x, y int) bool {
	c := toRGBA(at(x, y))
	for dx := -2; dx <= 2; dx++ {
		for dy := -2; dy <= 2; dy++ {
			d := toRGBA(at(x+dx, y+dy))
			if distance(c, d) > 12 {
				return false
			}
		}
	}
	return true
}

func distance(a, b color.RGBA) float64 {
	return math.Max(math.Abs(float64(a.R)-float64(b.R)), math.Max(math.Abs(float64(a.G)-float64(b.G)), math.Abs(float64(a.B)-float64(b.B))))
}

// look follows the ray through a place on the canvas. It returns a test of
// colours for what it meets, in any light.
func (s *surface) look(p placement, x, y float64) (func(color.RGBA) bool, bool) {
	cam := s.space.camera
	px, py := (x-float64(p.middle.X))/float64(p.scale), (y-float64(p.middle.Y))/float64(p.scale)
	through := vec{}.plus(cam.right, px).plus(cam.up, py)
	toEye := cam.toEye
	if !math.IsInf(cam.distance, 1) {
		toEye = vec{}.plus(cam.toEye, cam.distance).minus(through).unit()
	}
	point := func(t float64) vec {
		q := through.plus(toEye, t)
		for i := range q {
			q[i] = q[i]/extent[i] + 0.5
		}
		return q
	}
	const reach, stride = 1.0, 0.0005
	above, inside := false, false
	var planes []plane // in front, nearest first
	last := point(reach)
	for t := reach; t > -reach; t -= stride {
		q := point(t)
		for _, cut := range s.space.cuts {
			if (q[2] > cut.height) != (last[2] > cut.height) && q[0] >= 0 && q[0] <= 1 && q[1] >= 0 && q[1] <= 1 {
				planes = append(planes, cut)
			}
		}
		last = q
		h, ok := s.heightAt(q[0], q[1])
		now := q[2] > h
		if !ok {
			inside = false
			continue
		}
		if inside && now != above {
			return s.shown(q[2], planes), true
		}
		inside, above = true, now
	}
	return nil, false
}

// shown returns a test for the colour of a height seen through planes. A band
// of colour stands for heights half a band off, and its outline covers as much
// as a band of its neighbour.
func (s *surface) shown(height float64, planes []plane) func(color.RGBA) bool {
	return func(got color.RGBA) bool {
		for off := -1.5; off <= 1.5; off += 0.25 {
			for bright := 0.75; bright <= 1; bright += 0.02 {
				c := heightColor(height+off/colorBands, bright)
				for i := len(planes) - 1; i >= 0; i-- {
					c = over(color.NRGBAModel.Convert(translucent(planes[i].color)).(color.NRGBA), c)
				}
				if distance(c, got) <= 5 { // half a step of the brightness above, and rounding
					return true
				}
			}
		}
		return false
	}
}

func over(top color.NRGBA, below color.RGBA) color.RGBA {
	mix := func(a, b uint8) uint8 {
		return uint8((float64(a)*(255-float64(top.A)) + float64(b)*float64(top.A)) / 255)
	}
	return color.RGBA{mix(below.R, top.R), mix(below.G, top.G), mix(below.B, top.B), 255}
}

// heightAt returns the surface's height at a place: the quantile at each of the
// neighbouring sizes, and a straight line between.
func (s *surface) heightAt(x, share float64) (float64, bool) {
	if x < 0 || x > 1 || share < 0 || share > 1 {
		return 0, false
	}
	i := 1
	for s.space.position(s.sizes[i]) < x {
		i++
	}
	a, b := s.space.position(s.sizes[i-1]), s.space.position(s.sizes[i])
	t := (x - a) / (b - a)
	return ((1-t)*quantile(s.stairs[i-1], share) + t*quantile(s.stairs[i], share)) / s.space.top, true
}

func quantile(stair []step, share float64) float64 {
	for _, s := range stair {
		if share <= s.share {
			return s.height
		}
	}
	return stair[len(stair)-1].height
}

// TestCutHeight demands that a cut's plane is drawn at its distance on the
// axis, and meets the surface at the hit ratio.
func TestCutHeight(t *testing.T) {
	for _, log := range []bool{false, true} {
		axis := distanceAxis{log}
		s, err := newSurface(frame.Of(sweepLike("", 30, 40)), "n", axis)
		if err != nil {
			t.Fatal(err)
		}
		opt := SurfaceOptions{Size: "n", Log: log, Cuts: []Cut{{"L1", 600}}, View: View{}.orDefault()}
		s.space = commonSpace([]*surface{s}, axis, opt)
		wantHeight := 600 / (16000 * 1.04)
		if log {
			wantHeight = math.Log10(600) / (math.Log10(16001) * 1.04)
		}
		if got := s.space.cuts[0].height; math.Abs(got-wantHeight) > 1e-12 {
			t.Errorf("log %v: the cut is at %g of the axis, want %g", log, got, wantHeight)
		}
		canvas := vgimg.NewWith(vgimg.UseWH(300, 300), vgimg.UseDPI(72))
		c := draw.New(canvas)
		s.Plot(c, nil)
		corner := fit(c.Rectangle, s.space.camera, s.space.labels()).at(vec{0, 0, wantHeight})
		found := false
		for d := -2; d <= 2; d++ {
			found = found || distance(toRGBA(canvas.Image().At(int(corner.X), 300-int(corner.Y)+d)), cutColors[0]) < 110
		}
		if !found {
			t.Errorf("log %v: the plane's near corner is not at %v", log, corner)
		}
		// 74% + 16% of the accesses are below 10 n <= 400 blocks, all others
		// above 900: the line of the hit ratio is at 0.9 for every size.
		sl := &s.scene(300, 300).slabs[0]
		for k := range len(sl.strips) - 1 {
			seg := crossing(sl.riser(k), s.space.cuts[0].height, axis.hits)
			if at := sl.strips[k].to; (math.Abs(at-0.9) < 1e-9) != (len(seg) == 2) {
				t.Errorf("log %v: riser at share %g meets the cut in %v", log, at, seg)
			}
		}
	}
}

// TestCutAtTheDistance demands that an access at distance d misses in d blocks
// and hits in d + 1, on either axis.
func TestCutAtTheDistance(t *testing.T) {
	for _, log := range []bool{false, true} {
		axis := distanceAxis{log}
		for _, d := range []float64{1, 7, 1023, 1024, 99999} {
			if axis.hits(axis.at(d), axis.cut(d)) || !axis.hits(axis.at(d), axis.cut(d+1)) {
				t.Errorf("log %v: distance %g against as many blocks and one more", log, d)
			}
		}
	}
}

func TestHeightColorsGrowLighter(t *testing.T) {
	last := 0.0
	for i := range 101 {
		c := heightColor(float64(i)/100, 1)
		// Rec. 709 luma, for a reader who sees no hue.
		if luma := 0.2126*float64(c.R) + 0.7152*float64(c.G) + 0.0722*float64(c.B); luma <= last {
			t.Fatalf("height %d%% is not lighter than the one below: %g, %g", i, luma, last)
		} else {
			last = luma
		}
	}
}

func TestLabelsStayInside(t *testing.T) {
	s, err := newSurface(frame.Of(sweepLike("", 30, 40)), "n", distanceAxis{})
	if err != nil {
		t.Fatal(err)
	}
	r := vg.Rectangle{Min: vg.Point{X: 20, Y: 30}, Max: vg.Point{X: 320, Y: 280}}
	for _, v := range []View{{}, {Azimuth: 0, Elevation: 20}, {Azimuth: 90, Elevation: 70}, {Azimuth: 160, Elevation: 15, Distance: 1}} {
		sp := commonSpace([]*surface{s}, distanceAxis{}, SurfaceOptions{Size: "n", View: v.orDefault(), Cuts: []Cut{{"L1", 8000}}})
		edges := sp.labels()
		p, texts := fit(r, sp.camera, edges), 0
		for _, e := range edges {
			for _, l := range e.labels {
				box, at := l.style.Rectangle(l.text), p.at(l.anchor).Add(l.offset)
				texts++
				if lo, hi := at.Add(box.Min), at.Add(box.Max); lo.X < r.Min.X-0.01 || lo.Y < r.Min.Y-0.01 || hi.X > r.Max.X+0.01 || hi.Y > r.Max.Y+0.01 {
					t.Errorf("view %v: %q is outside: %v to %v", v, l.text, lo, hi)
				}
			}
		}
		if texts < 12 {
			t.Errorf("view %v: %d labels", v, texts)
		}
	}
}
