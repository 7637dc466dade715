package replay

import (
	"encoding/binary"
	"fmt"
	"slices"

	"presage/perf/trace"
)

// fitter joins runs.
type fitter struct {
	code  *Code
	apart bool   // each size has an executable of its own
	runs  []*Run // by ascending size
	prog  *Program
	walk  *walker
	known map[placeKey]int32
	in    [][]*RunPlace // by place of the program, by run; nil where a run has not been
	index map[string]int32

	first  []int     // of each place: its first reference, among all
	loose  []bool    // by reference, among all: it says nothing of what lies between its addresses
	places [][]int32 // by run and place of it: of the program
	joined []int     // references, by union and find
	bases  map[int][]uint64

	objects []string         // of each reference, among all: the variable it goes to, where sizes have executables of their own
	byName  map[string]int32 // bases of variables

	addresses []map[string]uint64 // by run, of its variables

	together map[*Ref]*together // of references whose pieces are those of all runs

	steps   []int64 // of tiles
	modulus int64   // the largest power of two, up to 8, by which the sizes have one residue
	bends   *bendings
	loops   *repeats

	unpinned bool // some bound that was fitted since this was reset has a piece that is not pinned
}

// Fit joins what was learned from runs of one executable at several sizes. Run i
// was made at sizes[i]; sizes must ascend.
func Fit(code *Code, sizes []int64, runs []*Run) (*Program, error) {
	return newBendings().fit(code, sizes, runs)
}

// fit is Fit with what was found before.
func (b *bendings) fit(code *Code, sizes []int64, runs []*Run) (*Program, error) {
	if len(sizes) != len(runs) || len(runs) == 0 {
		return nil, fmt.Errorf("replay: %d sizes and %d runs", len(sizes), len(runs))
	}
	for i := range sizes[1:] {
		if sizes[i+1] <= sizes[i] {
			return nil, fmt.Errorf("replay: sizes %d and %d do not ascend", sizes[i], sizes[i+1])
		}
	}
	f := &fitter{
		code: code, apart: apart(runs), runs: runs, prog: &Program{Sizes: slices.Clone(sizes)}, walk: newWalker(code),
		known: make(map[placeKey]int32), index: make(map[string]int32), bases: make(map[int][]uint64), bends: b,
	}
	f.places = make([][]int32, len(runs))
	for r := range runs {
		if err := f.join(r); err != nil {
			return nil, err
		}
	}
	f.modulus = commonModulus(sizes)
	f.prog.Contexts = f.walk.contexts
	if err := f.connect(); err != nil {
		return nil, err
	}
	for i := range f.prog.Places {
		f.chooseForms(i)
	}
	f.findBases()
	f.steps = f.findSteps()
	f.prog.Steps = f.steps
	for i := range f.prog.Places {
		f.fitPlace(i)
	}
	f.fitHeap()
	return f.prog, nil
}

// join adds the places of a run.
func (f *fitter) join(run int) error {
	r := f.runs[run]
	contexts := make([]int32, len(r.Contexts)) // of the run: those of the program
	for i := 1; i < len(contexts); i++ {
		c := r.Contexts[i]
		if int(c.Parent) >= i || int(c.Call) >= len(f.code.blocks) {
			return fmt.Errorf("replay: the run at %d does not belong to this executable", f.prog.Sizes[run])
		}
		to, err := f.walk.enter(placeKey{contexts[c.Parent], c.Call}, c.Tail)
		if err != nil {
			return fmt.Errorf("replay: %w", err)
		}
		contexts[i] = to
	}
	for i := range r.Places {
		p := &r.Places[i]
		if int(p.Block) >= len(f.code.blocks) || len(p.Refs) != f.code.blocks[p.Block].refs {
			return fmt.Errorf("replay: the run at %d does not belong to this executable", f.prog.Sizes[run])
		}
		key := placeKey{contexts[p.Context], p.Block}
		at, ok := f.known[key]
		if !ok {
			at = int32(len(f.prog.Places))
			f.known[key] = at
			f.prog.Places = append(f.prog.Places, Place{Context: key.context, Block: key.block, Depth: f.walk.depth(key), Forks: p.Forks, Refs: make([]Ref, len(p.Refs))})
			f.in = append(f.in, make([]*RunPlace, len(f.runs)))
		}
		if i == 0 && at != 0 {
			return fmt.Errorf("replay: the runs begin in different places")
		}
		if !p.bendsFit(f.prog.Places[at].Depth) {
			return fmt.Errorf("replay: the run at %d does not belong to this executable", f.prog.Sizes[run])
		}
		f.in[at][run] = p
		f.places[run] = append(f.places[run], at)
	}
	return nil
}

