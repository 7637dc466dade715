package replay

import (
	"presage/perf/trace"
)

// Run is what a Collector learned from one run. It can be stored.
type Run struct {
	Contexts []Context
	Places   []RunPlace // in the order of their first execution
	Stack    uint64     // the first address outside of the executable's image: the stack's start
	Lost     uint64     // accesses that belong to no known place
	Image    uint64     // the address at which what is loaded from the executable ends
	Objects  []Object   // of its executable, ascending; none unless it was translated

	Loaded []Loaded `json:",omitempty"` // where its files lay, if the engine told

	Heap *RunHeap `json:",omitempty"` // nil: all addresses are real

	Elsewhere []trace.RefID `json:",omitempty"` // references of what is not followed: of other threads, in interruptions
}

// RunPlace is a place of a run.
type RunPlace struct {
	Context int32
	Block   trace.BlockID
	Count   uint64 // executions
	Next    []RunNext
	Refs    []RunRef
	Branch  []RunBranch  // the forms that agree; nil: control went on in one way, or in none that is known
	Hash    uint64       // of the sequence of blocks that followed; 0 if these follow from the code
	Numbers []RunNumbers `json:",omitempty"` // by which the loop around it ends, as far as is known
	Sums    []RunSum     `json:",omitempty"` // of indices that decide what follows
	Forks   bool         // control may go on in several ways
	Given   GivenMemory  // before it: see Code.AnchorAllocations
}

// RunNext is a block that followed, noBlock for the end, and how often.
type RunNext struct {
	Block trace.BlockID
	Count uint64
	Again uint64 // of Count, when it also followed the execution of the place before
}

// RunRef is a reference of a place. If Lo is above Hi, the run's executable has no such
// reference.
type RunRef struct {
	Forms  []RunForm  // those that agree with all accesses, the simplest first; none: irregular
	Bends  *RunBends  // points, where they were looked for; nil: none, or no function goes through all
	Wraps  []RunWraps // sums of functions with jumps that agree with all accesses, the simplest first
	Drifts []RunDrift // what is regular all the same, by level; none: there are Forms, or nothing is known
	Twin   *RunTwin   // an earlier reference that is as irregular; nil: none
	Lo, Hi uint64     // least and largest address

	Indirects []RunIndirect `json:",omitempty"` // numbers in memory from which all addresses follow

	Hash uint64 // of the sequence of addresses

	Repeats uint64 // with Drifts, executions with the same address as the one before
}

// RunBends are points of a function that is the least or greatest of several affine
// ones.
type RunBends struct {
	Rise   []int64 // by coordinate: from one step to the next, where Even
	Even   []bool  // by coordinate: it rises by the same in each step
	Bent   []bool  // by coordinate: it does not; neither: it is not known
	Points [][]int64
}

// RunForm is a form with its coefficients in the run.
type RunForm struct {
	Form    Form
	Classes []RunAffine
}

// RunAffine is an affine function. The coefficients are multiples of 1/8, given in
// eighths, the constant first; none if the class has no point. Rank is the number
// of coefficients beside the constant that the run determines.
type RunAffine struct {
	Coef []int64
	Rank int
}

// RunBranch is a form of a branch with its bounds in the run.
type RunBranch struct {
	Split   Split
	Pivot   int8
	Bends   bool // bounds are RunOutcomes.Bends
	Against bool // bounds that depend on fewer indices than there are contradict some executions
	Classes []RunOutcomes
}

// RunOutcomes are the blocks that follow as the pivot grows, and the bound up to
// which, inclusively, each but the last one does.
type RunOutcomes struct {
	Shape  []trace.BlockID
	First  int64 // the least pivot
	Last   int64 // and the largest
	Bounds []RunAffine
	Bends  []RunBends // in place of Bounds; without points: none
}

// maxForms is the number of forms of a reference or branch that are kept.
const maxForms = 4

func (p *place) result(m *memory) RunPlace {
	r := RunPlace{Context: p.context, Block: p.block, Count: p.count, Hash: p.hash, Forks: p.fork, Given: p.given}
	for i := range p.next {
		r.Next = append(r.Next, RunNext{p.next[i].block, p.next[i].count, p.next[i].again})
	}
	for i := range p.refs {
		p.refs[i].settleTriangles()
	}
	for i := range p.refs {
		s := &p.refs[i]
		ref := RunRef{Lo: s.lo, Hi: s.hi, Hash: s.hash, Forms: s.keepForms()}
		if s.bends != nil && (len(ref.Forms) == 0 || !ref.Forms[0].Form.plain()) {
			if b := s.bends.result(); b.bent() {
				ref.Bends = b
			}
		} else if s.bends != nil { // runs that bend may be of another size
			ref.Bends = s.bends.result()
		}
		s.keepWraps(&ref)
		s.keepIndirects(m, &ref)
		s.keepDrifts(p, &ref)
		r.Refs = append(r.Refs, ref)
	}
	if p.branch == nil {
		return r
	}
	r.Numbers, r.Sums = p.keepNumbers(m), p.branch.keepSums()
	for i, c := range p.branch.candidates {
		if i < maxForms || c.form.Bends {
			r.Branch = append(r.Branch, c.result(c.form.Bends))
		}
		if c.watch && c.lacks() {
			r.Branch = append(r.Branch, c.result(true))
		}
	}
	return r
}

// keepForms returns the forms that agree with all accesses, with their coefficients: of
// residue classes first those that take turns.
func (r *reference) keepForms() (forms []RunForm) {
	for _, j := range r.turnsFirst() {
		f := RunForm{Form: r.candidates[j].form}
		coarse := false
		for k := range r.candidates[j].classes {
			coarse = coarse || r.candidates[j].classes[k].coarse
			f.Classes = append(f.Classes, r.candidates[j].classes[k].result())
		}
		if !coarse && len(forms) < maxForms {
			forms = append(forms, f)
		}
	}
	return forms
}

// result returns what is kept: bounds, or the points of those that bend.
func (c *branchCandidate) result(bends bool) RunBranch {
	b := RunBranch{Split: c.form.Split, Pivot: c.form.Pivot, Bends: bends}
	for i := range c.classes {
		b.Against = b.Against || !bends && c.classes[i].contradicts()
		o := RunOutcomes{Shape: c.classes[i].shape, First: c.classes[i].first, Last: c.classes[i].last}
		for k := range c.classes[i].bounds {
			if bends {
				o.Bends = append(o.Bends, RunBends{})
				if b := c.classes[i].bends[k].result(); b != nil {
					o.Bends[k] = *b
				}
			} else {
				o.Bounds = append(o.Bounds, c.classes[i].bounds[k].result())
			}
		}
		b.Classes = append(b.Classes, o)
	}
	return b
}

func (a *affine) result() RunAffine { return RunAffine{Coef: a.coef, Rank: len(a.rows)} }
