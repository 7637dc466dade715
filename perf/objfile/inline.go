package objfile

import (
	"cmp"
	"container/heap"
	"debug/elf"
	"slices"
	"sort"
	"sync"
)

// Inline is a routine whose body the compiler put in place of a call.
type Inline struct {
	// Routine is the name of the called routine: its linkage name (mangled in
	// C++) if recorded, else the source name.
	Routine string

	// File and Line locate the call in the source; "" and 0 if not recorded.
	File string
	Line int
}

// maxInlineDepth bounds the nesting of inlined calls. Compilers stop far earlier;
// a deeper call counts as part of the one that contains it.
const maxInlineDepth = 64

// inlineTable answers InlinedAt. It is decoded on first use.
type inlineTable struct {
	once sync.Once
	file *elf.File // nil once decoded
	pcln *goTable  // nil once decoded, or if there is none
	code []Section // executable

	rows     []inlineRow
	nodes    []inlineNode
	declared []declaration // by ascending address
	err      error
}

// declaration is where the routine whose code begins at an address is declared.
type declaration struct {
	addr uint64
	file int32 // in lineTable.files
	line int32
}

// inlineRow says that the instructions from addr to the next row's come from
// an inlined call, or from none: node < 0.
type inlineRow struct {
	addr uint64
	node int32
}

// inlineNode is an inlined call, within another one if parent >= 0. Parents
// have lower indices than the calls within them.
type inlineNode struct {
	name   string
	file   int32 // in lineTable.files, < 0 if unknown
	line   int32
	parent int32
	depth  int32 // 1 for an outermost one
}

// InlinedAt returns the inlined calls that the instruction at pc comes from,
// outermost first: the routine that holds pc called the first, the first called
// the second, and LineAt gives a line of the last. It returns none if the
// instruction is the routine's own or nothing is recorded. The first use decodes
// the records: DWARF, or else Go's own tables, which stripped programs keep.
func (f *File) InlinedAt(pc uint64) []Inline {
	f, base := f.partAt(pc)
	pc -= base
	t := f.inlineRows()
	i := sort.Search(len(t.rows), func(i int) bool { return t.rows[i].addr > pc })
	if i == 0 {
		return nil
	}
	return f.chain(t.rows[i-1].node)
}

// DeclaredAt returns the source position of the declaration of the routine whose
// code begins at addr; false if it is not recorded.
func (f *File) DeclaredAt(addr uint64) (Line, bool) {
	f, base := f.partAt(addr)
	addr -= base
	t := f.inlineRows()
	i := sort.Search(len(t.declared), func(i int) bool { return t.declared[i].addr >= addr })
	if i == len(t.declared) || t.declared[i].addr != addr {
		return Line{}, false
	}
	d := t.declared[i]
	return Line{File: f.lines.files[d.file].path(), Line: int(d.line)}, true
}

// InlinesErr returns the error that ended the decoding of the inlining records;
// nil if they were decoded completely or there are none.
func (f *File) InlinesErr() error {
	return f.errOf(func(f *File) error { return f.inlineRows().err })
}

func (f *File) inlineRows() *inlineTable {
	f.inlines.once.Do(func() { f.inlines.decode(f.lineRows()) })
	return f.inlines
}

// chain lists the inlined calls from the outermost to node.
func (f *File) chain(node int32) []Inline {
	if node < 0 {
		return nil
	}
	nodes := f.inlines.nodes
	list := make([]Inline, nodes[node].depth)
	for i := len(list) - 1; i >= 0; i-- {
		n := &nodes[node]
		list[i] = Inline{Routine: n.name, Line: int(n.line)}
		if n.file >= 0 {
			list[i].File = f.lines.files[n.file].path()
		}
		node = n.parent
	}
	return list
}

// decode fills t. After an error, everything decoded so far remains in use.
func (t *inlineTable) decode(lines *lineTable) {
	defer func() { t.file, t.pcln = nil, nil }()
	info, err := debugSection(t.file, "info")
	if err != nil || info != "" {
		t.err = err
		d := newInfoDecoder(t.file, info, lines, t.code)
		if err := d.decode(); t.err == nil {
			t.err = err
		}
		t.nodes, t.rows, t.declared = d.nodes, paint(d.nodes, d.spans), d.declarations()
		return
	}
	if t.pcln != nil {
		t.nodes, t.rows = t.pcln.inlines(lines)
		t.declared = t.pcln.declarations(lines)
	}
}

// addInline appends an inlined call and returns its index, or its parent's index
// if the parent is already at maxInlineDepth.
func addInline(nodes []inlineNode, n inlineNode) (all []inlineNode, index int32, ok bool) {
	n.depth = 1
	if n.parent >= 0 {
		n.depth = nodes[n.parent].depth + 1
	}
	if n.depth > maxInlineDepth {
		return nodes, n.parent, false
	}
	return append(nodes, n), int32(len(nodes)), true
}

// inlineSpan is a half-open range of addresses that comes from an inlined call.
type inlineSpan struct {
	low, high uint64
	node      int32
}

// paint overlays the spans, deeper ones on top; of spans equally deep the one of
// the later node wins.
func paint(nodes []inlineNode, spans []inlineSpan) []inlineRow {
	slices.SortFunc(spans, func(a, b inlineSpan) int {
		return cmp.Or(cmp.Compare(a.low, b.low), cmp.Compare(a.node, b.node))
	})
	var rows []inlineRow
	on := &spanHeap{nodes: nodes}
	for i := 0; i < len(spans) || len(on.spans) > 0; {
		var at uint64 // where the next change can be
		if len(on.spans) == 0 {
			at = spans[i].low
		} else if at = on.spans[0].high; i < len(spans) {
			at = min(at, spans[i].low)
		}
		for ; i < len(spans) && spans[i].low == at; i++ {
			heap.Push(on, spans[i])
		}
		for len(on.spans) > 0 && on.spans[0].high <= at {
			heap.Pop(on)
		}
		row := inlineRow{addr: at, node: -1}
		if len(on.spans) > 0 {
			row.node = on.spans[0].node
		}
		if n := len(rows); n == 0 || rows[n-1].node != row.node {
			rows = append(rows, row)
		}
	}
	return rows
}

// spanHeap is a heap of spans whose first element is the topmost.
type spanHeap struct {
	nodes []inlineNode
	spans []inlineSpan
}

func (h *spanHeap) Len() int { return len(h.spans) }

func (h *spanHeap) Less(i, j int) bool {
	a, b := h.spans[i].node, h.spans[j].node
	return cmp.Or(cmp.Compare(h.nodes[b].depth, h.nodes[a].depth), cmp.Compare(b, a)) < 0
}

func (h *spanHeap) Swap(i, j int) { h.spans[i], h.spans[j] = h.spans[j], h.spans[i] }

func (h *spanHeap) Push(x any) { h.spans = append(h.spans, x.(inlineSpan)) }

func (h *spanHeap) Pop() any {
	n := len(h.spans) - 1
	x := h.spans[n]
	h.spans = h.spans[:n]
	return x
}
