package figure

import "image/color"

// shades is a palette from nearly white to dark blue.
type shades struct{}

// Colors implements palette.Palette.
func (shades) Colors() []color.Color {
	const n = 64
	list := make([]color.Color, n)
	for i := range list {
		t := float64(i) / (n - 1)
		mix := func(light, dark float64) uint8 { return uint8(light + t*(dark-light)) }
		list[i] = color.RGBA{mix(0xf2, 0x00), mix(0xf6, 0x2a), mix(0xfa, 0x5c), 0xff}
	}
	return list
}