// connect finds the ways on from each place.
func (f *fitter) connect() error {
	for i := range f.prog.Places {
		p := &f.prog.Places[i]
		for _, in := range f.in[i] {
			if in == nil {
				continue
			}
			if len(in.Next) > 1 {
				p.Mixed++
			}
			for _, n := range in.Next {
				if k := p.way(n.Block); k >= 0 {
					p.Next[k].Runs++
					continue
				}
				if n.Block == noBlock {
					p.Next = append(p.Next, Next{Block: noBlock, To: -1, Runs: 1})
					continue
				}
				key, s, err := f.walk.move(placeKey{p.Context, p.Block}, n.Block)
				if err != nil {
					return fmt.Errorf("replay: %w", err)
				}
				p.Next = append(p.Next, Next{Block: n.Block, To: f.known[key], Keep: s.keep, Push: s.push, More: s.more, Runs: 1})
			}
		}
	}
	return nil
}

// way returns the index of the way on to a block, or -1.
func (p *Place) way(b trace.BlockID) int {
	return slices.IndexFunc(p.Next, func(n Next) bool { return n.Block == b })
}

// chooseForms chooses the form of each reference of place i, and of its branch.
func (f *fitter) chooseForms(i int) {
	p := &f.prog.Places[i]
	for j := range p.Refs {
		list := mostCommon(f.having(i, j), func(in *RunPlace) []Form {
			var forms []Form
			for k := range in.Refs[j].Forms {
				forms = append(forms, in.Refs[j].Forms[k].Form)
			}
			return forms
		})
		if p.Refs[j].Irregular = len(list) == 0; len(list) > 0 {
			p.Refs[j].Form = list[0]
		}
		if f.bendRef(i, j, list) || f.bendTogether(i, j) {
			p.Refs[j].Irregular = false
		} else if !f.everywhere(i, j, list) && !turns(f.having(i, j), j, list) && f.wrapRef(i, j) {
			p.Refs[j].Irregular = false
		} else if p.Refs[j].Irregular && f.indirectRef(i, j) {
			p.Refs[j].Irregular = false
		}
	}
}

// everywhere reports whether all runs of place i have the form in list, if any, for
// reference j, and it is not one of residue classes: in few steps of a loop, each class may
// have so few points that a function goes through them.
func (f *fitter) everywhere(i, j int, list []Form) bool {
	return len(list) > 0 && list[0].Split.Modulus <= 1 && !slices.ContainsFunc(f.having(i, j), func(in *RunPlace) bool {
		return in != nil && !slices.ContainsFunc(in.Refs[j].Forms, func(x RunForm) bool { return x.Form == list[0] })
	})
}

// having returns what the runs had at place i; nil for those without reference j.
func (f *fitter) having(i, j int) []*RunPlace {
	out := slices.Clone(f.in[i])
	for r, in := range out {
		if in != nil && in.Refs[j].Lo > in.Refs[j].Hi {
			out[r] = nil
		}
	}
	return out
}

// mostCommon returns, of the elements of the last non-nil run, the first that is in
// most runs; none if there are no elements.
func mostCommon[T comparable](in []*RunPlace, of func(*RunPlace) []T) []T {
	var last []T
	for _, p := range in {
		if p != nil {
			last = of(p)
		}
	}
	best, most := -1, 0
	for k, t := range last {
		n := 0
		for _, p := range in {
			if p != nil && slices.Contains(of(p), t) {
				n++
			}
		}
		if n > most {
			best, most = k, n
		}
	}
	if best < 0 {
		return nil
	}
	return last[best : best+1]
}

// fitPlace fits the coefficients of place i.
func (f *fitter) fitPlace(i int) {
	p := &f.prog.Places[i]
	for j := range p.Refs {
		f.fitRef(i, j)
	}
	p.Counts = f.series(func(r int) (int64, bool) {
		if f.in[i][r] == nil {
			return 0, true
		}
		n := int64(f.in[i][r].Count)
		if p.Most = max(p.Most, n); p.Least == 0 || n < p.Least {
			p.Least = n
		}
		return n, true
	})
	if len(p.Next) > 1 {
		f.fitBranch(i)
	}
}

// baseAt returns the address in a run of the base of reference j of place i.
func (f *fitter) baseAt(i, j, run int) int64 {
	switch f.prog.Bases[f.prog.Places[i].Refs[j].Base].Kind {
	case Absolute:
		return 0
	case Stack:
		return int64(f.runs[run].Stack)
	}
	if name := f.objects[f.first[i]+j]; name != "" {
		return int64(f.addresses[run][name])
	}
	return int64(f.bases[f.root(f.first[i]+j)][run])
}

