package amd64

// prefixes reads all up to the opcode, and returns the map of that.
func (c *cursor) prefixes(in *Inst, e *extension) int {
	b := c.legacyPrefixes(in)
	if b := in.REX; b != 0 {
		in.W = b&8 != 0
		e.r, e.x, e.b = b>>2&1, b>>1&1, b&1
	}
	switch b {
	case 0xc5:
		return c.vex2(in, e)
	case 0xc4:
		return c.vex3(in, e, VEX)
	case 0x62:
		return c.evex(in, e)
	case 0x8f:
		if c.at < len(c.code) && c.code[c.at]&31 >= 8 {
			return c.vex3(in, e, XOP)
		}
	}
	switch {
	case in.Rep == 0xf3:
		in.PP = 2
	case in.Rep == 0xf2:
		in.PP = 3
	case in.Size16:
		in.PP = 1
	}
	m := legacy0
	if b == 0x0f {
		m = legacy1
		switch b = c.next(); b {
		case 0x38:
			m = legacy2
			b = c.next()
		case 0x3a:
			m = legacy3
			b = c.next()
		}
	}
	in.Map, in.Opcode, in.OpcodeOff = uint8(m), b, uint8(c.at-1)
	return m
}

// legacyPrefixes reads the legacy prefixes and REX, which counts only if it is
// the last of them, and returns the first byte that is neither.
func (c *cursor) legacyPrefixes(in *Inst) byte {
	for {
		b := c.next()
		if b&0xf0 == 0x40 {
			in.REX = b
			continue
		}
		rex := in.REX
		in.REX = 0
		switch b {
		case 0x66:
			in.Size16 = true
		case 0x67:
			in.Address32 = true
		case 0xf2, 0xf3:
			in.Rep = b
		case 0xf0:
			in.Lock = true
		case 0x2e, 0x36, 0x3e, 0x26: // ignored
		case 0x64:
			in.Segment = FS
		case 0x65:
			in.Segment = GS
		default:
			in.REX = rex
			in.PrefixLen = uint8(c.at - 1)
			return b
		}
	}
}

// plain makes sure that no prefix stands before VEX, EVEX or XOP that is not
// allowed there.
func (c *cursor) plain(in *Inst) {
	if in.REX != 0 || in.Rep != 0 || in.Lock || in.Size16 {
		c.undef()
	}
}

func (c *cursor) vex2(in *Inst, e *extension) int {
	c.plain(in)
	v := c.next()
	in.Encoding, in.Map = VEX, 1
	e.r = ^v >> 7 & 1
	c.vexEnd(in, v)
	return vex1
}

func (c *cursor) vex3(in *Inst, e *extension, enc Encoding) int {
	c.plain(in)
	v := c.next()
	in.Encoding, in.Map = enc, v&31
	e.r, e.x, e.b = ^v>>7&1, ^v>>6&1, ^v>>5&1
	v = c.next()
	in.W = v&0x80 != 0
	c.vexEnd(in, v)
	switch {
	case enc == VEX && in.Map >= 1 && in.Map <= 3:
		return vex1 + int(in.Map) - 1
	case enc == XOP && in.Map >= 8 && in.Map <= 10 && in.PP == 0:
		return xop8 + int(in.Map) - 8
	}
	c.undef()
	return 0
}

func (c *cursor) vexEnd(in *Inst, v byte) {
	in.VVVV = ^v >> 3 & 15
	in.VectorLength = v >> 2 & 1
	in.PP = v & 3
	in.OpcodeOff = uint8(c.at)
	in.Opcode = c.next()
}

var evexMaps = [8]int{1: evex1, 2: evex2, 3: evex3, 5: evex5, 6: evex6}

func (c *cursor) evex(in *Inst, e *extension) int {
	c.plain(in)
	v, v2, v3 := c.next(), c.next(), c.next()
	in.Encoding, in.Map = EVEX, v&7
	m := evexMaps[in.Map]
	if m == 0 || v&8 != 0 || v2&4 == 0 {
		c.undef()
	}
	e.r, e.x, e.b, e.r2 = ^v>>7&1, ^v>>6&1, ^v>>5&1, ^v>>4&1
	in.W = v2&0x80 != 0
	in.VVVV = ^v2>>3&15 | ^v3<<1&16
	in.PP = v2 & 3
	in.Zeroing = v3&0x80 != 0
	in.Broadcast = v3&0x10 != 0
	in.Masking = v3 & 7
	in.VectorLength = v3 >> 5 & 3
	in.OpcodeOff = uint8(c.at)
	in.Opcode = c.next()
	if in.Broadcast && c.at < len(c.code) && c.code[c.at] >= 0xc0 {
		in.VectorLength = 2 // L'L is a rounding mode
	}
	if in.VectorLength == 3 {
		c.undef()
	}
	return m
}
