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
			label = amount(math.Pow(10, e))
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
	u := unitOf(math.Max(math.Abs(lo), math.Abs(hi)))
	for i := math.Ceil(lo / step); i*step <= hi; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: u.label(i * step)})
	}
	return ticks
}

// unit is a thousand, or a power of it, in which the labels of an axis are written:
// 0.5M, 1M, 1.5M.
type unit struct {
	value float64
	name  string
}

// units are what large numbers are written in.
var units = []unit{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}

// inUnits is the number from which on the labels of an axis have a unit.
const inUnits = 1e5

// unitOf returns the unit of an axis whose numbers reach v.
func unitOf(v float64) unit {
	if v >= inUnits && v < 1e15 {
		for _, u := range units {
			if v >= u.value {
				return u
			}
		}
	}
	return unit{1, ""}
}

func (u unit) label(v float64) string {
	if v == 0 {
		return "0"
	}
	return strconv.FormatFloat(v/u.value, 'g', 6, 64) + u.name
}

// amount writes a number of a logarithmic axis: 1k, 10k, 100k, 1M.
func amount(v float64) string {
	if v < 1e3 || v >= 1e15 {
		return fmt.Sprintf("%g", v)
	}
	for _, u := range units {
		if v >= u.value*(1-1e-9) {
			return u.label(v)
		}
	}
	return fmt.Sprintf("%g", v)
}

// threeDigits writes a number with three significant digits: 0.25, 44, 2820, 12.7k.
func threeDigits(v float64) string {
	short := func(v float64) string {
		if v == 0 {
			return "0"
		}
		least := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-2)
		return strconv.FormatFloat(math.Round(v/least)*least, 'g', 6, 64)
	}
	if a := math.Abs(v); a >= 1e4 && a < 1e15 {
		for _, u := range units {
			if a >= u.value {
				return short(v/u.value) + u.name
			}
		}
	}
	return short(v)
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