func (f *fitter) fitRef(i, j int) {
	ref := &f.prog.Places[i].Refs[j]
	having := f.having(i, j)
	ref.Lo = f.series(func(r int) (int64, bool) {
		in := having[r]
		return relative(in, func() int64 { return int64(in.Refs[j].Lo) - f.baseAt(i, j, r) })
	})
	ref.Hi = f.series(func(r int) (int64, bool) {
		in := having[r]
		return relative(in, func() int64 { return int64(in.Refs[j].Hi) - f.baseAt(i, j, r) })
	})
	switch {
	case ref.Irregular:
		ref.Drift = f.fitDrift(i, j, having)
		return
	case ref.Bend != 0:
		f.fitBentRef(i, j)
		return
	case ref.Form.Wraps:
		f.fitWraps(i, j, having)
		return
	case ref.Indirect != nil:
		f.fitIndirect(i, j, having)
		return
	}
	ref.Classes = make([]Affine, ref.Form.Split.classes())
	for c := range ref.Classes {
		ref.Classes[c] = f.affine(func(r int) *RunAffine {
			if f.in[i][r] == nil {
				return nil
			}
			forms := f.in[i][r].Refs[j].Forms
			k := slices.IndexFunc(forms, func(x RunForm) bool { return x.Form == ref.Form })
			if k < 0 {
				return nil
			}
			return &forms[k].Classes[c]
		}, func(r int) int64 { return f.baseAt(i, j, r) })
	}
}

func relative(in *RunPlace, value func() int64) (int64, bool) {
	if in == nil {
		return 0, false
	}
	return value(), true
}

// affine fits the coefficients of a function: of returns it for a run, or nil, and
// shift what is subtracted from its constant. Runs that determine fewer
// coefficients than others are left out.
func (f *fitter) affine(of func(run int) *RunAffine, shift func(run int) int64) Affine {
	return f.affineOf(of, shift, nil, nil)
}

// affineOf is affine for a function whose constant may be a number of steps, within
// limits.
func (f *fitter) affineOf(of func(run int) *RunAffine, shift func(run int) int64, steps []int64, limits []Limit) Affine {
	rank, size := -1, 0
	for r := range f.runs {
		if a := of(r); a != nil && len(a.Coef) > 0 && a.Rank > rank {
			rank, size = a.Rank, len(a.Coef)
		}
	}
	for r := range f.runs {
		if a := of(r); a != nil && slices.ContainsFunc(a.Coef[min(1, len(a.Coef)):], func(c int64) bool { return c != 0 }) {
			limits = nil // they are of constants
		}
	}
	if rank < 0 {
		return nil
	}
	out := make(Affine, size)
	for k := range out {
		if k > 0 {
			steps, limits = nil, nil
		}
		out[k] = f.stepped(func(r int) (int64, bool) {
			a := of(r)
			if a == nil || a.Rank != rank || len(a.Coef) != size {
				return 0, false
			}
			if k == 0 {
				return a.Coef[0] - scale*shift(r), true
			}
			return a.Coef[k], true
		}, steps, limits)
	}
	return out
}

func (f *fitter) constant(v int64) int32 {
	return f.series(func(int) (int64, bool) { return v, true })
}

// series adds the series of a value, unless it is known, and returns its index.
func (f *fitter) series(value func(run int) (int64, bool)) int32 {
	return f.stepped(value, nil, nil)
}

// stepped is series for a value that may be a number of steps of a tile's size, within
// limits.
func (f *fitter) stepped(value func(run int) (int64, bool), steps []int64, limits []Limit) int32 {
	s := Series{Steps: steps, Limits: limits}
	key := binary.AppendUvarint(nil, uint64(len(steps)))
	key = binary.AppendUvarint(key, uint64(len(limits)))
	for _, l := range limits {
		key = fmt.Appendf(key, "%v", l)
	}
	for r, size := range f.prog.Sizes {
		if v, ok := value(r); ok {
			s.Sizes, s.Values = append(s.Sizes, size), append(s.Values, v)
			key = binary.AppendVarint(binary.AppendUvarint(key, uint64(r)), v)
		}
	}
	i, ok := f.index[string(key)]
	if !ok {
		i = int32(len(f.prog.Series))
		f.index[string(key)] = i
		f.prog.Series = append(f.prog.Series, s)
	}
	return i
}
