package objfile

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"slices"
)

// infoDecoder finds the inlined calls in .debug_info, versions 2 to 5 (DWARF
// 5, sections 3.3.8 and 7.5). Budgets bound the data that several places may
// refer to and that it therefore reads repeatedly.
type infoDecoder struct {
	info, abbrev, str, lineStr, strOffsets, addr, ranges, rnglists string

	lines *lineTable
	code  []Section
	err1  error // of sections

	abbrevs      map[uint64]*abbrevTable // by offset
	abbrevBudget int                     // bytes of .debug_abbrev that may still be read
	emptyBudget  int                     // attributes without bytes of their own that may still be read
	rangeBudget  int                     // bytes of range lists that may still be read
	nameBudget   int                     // bytes of names that may still be read

	unit     infoUnit
	routines []infoRoutine // by ascending offset
	origins  []uint64      // by node: the offset of the routine that was called
	nodes    []inlineNode
	spans    []inlineSpan
	begins   []beginning
	tooDeep  bool
}

// beginning is where code of a routine begins: index in infoDecoder.routines.
type beginning struct {
	addr    uint64
	routine int
}

// infoUnit is the part of a unit's header and root entry that its other entries
// depend on.
type infoUnit struct {
	at      uint64 // offset of its header
	version uint16
	wide    bool // 64-bit DWARF
	low     uint64
	strOffsetsBase,
	addrBase,
	rnglistsBase uint64
	files fileRange
}

// infoRoutine is a DW_TAG_subprogram: its names, and the entry that it
// completes.
type infoRoutine struct {
	at            uint64
	name, linkage text
	from          uint64      // DW_AT_abstract_origin or DW_AT_specification; 0 for none
	declared      declaration // line 0: of no file
}

// text is the location of a name that has not been read yet.
type text struct {
	in string // the section, empty for no name
	at uint64
}

func newInfoDecoder(ef *elf.File, info string, lines *lineTable, code []Section) *infoDecoder {
	d := &infoDecoder{info: info, lines: lines, code: code, abbrevs: make(map[uint64]*abbrevTable)}
	for _, s := range []struct {
		name string
		data *string
	}{
		{"abbrev", &d.abbrev},
		{"str", &d.str},
		{"line_str", &d.lineStr},
		{"str_offsets", &d.strOffsets},
		{"addr", &d.addr},
		{"ranges", &d.ranges},
		{"rnglists", &d.rnglists},
	} {
		data, err := debugSection(ef, s.name)
		*s.data, d.err1 = data, errors.Join(d.err1, err)
	}
	d.setBudgets()
	return d
}

// setBudgets sets budgets that fit what linkers do: units may share
// abbreviations and names, but not range lists.
func (d *infoDecoder) setBudgets() {
	const slack = 4096
	d.abbrevBudget = 4*len(d.abbrev) + slack
	d.emptyBudget = 8*len(d.info) + slack
	d.rangeBudget = 4*(len(d.ranges)+len(d.rnglists)) + slack
	d.nameBudget = 64*(len(d.str)+len(d.info)) + slack
}

// decode decodes all units. If one cannot be decoded it records the error and
// goes on after the length in that unit's header.
func (d *infoDecoder) decode() error {
	err := d.err1
	c := cursor{data: d.info}
	for len(c.data) > 0 {
		at := uint64(len(d.info) - len(c.data))
		unit, wide := c.unit()
		if c.bad {
			err = errors.Join(err, fmt.Errorf(".debug_info+%#x: unit reaches past the end of the section", at))
			break
		}
		d.unit = infoUnit{at: at, wide: wide}
		if e := d.walkUnit(unit); e != nil && err == nil {
			err = fmt.Errorf(".debug_info+%#x: %w", at, e)
		}
	}
	d.setNames()
	if d.tooDeep && err == nil {
		err = fmt.Errorf(".debug_info: inlined calls deeper than %d", maxInlineDepth)
	}
	return err
}

