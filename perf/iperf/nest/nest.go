// Package nest turns an analysed routine of a binary into the description of its loop
// nest that performance factors need: an iperf.Kernel.
//
//	kernel_stencil at -O0                     increment:  Kernel
//	  loop, left at n-1 <= i ─ trip counts ─────────────▶ trips    n - 2
//	    loop, left at n-1 <= j                            trips    n - 2
//	      fld fa5,0(a5)      ─ first location, strides ─▶ array a, offset 8*n + 8,
//	                           of package access                   strides 8*n, 8
//
// The binary provides the loops, their trip counts, the instructions that access
// memory, their first locations and their strides, all in terms of registers. An
// iperf.Overlay provides their meaning: that a1 is the problem size n, and a0 the
// array a. Anything else missing is an error that wraps ErrMissing and names the fact
// and the line of the overlay that would supply it.
//
// Trip counts assume that a loop is entered at all, and that its step divides its
// range if it exits on equality, as compilers ensure.
//
// Left out, each with a note: scalars, which no loop moves and caches keep; references
// outside the innermost loop, which are executed far less often; and remainders of
// unrolled loops. A loop unrolled by k is described as the original loop.
//
// Not modelled: imperfect nests (several inner loops, none of them a remainder: the
// overlay chooses one), triangular nests, vector instructions.
package nest

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/iperf"
)

// ErrMissing means that the binary lacks a fact that the overlay can supply.
var ErrMissing = errors.New("the binary does not tell")

// Found is a kernel that was found in a binary.
type Found struct {
	*iperf.Kernel
	Notes []string // what was left out or changed

	// Of is the origin of each of the kernel's references: an index in
	// access.Analysis.All, the first one for the copies in an unrolled loop.
	Of []int
}

// Find describes the loop nest of a routine. A nil overlay is an empty one.
func Find(a *access.Analysis, scopes *cfg.ScopeTree, routine int, o *iperf.Overlay) (*Found, error) {
	if o == nil {
		o = &iperf.Overlay{}
	}
	f := &finder{
		a: a, r: a.Program.Routines[routine], routine: routine, overlay: o,
		translation: translation{overlay: o, used: make(map[string]bool)},
		arrays:      make(map[string]bool), given: make([]bool, len(o.References)),
	}
	if err := f.namesakes(); err != nil {
		return nil, err
	}
	if err := f.choose(scopes); err != nil {
		return nil, err
	}
	k := &iperf.Kernel{Name: o.Name, Title: o.Title, Source: o.Source}
	if k.Name == "" {
		k.Name = f.r.Name
	}
	if k.Source == "" {
		k.Source = "static analysis of " + f.r.Name
	}
	items, err := f.references()
	if err != nil {
		return nil, err
	}
	items, unrolled := f.reroll(items)
	if err := f.loops(k, unrolled); err != nil {
		return nil, err
	}
	out := &Found{Kernel: k}
	for i := range items {
		ref, err := items[i].reference()
		if err != nil {
			return nil, f.errorf("%v", err)
		}
		k.References = append(k.References, ref)
		out.Of = append(out.Of, items[i].index)
	}
	out.Notes = f.notes
	if err := f.unused(); err != nil {
		return nil, err
	}
	k.Params = params(k)
	return out, k.Check()
}

type finder struct {
	translation
	a       *access.Analysis
	r       *cfg.Routine
	routine int
	overlay *iperf.Overlay

	chain  []int // loops, from the outermost in
	bodies []int // references of the innermost, in access.Analysis.All
	arrays map[string]bool
	given  []bool // by overlay reference: it was used
	notes  []string
}

func (f *finder) errorf(format string, args ...any) error {
	return fmt.Errorf("nest: %s: %w", f.r.Name, fmt.Errorf(format, args...))
}

// missing returns an error about a fact, with the part of the overlay that would
// supply it.
func (f *finder) missing(fact, remedy string) error {
	return f.errorf("%w %s; say so in the overlay, such as %s", ErrMissing, fact, remedy)
}

func (f *finder) note(format string, args ...any) {
	f.notes = append(f.notes, fmt.Sprintf(format, args...))
}

// at returns file:line of a reference, or its pc.
func at(ref *access.Reference) string {
	if ref.File == "" {
		return fmt.Sprintf("pc %#x", uint64(ref.PC))
	}
	return fmt.Sprintf("%s:%d", path.Base(ref.File), ref.Line)
}

