package figure

import (
	"image/color"
	"math"
)

// heightColors runs from dark to light along hues that people with any kind of
// colour vision tell apart: nine points of van der Walt and Smith's viridis
// (2015, in the public domain).
var heightColors = []color.RGBA{
	{0x44, 0x01, 0x54, 0xff},
	{0x47, 0x2d, 0x7b, 0xff},
	{0x3b, 0x52, 0x8b, 0xff},
	{0x2c, 0x72, 0x8e, 0xff},
	{0x21, 0x91, 0x8c, 0xff},
	{0x28, 0xae, 0x80, 0xff},
	{0x5e, 0xc9, 0x62, 0xff},
	{0xad, 0xdc, 0x30, 0xff},
	{0xfd, 0xe7, 0x25, 0xff},
}

// heightColor returns the colour of a height from 0 to 1, times a brightness
// from 0 to 1.
func heightColor(height, brightness float64) color.RGBA {
	t := math.Min(math.Max(height, 0), 1) * float64(len(heightColors)-1)
	i := min(int(t), len(heightColors)-2)
	a, b, t := heightColors[i], heightColors[i+1], t-float64(i)
	mix := func(a, b uint8) uint8 {
		return uint8(math.Round(brightness * ((1-t)*float64(a) + t*float64(b))))
	}
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff}
}
