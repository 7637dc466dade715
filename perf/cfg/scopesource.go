package cfg

import (
	"slices"

	"presage/perf/isa"
	"presage/perf/objfile"
)

// routineSource maps the parts of a routine to their positions in the source.
type routineSource struct {
	r      *Routine
	places []codeOrigin
	blocks [][]originCount // by block

	contexts []sourceContext             // the first one is the routine itself
	executed map[contextLine]int         // instructions of a line in a context, in all of the routine
	owners   map[objfile.Line]*lineOwner // the routine that a line belongs to
	entry    objfile.Line                // of the routine's declaration, or else of its first instruction; zero if unknown
	declared bool                        // entry is that of the declaration
	children map[inlinedCall]contextID   // for finding contexts

	loops []loopSource // by loop
	outer []int        // outermost loops
	whole Source       // of the routine
}

// contextID is an index in routineSource.contexts.
type contextID int

// sourceContext is the routine, or an inlined call within another context. Calls
// of one routine from one line in one context are one context, even if the
// compiler made several copies.
type sourceContext struct {
	inlinedCall
	depth int // 0 for the routine itself
}

type inlinedCall struct {
	call objfile.Inline
	from contextID
}

type contextLine struct {
	context contextID
	line    objfile.Line
}

// codeOrigin is the part of an objfile.Place that is needed here.
type codeOrigin struct {
	from, to uint64
	line     objfile.Line
	context  contextID
}

// originCount says how many instructions come from a place.
type originCount struct{ place, count int }

// lineOwner is the name of the routine that most instructions of a line belong to.
type lineOwner struct {
	name  string
	count int
}

// loopSource is where a loop comes from.
type loopSource struct {
	source  Source
	context contextID
	inner   []int // the loops directly inside
}

func newRoutineSource(f *objfile.File, r *Routine) *routineSource {
	src := &routineSource{
		r: r, blocks: make([][]originCount, len(r.Blocks)), loops: make([]loopSource, len(r.Loops)),
		contexts: make([]sourceContext, 1), children: make(map[inlinedCall]contextID),
	}
	src.setPlaces(f.Places(r.Addr, r.Addr+r.Size))
	src.countPlaces()
	if src.entry, src.declared = f.DeclaredAt(r.Addr); !src.declared && len(src.places) > 0 {
		src.entry, _ = src.position(&src.places[0], 0)
	}
	src.countLines()
	for l := range r.Loops {
		src.loops[l] = src.loop(l)
		if p := r.Loops[l].Parent; p >= 0 {
			src.loops[p].inner = append(src.loops[p].inner, l)
		} else {
			src.outer = append(src.outer, l)
		}
	}
	all := make([]int, len(r.Blocks))
	for b := range all {
		all[b] = b
	}
	src.whole = src.lines(all, nil, 0)
	if src.declared && src.whole.File == src.entry.File {
		src.whole.First = src.entry.Line
	}
	return src
}

// setPlaces sets the origins of the code and their contexts.
func (src *routineSource) setPlaces(places []objfile.Place) {
	known := make(map[*objfile.Inline]contextID) // by the first of a chain, which places share
	src.places = make([]codeOrigin, len(places))
	for i, p := range places {
		src.places[i] = codeOrigin{from: p.From, to: p.To, line: p.Line}
		if len(p.Inlined) == 0 {
			continue
		}
		at, ok := known[&p.Inlined[0]]
		if !ok {
			for _, call := range p.Inlined {
				at = src.contextOf(inlinedCall{call, at})
			}
			known[&p.Inlined[0]] = at
		}
		src.places[i].context = at
	}
}

func (src *routineSource) contextOf(c inlinedCall) contextID {
	id, ok := src.children[c]
	if !ok {
		id = contextID(len(src.contexts))
		src.children[c] = id
		src.contexts = append(src.contexts, sourceContext{c, src.contexts[c.from].depth + 1})
	}
	return id
}

// countPlaces counts the instructions of every block by place.
func (src *routineSource) countPlaces() {
	at := 0
	for b := range src.r.Blocks {
		var list []originCount
		insts := src.r.Blocks[b].Insts
		for i := range insts {
			for src.places[at].to <= insts[i].PC {
				at++
			}
			if n := len(list); n == 0 || list[n-1].place != at {
				list = append(list, originCount{place: at})
			}
			list[len(list)-1].count++
		}
		src.blocks[b] = list
	}
}