// isAt reports whether an overlay's place is that of a reference.
func isAt(ref *access.Reference, place string) bool {
	if pc, err := strconv.ParseUint(place, 0, 64); err == nil {
		return pc == uint64(ref.PC)
	}
	return place == at(ref)
}

// scalar reports whether no loop moves a reference.
func scalar(ref *access.Reference) bool {
	return !slices.ContainsFunc(ref.Strides, func(s access.Stride) bool {
		k, ok := s.Formula.Constant()
		return !s.Regular() || !ok || k != 0
	})
}

// choose finds the innermost loop and the loops around it.
func (f *finder) choose(scopes *cfg.ScopeTree) error {
	inner := make(map[int][]int) // references by loop
	outer := make([]bool, len(f.r.Loops))
	for l := range f.r.Loops {
		if p := f.r.Loops[l].Parent; p >= 0 {
			outer[p] = true
		}
	}
	scalars, all := 0, 0
	for i := range f.a.All {
		ref := &f.a.All[i]
		if !ref.InGraph || ref.RoutineIndex != f.routine || ref.Loop < 0 || ref.Stack != access.NotStack {
			continue
		}
		all++
		if scalar(ref) && !f.overlaid(ref) {
			scalars++
			continue
		}
		inner[ref.Loop] = append(inner[ref.Loop], i)
	}
	var innermost []int
	for l := range f.r.Loops {
		if len(inner[l]) > 0 && !outer[l] {
			innermost = append(innermost, l)
		}
	}
	if len(f.r.Loops) == 0 || all == 0 {
		return f.errorf("no loop of the routine itself accesses memory: it has %d loops; routines that it calls are looked at by their own names", len(f.r.Loops))
	}
	l, err := f.pick(innermost, inner, scopes)
	if err != nil {
		return err
	}
	f.bodies = inner[l]
	for ; l >= 0; l = f.r.Loops[l].Parent {
		f.chain = append(f.chain, l)
	}
	slices.Reverse(f.chain)
	if scalars > 0 {
		f.note("%d references that no loop moves are left out: scalars", scalars)
	}
	for _, l := range f.chain[:len(f.chain)-1] {
		if n := len(inner[l]); n > 0 {
			f.note("%d references of the loop at %s, around the innermost, are left out", n, f.place(l))
		}
	}
	return nil
}

// pick chooses one of several innermost loops: the one that the overlay names, or else
// the one to which the others are remainders.
func (f *finder) pick(loops []int, refs map[int][]int, scopes *cfg.ScopeTree) (int, error) {
	if f.overlay.Nest != "" {
		for _, l := range loops {
			if slices.ContainsFunc(refs[l], func(i int) bool { return isAt(&f.a.All[i], f.overlay.Nest) }) {
				return l, nil
			}
		}
		return 0, f.errorf("nest: %s: no innermost loop accesses memory there; they do at %s", f.overlay.Nest, f.places(loops))
	}
	if len(loops) == 0 {
		return 0, f.errorf("no innermost loop accesses memory at an address that changes")
	}
	best := loops[0]
	for _, l := range loops {
		if len(refs[l]) > len(refs[best]) {
			best = l
		}
	}
	source := f.source(best, scopes)
	for _, l := range loops {
		if l == best {
			continue
		}
		if s := f.source(l, scopes); s < 0 || s != source {
			return 0, f.missing(fmt.Sprintf("which of %d nests is meant, with innermost loops at %s", len(loops), f.places(loops)), "nest: "+f.place(best))
		}
		f.note("the loop at %s, which goes on where the one at %s ends, is left out: a remainder", f.header(l), f.header(best))
	}
	return best, nil
}

// source returns the scope of the source loop that loop l comes from.
func (f *finder) source(l int, scopes *cfg.ScopeTree) int {
	for i := range scopes.Scopes {
		s := &scopes.Scopes[i]
		if s.Kind == cfg.LoopScope && s.Routine == f.routine && slices.Contains(s.Loops, l) {
			return i
		}
	}
	return -1
}

// place returns where a loop is in the source.
func (f *finder) place(l int) string {
	for i := range f.a.All {
		if ref := &f.a.All[i]; ref.InGraph && ref.RoutineIndex == f.routine && f.r.Contains(l, ref.Block) && ref.Stack == access.NotStack && ref.File != "" {
			return at(ref)
		}
	}
	return f.header(l)
}

func (f *finder) header(l int) string {
	return fmt.Sprintf("pc %#x", f.r.Blocks[f.r.Loops[l].Header].PC())
}

