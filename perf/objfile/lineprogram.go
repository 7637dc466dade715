package objfile

import (
	"fmt"
	"math"
)

// lineDecoder decodes .debug_line, versions 2 to 5 (DWARF 5, section 6.2). It
// does not use .debug_info, so up to version 4 a relative name stays relative:
// only .debug_info records the compiler's directory.
type lineDecoder struct {
	str, lineStr string
	keep         func(low uint64) bool // whether a sequence from low is of interest

	files     []lineFile
	offsets   map[uint64]fileRange // of the tables
	sequences [][]lineRow          // none empty; by ascending address, the last row ends it
}

// lineHeader is what a line number program needs of its header.
type lineHeader struct {
	version       uint16
	wide          bool // 64-bit DWARF
	minInst       uint64
	maxOps        uint64
	lineBase      int64
	lineRange     uint64
	opcodeBase    uint8
	opcodeLengths []byte // of opcode i at i-1
	firstFile     int    // index in lineDecoder.files of file number 0
	fileCount     int
}

// tables decodes all tables. If one cannot be decoded it is left out, the error
// is recorded, and decoding goes on after the length in that table's header.
func (d *lineDecoder) tables(section string) error {
	c := cursor{data: section}
	var first error
	d.offsets = make(map[uint64]fileRange)
	for len(c.data) > 0 {
		at := len(section) - len(c.data)
		unit, wide := c.unit()
		if c.bad {
			return fmt.Errorf(".debug_line+%#x: table reaches past the end of the section", at)
		}
		files := len(d.files)
		if err := d.table(unit, wide); err != nil && first == nil {
			first = fmt.Errorf(".debug_line+%#x: %w", at, err)
		}
		d.offsets[uint64(at)] = fileRange{files, len(d.files) - files}
	}
	return first
}

func (d *lineDecoder) table(unit string, wide bool) error {
	c := cursor{data: unit}
	h := lineHeader{version: c.uint16(), wide: wide, maxOps: 1, firstFile: len(d.files)}
	if h.version < 2 || h.version > 5 {
		return fmt.Errorf("unknown version %d", h.version)
	}
	if h.version >= 5 {
		if size := c.byte(); size != 8 {
			return fmt.Errorf("addresses of %d bytes, not 8", size)
		}
		c.byte() // segment selector size
	}
	head := cursor{data: c.take(c.offset(wide))}
	if c.bad {
		return fmt.Errorf("header reaches past the end of the table")
	}
	if err := d.header(&h, &head); err != nil {
		return err
	}
	return d.program(&h, &c)
}

func (d *lineDecoder) header(h *lineHeader, c *cursor) error {
	h.minInst = uint64(c.byte())
	if h.version >= 4 {
		h.maxOps = uint64(c.byte())
	}
	c.byte() // default_is_stmt
	h.lineBase = int64(int8(c.byte()))
	h.lineRange = uint64(c.byte())
	h.opcodeBase = c.byte()
	h.opcodeLengths = []byte(c.take(uint64(max(h.opcodeBase, 1) - 1)))
	switch {
	case c.bad:
		return fmt.Errorf("header is truncated")
	case h.maxOps != 1:
		return fmt.Errorf("%d operations an instruction, not 1", h.maxOps)
	case h.lineRange == 0:
		return fmt.Errorf("line range 0")
	}
	var err error
	if h.version >= 5 {
		err = d.files5(h, c)
	} else {
		err = d.files2(c)
	}
	h.fileCount = len(d.files) - h.firstFile
	return err
}

// files2 reads the lists of versions 2 to 4, which number files from 1 and
// leave out directory 0, the compiler's.
func (d *lineDecoder) files2(c *cursor) error {
	dirs := []string{""}
	for {
		s := c.string()
		if c.bad {
			return fmt.Errorf("list of directories does not end")
		}
		if s == "" {
			break
		}
		dirs = append(dirs, s)
	}
	d.files = append(d.files, lineFile{})
	for {
		s := c.string()
		if c.bad {
			return fmt.Errorf("list of files does not end")
		}
		if s == "" {
			return nil
		}
		dir := c.uleb()
		c.uleb() // time of modification
		c.uleb() // size
		if dir >= uint64(len(dirs)) {
			return fmt.Errorf("file %q in directory %d of %d", s, dir, len(dirs))
		}
		d.files = append(d.files, lineFile{dir: dirs[dir], name: s})
	}
}

