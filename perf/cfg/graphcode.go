package cfg

import (
	"errors"
	"slices"

	"presage/perf/internal/wire"
	"presage/perf/isa"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// known are the errors that a program's Warnings wrap.
var known = []error{ErrUndecoded, ErrOverlap, ErrOpen, ErrIrreducible, ErrObserved}

// Encode writes the graphs, without the file and without its instructions:
// blocks are written as where they begin and how many instructions they have.
func (p *Program) Encode(w *wire.Writer) {
	EncodeWarnings(w, p.Warnings, known)
	w.Len(len(p.Routines))
	for _, r := range p.Routines {
		r.encode(w)
	}
}

func (r *Routine) encode(w *wire.Writer) {
	w.String(r.Name)
	w.Uint(r.Addr)
	w.Uint(r.Size)
	w.Len(len(r.Blocks))
	at := r.Addr
	for b := range r.Blocks {
		block := &r.Blocks[b]
		w.Uint(block.PC() - at)
		at = block.PC()
		w.Len(len(block.Insts))
		w.Byte(byte(block.Exit))
		w.Int(int64(b - block.Dominator))
		w.Len(block.Loop + 1)
	}
	w.Len(len(r.Edges))
	from := 0
	for _, e := range r.Edges {
		w.Len(e.From - from)
		w.Int(int64(e.To - e.From))
		w.Byte(byte(e.Kind))
		from = e.From
	}
	w.Ints(r.Entries)
	w.Ints(r.rejoins)
	w.Len(len(r.Loops))
	for i := range r.Loops {
		l := &r.Loops[i]
		w.Len(l.Header)
		w.Ints(l.Blocks)
		w.Len(l.Parent + 1)
		w.Len(l.Depth)
		w.Ints(l.Back)
		w.Ints(l.Exit)
		w.Flags(l.Irreducible)
	}
	w.Len(len(r.Gaps))
	for _, g := range r.Gaps {
		w.Uint(g.From)
		w.Uint(g.To)
	}
	w.Ints(r.Open)
}

// Decode reads graphs of f that Encode wrote, and decodes their instructions.
// shown are the runs whose flow completed them; see Complete.
func Decode(r *wire.Reader, f *objfile.File, shown ...*trace.Flow) *Program {
	p := &Program{File: f, decoder: f.Target.NewDecoder(), shown: shown, Warnings: DecodeWarnings(r, known)}
	n := r.Len()
	p.Routines = make([]*Routine, 0, n)
	for range n {
		p.Routines = append(p.Routines, p.decodeRoutine(r))
		if r.Err() != nil {
			return &Program{File: f}
		}
	}
	return p
}

// extent is where a block lies.
type extent struct {
	pc    uint64
	insts int
}

func (p *Program) decodeRoutine(r *wire.Reader) *Routine {
	out := &Routine{Name: r.String(), Addr: r.Uint(), Size: r.Uint()}
	out.Blocks = make([]Block, r.Len())
	extents := make([]extent, len(out.Blocks))
	total := 0
	at := out.Addr
	for b := range out.Blocks {
		at += r.Uint()
		extents[b] = extent{at, r.Len()}
		total += extents[b].insts
		out.Blocks[b].Exit = Exit(r.Index(len(exitNames)))
		out.Blocks[b].Dominator = b - int(r.Int())
		out.Blocks[b].Loop = r.Index(maxIndex) - 1
	}
	out.decodeEdges(r)
	blocks, edges := len(out.Blocks), len(out.Edges)
	out.Entries = r.Ints(blocks)
	out.rejoins = r.Ints(blocks)
	out.Loops = decodeLoops(r, blocks, edges)
	for range r.Len() {
		out.Gaps = append(out.Gaps, Range{r.Uint(), r.Uint()})
	}
	out.Open = r.Ints(blocks)
	for b := range out.Blocks {
		if d := out.Blocks[b].Dominator; d < -1 || d >= blocks || out.Blocks[b].Loop >= len(out.Loops) {
			r.Fail()
		}
	}
	if r.Err() == nil && (total > int(min(out.Size, maxIndex)) || !p.instructions(out, extents, total)) {
		r.Fail()
	}
	return out
}

// decodeEdges reads the edges, and sets those of each block.
func (r *Routine) decodeEdges(in *wire.Reader) {
	if n := in.Len(); n > 0 {
		r.Edges = make([]Edge, n)
	}
	from := 0
	succs, preds := make([]int, len(r.Blocks)), make([]int, len(r.Blocks)) // how many
	for i := range r.Edges {
		from += in.Index(len(r.Blocks))
		to := from + int(in.Int())
		if from >= len(r.Blocks) || to < 0 || to >= len(r.Blocks) {
			in.Fail()
			return
		}
		r.Edges[i] = Edge{from, to, EdgeKind(in.Index(len(edgeNames)))}
		succs[from]++
		preds[to]++
	}
	all := make([]int, 2*len(r.Edges))
	room := func(n int) (part []int) {
		if n > 0 {
			part, all = all[:0:n], all[n:]
		}
		return part
	}
	for b := range r.Blocks {
		r.Blocks[b].Succs, r.Blocks[b].Preds = room(succs[b]), room(preds[b])
	}
	for i, e := range r.Edges {
		r.Blocks[e.From].Succs = append(r.Blocks[e.From].Succs, i)
		r.Blocks[e.To].Preds = append(r.Blocks[e.To].Preds, i)
	}
}

func decodeLoops(r *wire.Reader, blocks, edges int) []Loop {
	n := r.Len()
	if n == 0 {
		return nil
	}
	loops := make([]Loop, n)
	for i := range loops {
		loops[i] = Loop{
			Header: r.Index(blocks), Blocks: r.Ints(blocks), Parent: r.Index(i+1) - 1, Depth: r.Index(i + 2),
			Back: r.Ints(edges), Exit: r.Ints(edges), Irreducible: r.Flags().Has(0),
		}
	}
	return loops
}

// instructions decodes those of all blocks. It reports whether all lie in the
// routine.
func (p *Program) instructions(r *Routine, extents []extent, total int) bool {
	insts := make([]isa.Inst, 0, total)
	code := p.File.Bytes(r.Addr, r.Size)
	end := r.Addr + r.Size
	for b, e := range extents {
		pc := e.pc
		start := len(insts)
		for range e.insts {
			if pc < r.Addr || pc >= end || code == nil {
				return false
			}
			in, _ := p.decoder.Decode(code[pc-r.Addr:min(end-r.Addr, pc-r.Addr+uint64(p.File.Target.MaxLength))], pc)
			insts = append(insts, in)
			pc = in.Next()
		}
		if e.insts == 0 {
			return false
		}
		r.Blocks[b].Insts = insts[start:len(insts):len(insts)]
	}
	return true
}

// A warning that was decoded keeps its text and the error that it wraps.
type warning struct {
	text string
	kind error
}

func (w *warning) Error() string { return w.text }
func (w *warning) Unwrap() error { return w.kind }

// EncodeWarnings writes errors as their text and which of the known ones they
// wrap.
func EncodeWarnings(w *wire.Writer, list, known []error) {
	w.Len(len(list))
	for _, err := range list {
		w.String(err.Error())
		w.Len(slices.IndexFunc(known, func(k error) bool { return errors.Is(err, k) }) + 1)
	}
}

// DecodeWarnings reads what EncodeWarnings wrote.
func DecodeWarnings(r *wire.Reader, known []error) []error {
	var list []error
	for range r.Len() {
		w := &warning{text: r.String()}
		if k := r.Index(len(known) + 1); k > 0 {
			w.kind = known[k-1]
		}
		list = append(list, w)
	}
	return list
}
