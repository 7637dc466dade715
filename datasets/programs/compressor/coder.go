package main

// model has the chance of each bit to be 0, of 2^12: by what the two numbers
// before were, and the bits of the number before this one with a 1 before them.
type model [9][256]uint16

const (
	chanceBits = 12
	learning   = 5
)

func (m *model) reset() {
	for i := range m {
		for k := range m[i] {
			m[i][k] = 1 << (chanceBits - 1)
		}
	}
}

// context is where a number's chances are.
func context(one, two byte) int { return 3*min(int(one), 2) + min(int(two), 2) }

// encoder writes bits by their chances: each takes its share of the range.
type encoder struct {
	model
	out []byte
	n   int    // bytes written
	low uint64 // of the range; bit 32 is a carry
	rng uint32
}

// block codes numbers and returns how many bytes they took.
func (e *encoder) block(numbers []byte) int {
	e.reset()
	e.n, e.low, e.rng = 0, 0, 1<<32-1
	var one, two byte
	for _, v := range numbers {
		e.number(&e.model[context(one, two)], v)
		one, two = v, one
	}
	for range 4 {
		e.shift()
	}
	return e.n
}

func (e *encoder) number(chances *[256]uint16, v byte) {
	node := 1
	for shift := 7; shift >= 0; shift-- {
		bit := v >> shift & 1
		p := chances[node]
		bound := e.rng >> chanceBits * uint32(p)
		if bit == 0 {
			e.rng = bound
			chances[node] = p + (1<<chanceBits-p)>>learning
		} else {
			e.low += uint64(bound)
			e.rng -= bound
			chances[node] = p - p>>learning
		}
		for e.rng < 1<<24 {
			e.rng <<= 8
			e.shift()
		}
		node = node<<1 | int(bit)
	}
}

// shift writes the highest byte of the range's low end, after the carry.
func (e *encoder) shift() {
	if e.low>>32 != 0 {
		for i := e.n - 1; ; i-- {
			e.out[i]++
			if e.out[i] != 0 {
				break
			}
		}
	}
	e.out[e.n] = byte(e.low >> 24)
	e.n++
	e.low = e.low << 8 & (1<<32 - 1)
}

// decoder reads what an encoder wrote.
type decoder struct {
	model
	in   []byte
	n    int // bytes read
	rng  uint32
	code uint32 // less the range's low end
}

// block decodes as many numbers as dst holds.
func (d *decoder) block(dst, in []byte) {
	d.reset()
	d.in, d.n, d.rng, d.code = in, 0, 1<<32-1, 0
	for range 4 {
		d.shift()
	}
	var one, two byte
	for i := range dst {
		v := d.number(&d.model[context(one, two)])
		dst[i] = v
		one, two = v, one
	}
}

func (d *decoder) shift() {
	next := byte(0) // after the end
	if d.n < len(d.in) {
		next = d.in[d.n]
	}
	d.n++
	d.code = d.code<<8 | uint32(next)
}

func (d *decoder) number(chances *[256]uint16) byte {
	node := 1
	for node < 256 {
		p := chances[node]
		bound := d.rng >> chanceBits * uint32(p)
		if d.code < bound {
			d.rng = bound
			chances[node] = p + (1<<chanceBits-p)>>learning
			node <<= 1
		} else {
			d.code -= bound
			d.rng -= bound
			chances[node] = p - p>>learning
			node = node<<1 | 1
		}
		for d.rng < 1<<24 {
			d.rng <<= 8
			d.shift()
		}
	}
	return byte(node)
}
