package objfile

import "encoding/binary"

// Location of a function's inlined calls (Go source, internal/abi/symtab.go) and
// their layout (runtime/symtabinl.go, type inlinedCall).
const (
	goInlineIndex = 2 // table of values: the call that the pc is in, or -1
	goInlineTree  = 3 // funcdata: the calls

	goCallSize     = 16
	goCallNameAt   = 4
	goCallParentAt = 8 // offset of a pc whose line is that of the call
)

// inlineDecoder decodes the inlined calls of functions.
type inlineDecoder struct {
	*goTable
	lines  *lineTable
	budget int // bytes of names
	names  map[uint32]string

	nodes []inlineNode
	rows  []inlineRow
}

// inlines decodes the inlined calls of all functions. lines comes from
// goTable.lines; without it calls have no lines.
func (t *goTable) inlines(lines *lineTable) ([]inlineNode, []inlineRow) {
	if t.funcData == nil || t.funcSize != goFuncSize120 { // older layouts differ
		return nil, nil
	}
	d := &inlineDecoder{goTable: t, lines: lines, names: make(map[uint32]string)}
	d.budget = maxNameRepeat * (len(t.names) + symbolSize)
	t.each(func(f goFunction, _, _ []pcValue) { d.function(f) })
	return d.nodes, d.rows
}

// function decodes the calls of a function.
func (d *inlineDecoder) function(f goFunction) {
	calls, index, ok := d.tables(f)
	if !ok {
		d.row(f.addr, -1)
		return
	}
	known := make(map[int32]int32) // calls → nodes
	at := f.addr
	for _, v := range index {
		d.row(at, d.call(f, calls, index, known, v.value, 0))
		at = v.to
	}
	d.row(at, -1)
}

// tables returns the list of a function's calls, and the table that maps each pc
// to its call.
func (d *inlineDecoder) tables(f goFunction) (calls []byte, index []pcValue, ok bool) {
	le := binary.LittleEndian
	tables := uint64(le.Uint32(f.info[goPCDataAt:]))
	data := uint64(f.info[d.funcSize-1])
	words := f.info[d.funcSize:]
	if tables <= goInlineIndex || data <= goInlineTree || tables > uint64(len(words))/4 || 4*(tables+data) > uint64(len(words)) {
		return nil, nil, false
	}
	off := le.Uint32(words[4*(tables+goInlineTree):])
	if uint64(off) >= uint64(len(d.funcData)) { // 1<<32 - 1: none
		return nil, nil, false
	}
	index, ok = d.valuesOf(nil, f, le.Uint32(words[4*goInlineIndex:]))
	return d.funcData[off:], index, ok
}

// call returns the node of a call, or -1 for none. Its parent is the call that
// contains the pc of the call site.
func (d *inlineDecoder) call(f goFunction, calls []byte, index []pcValue, known map[int32]int32, i int32, depth int) int32 {
	if node, ok := known[i]; ok {
		return node
	}
	at := uint64(uint32(i)) * goCallSize
	if i < 0 || depth > maxInlineDepth || !within(at, goCallSize, uint64(len(calls))) {
		return -1
	}
	known[i] = -1 // only hostile calls contain each other
	le := binary.LittleEndian
	c := calls[at:]
	pc := f.addr + uint64(le.Uint32(c[goCallParentAt:]))
	n := inlineNode{parent: -1, file: -1, name: d.nameOf(le.Uint32(c[goCallNameAt:]))}
	if pc >= f.addr && pc < f.end {
		n.parent = d.call(f, calls, index, known, valueAt(index, pc), depth+1)
		if r, ok := d.lines.rowAt(pc); ok {
			n.file, n.line = r.file, r.line
		}
	}
	nodes, node, _ := addInline(d.nodes, n)
	d.nodes, known[i] = nodes, node
	return node
}

func (d *inlineDecoder) nameOf(at uint32) string {
	name, ok := d.names[at]
	if !ok {
		name, _ = d.name(at, &d.budget)
		d.names[at] = name
	}
	return name
}

func (d *inlineDecoder) row(addr uint64, node int32) {
	if n := len(d.rows); n > 0 && d.rows[n-1].addr == addr {
		d.rows = d.rows[:n-1]
	}
	if n := len(d.rows); n > 0 && d.rows[n-1].node == node {
		return
	}
	d.rows = append(d.rows, inlineRow{addr, node})
}

// declarations returns where the functions begin in the source. The file is that
// of the first instruction, which is never inlined.
func (t *goTable) declarations(lines *lineTable) []declaration {
	if t.funcSize != goFuncSize120 {
		return nil
	}
	var list []declaration
	t.each(func(f goFunction, _, _ []pcValue) {
		line := int32(binary.LittleEndian.Uint32(f.info[goStartLineAt:]))
		if r, ok := lines.rowAt(f.addr); ok && line > 0 {
			list = append(list, declaration{f.addr, r.file, line})
		}
	})
	return list
}
