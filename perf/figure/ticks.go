package figure

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"
)

// decades ticks an axis of decimal logarithms at whole powers of ten, labelled
// with the powers, at most eight of them.
type decades struct{}

// Ticks implements plot.Ticker.
func (decades) Ticks(lo, hi float64) []plot.Tick {
	stride := math.Max(1, math.Ceil((hi-lo)/8))
	var ticks []plot.Tick
	for e := math.Ceil(lo); e <= hi; e++ {
		label := ""
		if math.Mod(e, stride) == 0 {
			label = fmt.Sprintf("%g", math.Pow(10, e))
		}
		ticks = append(ticks, plot.Tick{Value: e, Label: label})
	}
	return ticks
}

// linearTicks are four to nine ticks at multiples of 1, 2 or 5 times a power of
// ten, each with a label.
type linearTicks struct{}

// Ticks implements plot.Ticker.
func (linearTicks) Ticks(lo, hi float64) []plot.Tick {
	if !(hi > lo) || math.IsInf(hi-lo, 0) {
		return plot.DefaultTicks{}.Ticks(lo, hi)
	}
	step := math.Pow(10, math.Floor(math.Log10(hi-lo)))
	for _, finer := range []float64{2, 2.5, 2} { // to 1/2, 1/5, 1/10 of the power
		if (hi-lo)/step >= 4 {
			break
		}
		step /= finer
	}
	var ticks []plot.Tick
	for i := math.Ceil(lo / step); i*step <= hi; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step, 'g', 6, 64)})
	}
	return ticks
}

// upTo ticks an axis up to a value below its end.
type upTo struct{ top float64 }

// Ticks implements plot.Ticker.
func (u upTo) Ticks(lo, _ float64) []plot.Tick { return linearTicks{}.Ticks(lo, u.top) }

// wholeTicks ticks an axis at whole numbers, at most about ten of them.
func wholeTicks(lo, hi float64) []plot.Tick {
	step := math.Max(1, math.Ceil((hi-lo)/10))
	var ticks []plot.Tick
	for v := math.Ceil(lo/step) * step; v <= hi; v += step {
		ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%g", v+0)})
	}
	return ticks
}

// slantLabels rotates the labels of an axis, so that long names fit side by
// side.
func slantLabels(a *plot.Axis) {
	a.Tick.Label.Rotation, a.Tick.Label.XAlign, a.Tick.Label.YAlign = 0.6, draw.XRight, draw.YCenter
}