// countLines counts the instructions of each line, in each of its contexts, and
// finds the owners of the lines.
func (src *routineSource) countLines() {
	type routineLine struct {
		name string
		line objfile.Line
	}
	src.executed = make(map[contextLine]int)
	src.owners = make(map[objfile.Line]*lineOwner)
	byRoutine := make(map[routineLine]int)
	for b := range src.blocks {
		for _, pc := range src.blocks[b] {
			p := &src.places[pc.place]
			if p.line.Line <= 0 {
				continue
			}
			byRoutine[routineLine{src.routineOf(p.context), p.line}] += pc.count
			line := p.line
			for c := p.context; ; c = src.contexts[c].from {
				src.executed[contextLine{c, line}] += pc.count
				if c == 0 {
					break
				}
				line = objfile.Line{File: src.contexts[c].call.File, Line: src.contexts[c].call.Line}
			}
		}
	}
	for k, n := range byRoutine {
		o := src.owners[k.line]
		if o == nil {
			o = new(lineOwner)
			src.owners[k.line] = o
		}
		if n > o.count || n == o.count && k.name < o.name {
			*o = lineOwner{k.name, n}
		}
	}
}

// routineOf returns the name of a context's routine.
func (src *routineSource) routineOf(c contextID) string {
	if c == 0 {
		return src.r.Name
	}
	return src.contexts[c].call.Routine
}

// inside reports whether context c is outer or within it.
func (src *routineSource) inside(c, outer contextID) bool {
	for src.contexts[c].depth > src.contexts[outer].depth {
		c = src.contexts[c].from
	}
	return c == outer
}

// position returns the line of a place as seen from a context: its own line or,
// if it is in a call inlined there, the line of that call. It returns false if
// the place is not in the context, or has no line there.
func (src *routineSource) position(p *codeOrigin, in contextID) (objfile.Line, bool) {
	line, c := p.line, p.context
	for src.contexts[c].depth > src.contexts[in].depth {
		line = objfile.Line{File: src.contexts[c].call.File, Line: src.contexts[c].call.Line}
		c = src.contexts[c].from
	}
	if c != in || line.Line <= 0 || p.line.Line <= 0 {
		return objfile.Line{}, false
	}
	return line, true
}

// placeAt returns the place that holds an instruction.
func (src *routineSource) placeAt(pc uint64) *codeOrigin {
	i, _ := slices.BinarySearchFunc(src.places, pc, func(p codeOrigin, pc uint64) int {
		switch {
		case p.to <= pc:
			return -1
		case p.from > pc:
			return 1
		}
		return 0
	})
	return &src.places[i]
}

// loop finds the source of a loop. Its context is the deepest one that contains
// all the jumps back to the header, provided that it also contains nearly all of
// the loop: the condition of a caller's loop may be an inlined call.
func (src *routineSource) loop(l int) loopSource {
	loop := &src.r.Loops[l]
	in := contextID(-1)
	for _, e := range loop.Back {
		p := src.placeAt(src.r.Blocks[src.r.Edges[e].From].Last().PC)
		if p.line.Line <= 0 {
			continue
		}
		if in < 0 {
			in = p.context
		}
		for !src.inside(p.context, in) {
			in = src.contexts[in].from
		}
	}
	for in = max(in, 0); in > 0 && !src.mostlyIn(loop.Blocks, in); {
		in = src.contexts[in].from
	}
	return loopSource{source: src.lines(loop.Blocks, []int{l}, in), context: in}
}

// mostlyIn reports whether at least nine in ten instructions with lines come from
// a context: compilers interleave a few from other contexts.
func (src *routineSource) mostlyIn(blocks []int, in contextID) bool {
	inside, all := 0, 0
	for _, b := range blocks {
		for _, pc := range src.blocks[b] {
			p := &src.places[pc.place]
			if p.line.Line <= 0 {
				continue
			}
			all += pc.count
			if src.inside(p.context, in) {
				inside += pc.count
			}
		}
	}
	return inside*10 >= all*9
}

// control returns the lines of the jumps back to the loops' headers, and of the
// branches that leave the loops.
func (src *routineSource) control(loops []int, in contextID) map[objfile.Line]bool {
	lines := make(map[objfile.Line]bool)
	add := func(e int) {
		last := src.r.Blocks[src.r.Edges[e].From].Last()
		if line, ok := src.position(src.placeAt(last.PC), in); ok {
			lines[line] = true
		}
	}
	for _, l := range loops {
		for _, e := range src.r.Loops[l].Back {
			add(e)
		}
		for _, e := range src.r.Loops[l].Exit {
			if src.r.Blocks[src.r.Edges[e].From].Last().Class == isa.Branch {
				add(e)
			}
		}
	}
	return lines
}