// Unit types (DWARF 5, section 7.5.1).
const (
	unitType         = 2
	unitSkeleton     = 4
	unitSplitCompile = 5
	unitSplitType    = 6
)

func (d *infoDecoder) walkUnit(unit string) error {
	c := cursor{data: unit}
	u := &d.unit
	u.version = c.uint16()
	if u.version < 2 || u.version > 5 {
		return fmt.Errorf("unknown version %d", u.version)
	}
	var abbrevAt uint64
	var addrSize byte
	if u.version >= 5 {
		kind := c.byte()
		addrSize = c.byte()
		abbrevAt = c.offset(u.wide)
		switch kind {
		case unitType, unitSplitType:
			return nil // of types only
		case unitSkeleton, unitSplitCompile:
			c.take(8)
		}
	} else {
		abbrevAt = c.offset(u.wide)
		addrSize = c.byte()
	}
	switch {
	case c.bad:
		return fmt.Errorf("header is truncated")
	case addrSize != 8:
		return fmt.Errorf("addresses of %d bytes, not 8", addrSize)
	}
	table, err := d.abbreviations(abbrevAt)
	if err != nil {
		return err
	}
	return d.entries(&c, table, u.at+headerBytes(u.wide)+uint64(len(unit)))
}

// headerBytes is the size of an initial length.
func headerBytes(wide bool) uint64 {
	if wide {
		return 12
	}
	return 4
}

// Tags and attributes (DWARF 5, sections 7.5.3 and 7.5.4).
const (
	tagInlined    = 0x1d
	tagSubprogram = 0x2e

	attrName           = 0x03
	attrStmtList       = 0x10
	attrLow            = 0x11
	attrHigh           = 0x12
	attrAbstractOrigin = 0x31
	attrDeclFile       = 0x3a
	attrDeclLine       = 0x3b
	attrSpecification  = 0x47
	attrRanges         = 0x55
	attrCallFile       = 0x58
	attrCallLine       = 0x59
	attrLinkageName    = 0x6e
	attrStrOffsetsBase = 0x72
	attrAddrBase       = 0x73
	attrRnglistsBase   = 0x74
	attrMIPSLinkage    = 0x2007
)

// entries walks the tree of a unit whose bytes end at the offset end.
func (d *infoDecoder) entries(c *cursor, table *abbrevTable, end uint64) error {
	var inside []int32 // by level: the inlined call that the entries there are in
	node := int32(-1)
	for first := true; len(c.data) > 0; {
		at := end - uint64(len(c.data))
		code := c.uleb()
		if code == 0 {
			if len(inside) == 0 {
				continue // padding
			}
			node, inside = inside[len(inside)-1], inside[:len(inside)-1]
			continue
		}
		a := table.at(code)
		if a == nil {
			return fmt.Errorf("entry at %#x has the unknown abbreviation %d", at, code)
		}
		values, err := d.attributes(c, a, first)
		if err != nil {
			return fmt.Errorf("entry at %#x: %w", at, err)
		}
		within := node
		switch {
		case first:
			d.setUnit(values)
		case a.tag == tagSubprogram:
			within, err = -1, d.subprogram(values, at)
		case a.tag == tagInlined:
			within, err = d.inlined(values, node)
		}
		if err != nil {
			return fmt.Errorf("entry at %#x: %w", at, err)
		}
		first = false
		if a.children {
			inside = append(inside, node)
			node = within
		}
	}
	return nil
}

// setUnit copies the attributes of a unit's own entry that its other entries need.
func (d *infoDecoder) setUnit(v *infoValues) {
	u := &d.unit
	u.strOffsetsBase, u.addrBase, u.rnglistsBase = v.strOffsetsBase, v.addrBase, v.rnglistsBase
	if v.hasLow {
		u.low, _ = d.address(v.low, v.lowIndexed)
	}
	if v.hasStmtList {
		u.files = d.lines.tables[v.stmtList]
	}
}

