package objfile

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
)

// This file finds routines in .eh_frame, which a stripped program keeps because
// exceptions need it (Linux Standard Base, Core specification, section "Exception
// Frames"; DWARF 5, section 6.4). Only the ranges of code are read.

// Encodings of pointers (Linux Standard Base, "DWARF Exception Header Encoding").
const (
	encodingAbsolute = 0x00
	encodingUData4   = 0x03
	encodingUData8   = 0x04
	encodingSData4   = 0x0b
	encodingSData8   = 0x0c
	encodingOmit     = 0xff
	encodingRelative = 0x10 // to the address of the pointer
)

// frameSymbols returns a symbol for each range of code that .eh_frame describes.
// What is malformed or encoded otherwise ends the list.
func frameSymbols(ef *elf.File, image []byte, secs []Section) []symbol {
	s := ef.Section(".eh_frame")
	if s == nil {
		return nil
	}
	data, err := sectionBytes(s, image)
	if err != nil {
		return nil
	}
	r := frameReader{data: data, addr: s.Addr, encodings: make(map[uint64]byte)}
	var syms []symbol
	for {
		at, size, ok := r.next()
		if !ok {
			return syms
		}
		if s := sectionOf(secs, at); size > 0 && s != nil && !strings.HasPrefix(s.Name, ".plt") { // which has symbols of its own
			syms = append(syms, symbol{name: fmt.Sprintf("sub_%x", at), addr: at, size: size, rank: unnamed})
		}
	}
}

// unnamed is the rank of a symbol that was made up.
const unnamed = 3

type frameReader struct {
	data      []byte
	addr      uint64 // of data
	at        uint64 // offset of the next record
	encodings map[uint64]byte
}

// next returns the range of the next record: 0 bytes for one that describes no
// code.
func (r *frameReader) next() (at, size uint64, ok bool) {
	le := binary.LittleEndian
	if r.at+8 > uint64(len(r.data)) {
		return 0, 0, false
	}
	start := r.at
	n := uint64(le.Uint32(r.data[start:]))
	body := start + 4
	if n == 0 || n == 0xffffffff || n < 4 || body+n > uint64(len(r.data)) {
		return 0, 0, false // the end, or a record above 4 GiB
	}
	r.at = body + n
	id := uint64(le.Uint32(r.data[body:]))
	c := frameCursor{data: r.data[:r.at], at: body + 4}
	if id == 0 {
		r.encodings[start] = c.encoding()
		return 0, 0, !c.bad
	}
	enc, known := r.encodings[body-id]
	if !known || enc == encodingOmit {
		return 0, 0, known
	}
	here := c.at
	at = c.pointer(enc)
	size = c.pointer(enc & 0x0f &^ 0x08)
	if enc&0x70 == encodingRelative {
		at += r.addr + here
	}
	return at, size, !c.bad
}

type frameCursor struct {
	data []byte
	at   uint64
	bad  bool
}

func (c *frameCursor) byte() byte {
	if c.at >= uint64(len(c.data)) {
		c.bad = true
		return 0
	}
	c.at++
	return c.data[c.at-1]
}

func (c *frameCursor) uleb() uint64 {
	var v uint64
	for shift := uint(0); shift < 64; shift += 7 {
		b := c.byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	c.bad = true
	return 0
}

func (c *frameCursor) text() string {
	from := c.at
	for c.byte() != 0 { // past the end it is 0
	}
	if c.bad {
		return ""
	}
	return string(c.data[from : c.at-1])
}

// encoding reads a common record and returns how its ranges are encoded.
func (c *frameCursor) encoding() byte {
	version := c.byte()
	augmentation := c.text()
	if version == 4 {
		c.byte() // sizes of an address and of a segment
		c.byte()
	}
	c.uleb()
	c.uleb() // signed, of the same length
	if version == 1 {
		c.byte()
	} else {
		c.uleb()
	}
	if augmentation == "" {
		return encodingAbsolute
	}
	if augmentation[0] != 'z' {
		return encodingOmit
	}
	c.uleb()
	for _, a := range augmentation[1:] {
		switch a {
		case 'R':
			return c.byte()
		case 'L':
			c.byte()
		case 'P':
			c.pointer(c.byte())
		}
	}
	return encodingAbsolute
}

// pointer reads a pointer, without what it is relative to.
func (c *frameCursor) pointer(enc byte) uint64 {
	n := uint64(8)
	switch enc & 0x0f {
	case encodingUData4, encodingSData4:
		n = 4
	case encodingAbsolute, encodingUData8, encodingSData8:
	default:
		c.bad = true
	}
	if c.bad || c.at+n > uint64(len(c.data)) {
		c.bad = true
		return 0
	}
	b := c.data[c.at:]
	c.at += n
	switch {
	case n == 8:
		return binary.LittleEndian.Uint64(b)
	case enc&0x0f == encodingSData4:
		return uint64(int64(int32(binary.LittleEndian.Uint32(b))))
	}
	return uint64(binary.LittleEndian.Uint32(b))
}
