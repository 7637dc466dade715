package spmv

import "math"

// The energy of a cache access is derived here, in the way of CACTI (bit lines,
// word lines and sense amplifiers of the ways read in parallel, tags, and wires
// across the array), from a few constants of a 90 nm process of the paper's
// time. They are rounded, not fitted to the output of a tool: they give trends
// with size and ways, not the last 20%.
const (
	process    = 90.0 // nm
	volts      = 1.2
	swing      = 0.2     // of a bit line when it is read, V
	cellFarads = 0.8e-15 // that a cell adds to its bit line
	gateFarads = 1.0e-15 // that a cell adds to its word line, its wire too
	senseJ     = 30e-15  // of a sense amplifier with its output
	wireFarads = 0.25e-9 // a metre, repeaters included: 0.25 fF/µm
	cellMetres = 1.1e-6  // side of a cell, periphery included

	arrayRows    = 128 // cells on a bit line at most; longer ones are divided
	columnsMuxed = 4   // columns that share a sense amplifier
	wordBits     = 64
	addressBits  = 32
	activity     = 0.5 // share of wires that change
)

// AccessJoules returns the energy of reading or writing one word of 8 bytes of a
// cache: all ways' data and tags are read at once.
func AccessJoules(bytes, lineBytes, ways int) float64 {
	sets := bytes / lineBytes / ways
	rows := float64(min(arrayRows, max(sets, 1)))
	read := func(bits float64) float64 {
		columns := bits * columnsMuxed
		bitLines := columns * rows * cellFarads * volts * swing
		wordLine := columns * gateFarads * volts * volts
		return bitLines + wordLine + bits*senseJ
	}
	tagBits := float64(addressBits) - math.Log2(float64(sets)) - math.Log2(float64(lineBytes)) + 2 // valid, dirty
	bits := 8*float64(bytes) + tagBits*float64(sets*ways)
	across := math.Sqrt(bits) * cellMetres // address to the middle, data back
	wires := (wordBits + addressBits) * across * wireFarads * volts * volts * activity
	// A tag array has no column multiplexers: all that is read is compared.
	tags := tagBits * (rows*cellFarads*volts*swing + gateFarads*volts*volts + senseJ)
	return float64(ways)*(read(wordBits)+tags) + wires
}

// LineJoules returns the energy of writing a line into a cache, or of reading
// one out: one word at a time, of one way.
func LineJoules(bytes, lineBytes int) float64 {
	return AccessJoules(bytes, lineBytes, 1) * float64(lineBytes) / 8
}