// position converts a unit's file number and a line to the stored form: file -1
// and line 0 if there is no such file.
func (d *infoDecoder) position(file, line uint64) (int32, int32) {
	if file >= uint64(d.unit.files.count) || line > math.MaxInt32 {
		return -1, 0
	}
	i := d.unit.files.first + int(file)
	if d.lines.files[i].name == "" {
		return -1, 0
	}
	return int32(i), int32(line)
}

// subprogram adds a routine, and the start of its code if it has any.
func (d *infoDecoder) subprogram(v *infoValues, at uint64) error {
	r := infoRoutine{at: at, name: v.name, linkage: v.linkage, from: v.from}
	switch {
	case v.hasDeclFile:
		r.declared.file, r.declared.line = d.position(v.declFile, v.declLine)
	case v.declLine <= math.MaxInt32:
		r.declared = declaration{file: -1, line: int32(v.declLine)}
	}
	spans := len(d.spans)
	err := d.addRanges(v, 0) // for their addresses, not for any inlined call
	for _, s := range d.spans[spans:] {
		d.begins = append(d.begins, beginning{s.low, len(d.routines)})
	}
	d.spans = d.spans[:spans]
	d.routines = append(d.routines, r)
	return err
}

// declarations returns where the routines are declared.
func (d *infoDecoder) declarations() []declaration {
	var list []declaration
	for _, b := range d.begins {
		r := &d.routines[b.routine]
		for range maxOriginSteps {
			if file, line := r.declared.file, r.declared.line; line > 0 {
				if row, ok := d.lines.rowAt(b.addr); file < 0 && ok {
					file = row.file // Go records only the line of inlined routines
				}
				if file >= 0 {
					list = append(list, declaration{b.addr, file, line})
				}
				break
			}
			if r = d.routineAt(r.from); r == nil {
				break
			}
		}
	}
	slices.SortStableFunc(list, func(a, b declaration) int { return cmp.Compare(a.addr, b.addr) })
	return list
}

// inlined adds an inlined call within parent.
func (d *infoDecoder) inlined(v *infoValues, parent int32) (int32, error) {
	n := inlineNode{parent: parent}
	n.file, n.line = d.position(v.callFile, v.callLine)
	nodes, node, ok := addInline(d.nodes, n)
	if d.nodes = nodes; ok {
		d.origins = append(d.origins, v.from)
	}
	d.tooDeep = d.tooDeep || !ok
	return node, d.addRanges(v, node)
}

// span adds a range of addresses unless the linker dropped its code.
func (d *infoDecoder) span(low, high uint64, node int32) {
	if low < high && node >= 0 && sectionOf(d.code, low) != nil {
		d.spans = append(d.spans, inlineSpan{low, min(high, addrLimit), node})
	}
}

// setNames gives the inlined calls their names.
func (d *infoDecoder) setNames() {
	names := make(map[uint64]string)
	for i, from := range d.origins {
		name, ok := names[from]
		if !ok {
			name = d.nameOf(from)
			names[from] = name
		}
		d.nodes[i].name = name
	}
}

// maxOriginSteps: a concrete instance completes an abstract one, which
// completes a declaration, and that may do so again.
const maxOriginSteps = 4

// routineAt returns the routine whose entry is at an offset, or nil.
func (d *infoDecoder) routineAt(at uint64) *infoRoutine {
	i, ok := slices.BinarySearchFunc(d.routines, at, func(r infoRoutine, at uint64) int { return cmp.Compare(r.at, at) })
	if !ok {
		return nil
	}
	return &d.routines[i]
}

// nameOf returns the name of the routine whose entry is at an offset: the linkage
// name if the entry, or any that it completes, has one, else the first name.
func (d *infoDecoder) nameOf(at uint64) string {
	var name text
	for range maxOriginSteps {
		r := d.routineAt(at)
		if r == nil {
			break
		}
		if r.linkage.in != "" {
			name = r.linkage
			break
		}
		if name.in == "" {
			name = r.name
		}
		at = r.from
	}
	if name.in == "" || name.at >= uint64(len(name.in)) {
		return ""
	}
	s, _ := cutString(name.in[name.at:], &d.nameBudget)
	return s
}
