package figure

import (
	"image/color"
	"math"
)

// palette is Okabe and Ito's (2008), distinguishable with any kind of colour
// vision.
var palette = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermillion
	{0x00, 0x9e, 0x73, 0xff}, // bluish green
	{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x56, 0xb4, 0xe9, 0xff}, // sky blue
	{0x00, 0x00, 0x00, 0xff}, // black
}

func paletteAt(i int) color.RGBA { return palette[i%len(palette)] }

// shadeOf returns the colour of a share from 0, nearly white, to 1, dark blue.
func shadeOf(share float64) color.RGBA {
	mix := func(light, dark float64) uint8 { return uint8(light + share*(dark-light)) }
	return color.RGBA{mix(0xf2, 0x00), mix(0xf6, 0x2a), mix(0xfa, 0x5c), 0xff}
}

// heightColors runs from dark to light along hues that are distinguishable with
// any kind of colour vision: nine points of van der Walt and Smith's viridis
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

// tint returns a lighter colour, on which a black line is visible.
func tint(c color.RGBA) color.RGBA {
	half := func(v uint8) uint8 { return v/2 + 0x7f }
	return color.RGBA{half(c.R), half(c.G), half(c.B), 0xff}
}
