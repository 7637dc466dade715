package objfile

import (
	"cmp"
	"debug/elf"
	"slices"
	"sort"
	"sync"
)

// CallFrame says where a routine keeps what its caller needs while control is at
// one of its instructions. Registers have the numbers of DWARF.
type CallFrame struct {
	// The canonical frame address, the caller's stack pointer, is the value of the
	// register CFARegister plus CFAOffset.
	CFARegister uint64
	CFAOffset   int64

	// Return is the register that holds the return address, or has held it: Saved
	// then says where it is now.
	Return uint64

	// Saved are the registers that the routine has stored, by number.
	Saved []SavedRegister

	// Outermost is set where the return address is recorded as undefined: nothing
	// called this routine.
	Outermost bool
}

// SavedRegister is a register whose value for the caller lies in memory, at an offset
// from the canonical frame address.
type SavedRegister struct {
	Register uint64
	Offset   int64
}

// CallFrameAt returns the call frame at the instruction at pc, from .eh_frame or
// .debug_frame. It returns false if there is none, or one whose rules are
// expressions. The first use decodes the tables.
func (f *File) CallFrameAt(pc uint64) (CallFrame, bool) {
	f, base := f.partAt(pc)
	f.frames.once.Do(f.frames.decode)
	return f.frames.at(pc - base)
}

// frameTable answers CallFrameAt.
type frameTable struct {
	once  sync.Once
	file  *elf.File // nil once decoded
	spans []frameSpan
}

// frameSpan is an FDE (frame description entry): the rules for a range of code.
type frameSpan struct {
	from, to uint64
	common   *frameCommon
	program  string
}

// frameCommon is a CIE (common information entry), which FDEs share.
type frameCommon struct {
	codeAlign, back uint64 // back: the return address register
	dataAlign       int64
	encoding        byte // of addresses in FDEs
	augmented       bool
	program         string
}

// decode fills the table. Entries that make no sense are left out.
func (t *frameTable) decode() {
	defer func() { t.file = nil }()
	if s := t.file.Section(".eh_frame"); s != nil && s.Size <= maxDebugBytes {
		if data, err := s.Data(); err == nil {
			t.section(string(data), s.Addr, true)
		}
	}
	if data, err := debugSection(t.file, "frame"); err == nil {
		t.section(data, 0, false)
	}
	slices.SortStableFunc(t.spans, func(a, b frameSpan) int { return cmp.Compare(a.from, b.from) })
	t.spans = slices.CompactFunc(t.spans, func(a, b frameSpan) bool { return a.from == b.from })
}

// section decodes a section that is loaded at addr. In .eh_frame, an FDE refers to its
// CIE by the distance back; in .debug_frame, by its offset.
func (t *frameTable) section(data string, addr uint64, eh bool) {
	commons := make(map[uint64]*frameCommon) // by offset; nil if not understood
	for c := (cursor{data: data}); len(c.data) >= 4; {
		at := uint64(len(data) - len(c.data))
		entry, wide := c.unit()
		if c.bad || len(entry) < 4 {
			return // the end of .eh_frame has length 0
		}
		body := uint64(len(data)-len(c.data)) - uint64(len(entry))
		e := cursor{data: entry}
		id := e.offset(wide && !eh)
		switch {
		case eh && id == 0, !eh && (id == 0xffffffff || id == ^uint64(0)):
			commons[at] = readCommon(&e, eh)
		case eh:
			t.add(&e, commons[body-id], addr+body)
		default:
			t.add(&e, commons[id], 0)
		}
	}
}

// readCommon reads a CIE after its id, or returns nil.
func readCommon(c *cursor, eh bool) *frameCommon {
	version := c.byte()
	augmentation := c.string()
	if version == 4 {
		if size, segment := c.byte(), c.byte(); size != 8 || segment != 0 {
			return nil
		}
	}
	f := &frameCommon{codeAlign: c.uleb(), dataAlign: c.sleb()}
	if version == 1 {
		f.back = uint64(c.byte())
	} else {
		f.back = c.uleb()
	}
	if augmentation != "" {
		if !eh || augmentation[0] != 'z' {
			return nil
		}
		f.augmented = true
		a := cursor{data: c.take(c.uleb())}
		for _, kind := range augmentation[1:] {
			switch kind {
			case 'R':
				f.encoding = a.byte()
			case 'P':
				a.pointer(a.byte(), 0)
			case 'L':
				a.byte()
			}
		}
		if a.bad {
			return nil
		}
	}
	f.program = c.data
	if c.bad || f.codeAlign == 0 || f.codeAlign > 64 {
		return nil
	}
	return f
}

// add reads an FDE after its reference to a CIE. Its fields begin at addr + 4.
func (t *frameTable) add(c *cursor, common *frameCommon, addr uint64) {
	if common == nil {
		return
	}
	from, ok1 := c.pointer(common.encoding, addr+4)
	size, ok2 := c.pointer(common.encoding&0x0f, 0)
	if common.augmented {
		c.take(c.uleb())
	}
	if ok1 && ok2 && !c.bad && size > 0 && from+size > from {
		t.spans = append(t.spans, frameSpan{from, from + size, common, c.data})
	}
}

// pointer takes a pointer in one of the encodings of the Linux Standard Base (DW_EH_PE),
// which begins at addr. It returns false for an encoding that is not known.
func (c *cursor) pointer(encoding byte, addr uint64) (uint64, bool) {
	const relative, omitted = 0x10, 0xff
	if encoding == omitted || encoding&0x70 != 0 && encoding&0x70 != relative {
		return 0, false
	}
	var v uint64
	switch encoding & 0x0f {
	case 0, 4, 12:
		v = c.uint64()
	case 1:
		v = c.uleb()
	case 2:
		v = uint64(c.uint16())
	case 3:
		v = uint64(c.uint32())
	case 9:
		v = uint64(c.sleb())
	case 10:
		v = uint64(int64(int16(c.uint16())))
	case 11:
		v = uint64(int64(int32(c.uint32())))
	default:
		return 0, false
	}
	if encoding&0x70 == relative {
		v += addr
	}
	return v, !c.bad
}

// at returns the frame at pc.
func (t *frameTable) at(pc uint64) (CallFrame, bool) {
	i := sort.Search(len(t.spans), func(i int) bool { return t.spans[i].from > pc })
	if i == 0 || pc >= t.spans[i-1].to {
		return CallFrame{}, false
	}
	s := &t.spans[i-1]
	m := frameMachine{common: s.common, pc: pc, at: s.from}
	if !m.run(s.common.program) {
		return CallFrame{}, false
	}
	m.initial = m.row.clone()
	if !m.run(s.program) || m.row.expression || m.row.unknown[s.common.back] {
		return CallFrame{}, false
	}
	return m.frame(), true
}