// files5 reads the tables of version 5.
func (d *lineDecoder) files5(h *lineHeader, c *cursor) error {
	var dirs []string
	err := d.entries(h, c, func(name string, _ uint64) error {
		dirs = append(dirs, name)
		return nil
	})
	if err != nil {
		return fmt.Errorf("directories: %w", err)
	}
	err = d.entries(h, c, func(name string, dir uint64) error {
		if dir >= uint64(len(dirs)) {
			return fmt.Errorf("%q in directory %d of %d", name, dir, len(dirs))
		}
		d.files = append(d.files, lineFile{comp: dirs[0], dir: dirs[dir], name: name})
		return nil
	})
	if err != nil {
		return fmt.Errorf("files: %w", err)
	}
	return nil
}

// lineState holds the registers of the state machine that matter here (DWARF 5,
// section 6.2.2).
type lineState struct {
	addr uint64
	file uint64
	line int64
}

// program runs a line number program (DWARF 5, section 6.2.5).
func (d *lineDecoder) program(h *lineHeader, c *cursor) error {
	s := lineState{file: 1, line: 1}
	var seq []lineRow
	for len(c.data) > 0 && !c.bad {
		op := c.byte()
		switch {
		case op >= h.opcodeBase: // special: advance both, append a row
			adj := uint64(op - h.opcodeBase)
			s.addr += adj / h.lineRange * h.minInst
			s.line += h.lineBase + int64(adj%h.lineRange)
			seq = d.row(h, seq, s)
		case op == 0:
			ended := d.extended(c, &s)
			if ended {
				d.end(seq, s)
				seq, s = nil, lineState{file: 1, line: 1}
			}
		default:
			seq = d.standard(h, c, &s, seq, op)
		}
	}
	if c.bad {
		return fmt.Errorf("line number program is truncated")
	}
	return nil
}

// Standard and extended opcodes (DWARF 5, sections 6.2.5.2 and 6.2.5.3).
const (
	opCopy        = 1
	opAdvancePC   = 2
	opAdvanceLine = 3
	opSetFile     = 4
	opConstAddPC  = 8
	opFixedAddPC  = 9

	opEndSequence = 1
	opSetAddress  = 2
)

func (d *lineDecoder) standard(h *lineHeader, c *cursor, s *lineState, seq []lineRow, op byte) []lineRow {
	switch op {
	case opCopy:
		return d.row(h, seq, *s)
	case opAdvancePC:
		s.addr += c.uleb() * h.minInst
	case opAdvanceLine:
		s.line += c.sleb()
	case opSetFile:
		s.file = c.uleb()
	case opConstAddPC:
		s.addr += uint64(255-h.opcodeBase) / h.lineRange * h.minInst
	case opFixedAddPC:
		s.addr += uint64(c.uint16())
	default: // its operands are that many LEB128 numbers
		for range h.opcodeLengths[op-1] {
			c.uleb()
		}
	}
	return seq
}

func (d *lineDecoder) extended(c *cursor, s *lineState) (ended bool) {
	body := cursor{data: c.take(c.uleb())}
	switch op := body.byte(); op {
	case opEndSequence:
		return true
	case opSetAddress:
		s.addr = body.uint64()
		c.bad = c.bad || body.bad
	}
	return false
}

// row appends a row. The last of several rows at one address counts.
func (d *lineDecoder) row(h *lineHeader, seq []lineRow, s lineState) []lineRow {
	r := lineRow{addr: s.addr, file: -1}
	if s.file < uint64(h.fileCount) && s.line > 0 && s.line <= math.MaxInt32 {
		if i := h.firstFile + int(s.file); d.files[i].name != "" {
			r.file, r.line = int32(i), int32(s.line)
		}
	}
	if n := len(seq); n > 0 && seq[n-1].addr == r.addr {
		seq[n-1] = r
		return seq
	}
	return append(seq, r)
}

// end closes a sequence. It discards one whose addresses do not ascend or whose
// code the linker dropped.
func (d *lineDecoder) end(seq []lineRow, s lineState) {
	if len(seq) == 0 || !d.keep(seq[0].addr) {
		return
	}
	last := lineRow{addr: s.addr, file: -1}
	if n := len(seq); seq[n-1].addr == s.addr {
		seq[n-1] = last
	} else {
		seq = append(seq, last)
	}
	for i := 1; i < len(seq); i++ {
		if seq[i].addr <= seq[i-1].addr {
			return
		}
	}
	d.sequences = append(d.sequences, seq)
}
