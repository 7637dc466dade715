package objfile

import (
	"encoding/binary"
	"math"
	"strings"
)

// maxPathBytes bounds a file or directory name (Linux: PATH_MAX).
const maxPathBytes = 4096

// cursor reads from the front of data; a read past the end sets bad and returns
// zero.
type cursor struct {
	data string
	bad  bool
}

func (c *cursor) take(n uint64) string {
	if n > uint64(len(c.data)) {
		c.bad, c.data = true, ""
		return ""
	}
	s := c.data[:n]
	c.data = c.data[n:]
	return s
}

func (c *cursor) fixed(n uint64) []byte {
	var b [8]byte
	copy(b[:n], c.take(n))
	return b[:]
}

func (c *cursor) byte() byte     { return c.fixed(1)[0] }
func (c *cursor) uint16() uint16 { return binary.LittleEndian.Uint16(c.fixed(2)) }
func (c *cursor) uint32() uint32 { return binary.LittleEndian.Uint32(c.fixed(4)) }
func (c *cursor) uint64() uint64 { return binary.LittleEndian.Uint64(c.fixed(8)) }

func (c *cursor) offset(wide bool) uint64 {
	if wide {
		return c.uint64()
	}
	return uint64(c.uint32())
}

// unit takes a unit with its initial length (DWARF 5, section 7.4).
func (c *cursor) unit() (data string, wide bool) {
	n := uint64(c.uint32())
	if n == math.MaxUint32 {
		n, wide = c.uint64(), true
	}
	return c.take(n), wide
}

func (c *cursor) string() string {
	s := c.stringIn(c.data, 0)
	if !c.bad {
		c.take(uint64(len(s)) + 1)
	}
	return s
}

// stringIn returns the zero-terminated string at off in table.
func (c *cursor) stringIn(table string, off uint64) string {
	if off > uint64(len(table)) {
		c.bad = true
		return ""
	}
	table = table[off:]
	n := strings.IndexByte(table[:min(len(table), maxPathBytes+1)], 0)
	if n < 0 {
		c.bad = true
		return ""
	}
	return table[:n]
}

func (c *cursor) uleb() uint64 {
	var v uint64
	for shift := 0; ; shift += 7 {
		b := c.byte()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b&0x80 == 0 {
			return v
		}
	}
}

func (c *cursor) sleb() int64 {
	var v int64
	for shift := 0; ; shift += 7 {
		b := c.byte()
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		if b&0x80 == 0 {
			if shift+7 < 64 && b&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
}

// skipString skips a zero-terminated string of any length.
func (c *cursor) skipString() {
	n := strings.IndexByte(c.data, 0)
	c.take(uint64(n) + 1) // n < 0: all
	c.bad = c.bad || n < 0
}

// cutString returns the zero-terminated string at the front of s, and takes its
// length off the budget.
func cutString(s string, budget *int) (text string, ok bool) {
	n := strings.IndexByte(s[:min(len(s), max(*budget, 0)+1)], 0)
	if n < 0 {
		return "", false
	}
	*budget -= n
	return s[:n], true
}