// where returns the place of a loop and its header, one if they are the same.
func (f *finder) where(l int) []string {
	return slices.Compact([]string{f.place(l), f.header(l)})
}

func (f *finder) places(loops []int) string {
	var list []string
	for _, l := range loops {
		if at := f.where(l); len(at) > 1 {
			list = append(list, at[0]+" ("+at[1]+")")
		} else {
			list = append(list, at[0])
		}
	}
	return strings.Join(list, ", ")
}

// loops adds the loops, with their trip counts; the innermost was unrolled.
func (f *finder) loops(k *iperf.Kernel, unrolled int64) error {
	if len(f.overlay.Loops) > len(f.chain) {
		return f.errorf("the overlay has %d loops, the nest %d", len(f.overlay.Loops), len(f.chain))
	}
	counts := f.a.TripCounts(f.routine)
	for d := range f.chain {
		var said iperf.OverlayLoop
		if d < len(f.overlay.Loops) {
			said = f.overlay.Loops[d]
		}
		if said.Name == "" {
			said.Name = fmt.Sprintf("loop%d", d+1)
		}
		text := said.Trips
		if text == "" {
			var err error
			if text, err = f.tripText(counts, d); err != nil {
				return err
			}
			if d == len(f.chain)-1 && unrolled > 1 {
				text = fmt.Sprintf("%d*(%s)", unrolled, text)
			}
		}
		t, err := parse(text)
		if err != nil {
			return f.errorf("trip count of loop %d: %v", d+1, err)
		}
		k.Loops = append(k.Loops, iperf.Loop{Name: said.Name, Trips: t})
	}
	return nil
}

// tripText finds the trip count of the loop at a depth.
func (f *finder) tripText(counts []*access.TripCount, depth int) (string, error) {
	l := f.chain[depth]
	what := fmt.Sprintf("how often loop %d of %d goes round (at %s)", depth+1, len(f.chain), strings.Join(f.where(l), ", "))
	remedy := "loops: [" + strings.Repeat("{}, ", depth) + "{trips: n}]"
	t := counts[l]
	if t == nil {
		return "", f.missing(what+", as it is left on a condition that is no sum of what is known", remedy)
	}
	more, ok := f.more(t.Exit, depth)
	if !ok {
		return "", f.missing(what+", as some of its references come before the condition that it is left on, and some after", remedy)
	}
	text, unknown := f.trips(t, more)
	if len(unknown) > 0 {
		return "", f.missing(what+": that depends on "+strings.Join(unknown, " and "), "values: {"+unknown[0]+": n}")
	}
	return text, nil
}

// more returns 1 if the relevant part of a loop's body precedes the exit condition, at
// the end of block exit, and 0 if it follows.
func (f *finder) more(exit, depth int) (int64, bool) {
	var blocks []int
	if depth+1 < len(f.chain) {
		blocks = append(blocks, f.r.Loops[f.chain[depth+1]].Header)
	} else {
		for _, i := range f.bodies {
			blocks = append(blocks, f.a.All[i].Block)
		}
	}
	before, after := 0, 0
	for _, b := range blocks {
		switch {
		case f.r.Dominates(b, exit):
			before++
		case f.r.Dominates(exit, b):
			after++
		}
	}
	switch len(blocks) {
	case before:
		return 1, true
	case after:
		return 0, true
	}
	return 0, false
}

// unused returns an error if a part of the overlay was not used.
func (f *finder) unused() error {
	for key := range sorted(f.overlay.Values) {
		if !f.used[key] {
			return f.errorf("values: %s stands in no formula of the nest: %s", key, strings.Join(f.symbols(), ", "))
		}
	}
	for key := range sorted(f.overlay.Arrays) {
		if !f.arrays[key] {
			return f.errorf("arrays: no reference of the nest is to %s: they begin at %s", key, strings.Join(f.symbols(), ", "))
		}
	}
	for i, used := range f.given {
		if !used {
			return f.errorf("references: nothing of the nest accesses memory at %s", f.overlay.References[i].At)
		}
	}
	return nil
}

// symbols returns the symbols in the formulas of the nest's references.
func (f *finder) symbols() []string {
	var list []string
	add := func(g access.Formula) {
		for _, t := range g.Terms() {
			if t.Symbol.Kind != access.Unit {
				list = append(list, t.Symbol.String())
			}
		}
	}
	for _, i := range f.bodies {
		add(f.a.All[i].First)
		for _, s := range f.a.All[i].Strides {
			add(s.Formula)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
