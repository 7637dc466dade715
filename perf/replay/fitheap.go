package replay

import (
	"fmt"
	"slices"

	"presage/perf/trace"
)

// Heap is what runs asked of allocators.
type Heap struct {
	Calls  []HeapCall
	Begins uint64
	// Trouble says why it is not known what another size asks for; empty: it is known.
	Trouble string
}

// HeapCall is a place at which allocators are called.
type HeapCall struct {
	Place  int32
	Role   trace.Role
	Sites  []int32 // by slot
	Never  bool    // nothing is asked for, as when null is given back
	Sizes  []int32 // in Series: by event, or of all
	Freed  []int32 // in Heap.Calls, -1 for none; likewise
	Newest bool
}

// fitHeap joins what the runs asked of allocators.
func (f *fitter) fitHeap() {
	with := 0
	for _, r := range f.runs {
		if r.Heap != nil {
			with++
		}
	}
	if with == 0 {
		return
	}
	h := &Heap{}
	f.prog.Heap = h
	if with < len(f.runs) {
		h.Trouble = "not all runs give memory back and ask for more"
		return
	}
	h.Begins = f.runs[len(f.runs)-1].Heap.Begins
	of, numbers := f.heapCalls()
	for _, place := range numbers.places {
		h.Calls = append(h.Calls, HeapCall{Place: place})
		c := &h.Calls[len(h.Calls)-1]
		if err := f.fitCall(c, of[place], numbers); err != nil {
			h.Trouble = fmt.Sprintf("%s: %v", f.code.routine(f.prog.Places[place].Block), err)
			return
		}
	}
}

// callNumbers numbers calls of allocators in the order of their places.
type callNumbers struct {
	places []int32
	at     map[int32]int32 // by place
}

// heapCalls returns the calls of each place, by run; nil where a run has none.
func (f *fitter) heapCalls() (map[int32][]*RunCall, *callNumbers) {
	of := make(map[int32][]*RunCall)
	for r, run := range f.runs {
		if run.Heap.Begins != 0 {
			f.prog.Heap.Begins = run.Heap.Begins
		}
		for i := range run.Heap.Calls {
			place := f.places[r][run.Heap.Calls[i].Place]
			if of[place] == nil {
				of[place] = make([]*RunCall, len(f.runs))
			}
			of[place][r] = &run.Heap.Calls[i]
		}
	}
	n := &callNumbers{at: make(map[int32]int32)}
	for i := range f.prog.Places {
		p := &f.prog.Places[i]
		if f.code.asks(f.prog.Contexts, placeKey{p.Context, p.Block}) {
			n.at[int32(i)] = int32(len(n.places))
			n.places = append(n.places, int32(i))
		}
	}
	return of, n
}

// fitCall joins what runs asked for at a place.
func (f *fitter) fitCall(c *HeapCall, runs []*RunCall, numbers *callNumbers) error {
	c.Role = f.code.entries[f.prog.Places[c.Place].Block]
	if c.Never = runs == nil; c.Never {
		return nil
	}
	sizes, freed := 0, 0
	for r, run := range runs {
		in := f.in[c.Place][r]
		switch {
		case in == nil && run == nil:
			continue
		case in == nil || run == nil || run.Events != in.Count:
			return fmt.Errorf("at n=%d not every call asks for memory or gives some back", f.prog.Sizes[r])
		case !slices.Equal(c.Sites[:min(len(c.Sites), len(run.Sites))], run.Sites[:min(len(c.Sites), len(run.Sites))]):
			return fmt.Errorf("sites of memory have other numbers at other sizes")
		}
		if len(run.Sites) > len(c.Sites) {
			c.Sites = run.Sites
		}
		c.Newest = c.Newest || run.Newest
		sizes, freed = max(sizes, len(run.Sizes)), max(freed, len(run.Freed))
	}
	if alike(runs, func(c *RunCall) int { return len(c.Sizes) }, sizes) {
		return fmt.Errorf("asks for memory of many sizes, and more of them the larger n is")
	}
	for k := range sizes {
		c.Sizes = append(c.Sizes, f.series(func(r int) (int64, bool) {
			if runs[r] == nil || len(runs[r].Sizes) == 0 {
				return 0, false
			}
			return int64(runs[r].Sizes[min(k, len(runs[r].Sizes)-1)]), true
		}))
	}
	return f.fitFreed(c, runs, freed, numbers)
}

// alike reports whether lists of runs that are longer than 1 differ in length.
func alike(runs []*RunCall, length func(*RunCall) int, longest int) bool {
	return longest > 1 && slices.ContainsFunc(runs, func(c *RunCall) bool {
		return c != nil && length(c) != longest && uint64(longest) != c.Events
	})
}

// fitFreed finds whose memory a call gives back.
func (f *fitter) fitFreed(c *HeapCall, runs []*RunCall, longest int, numbers *callNumbers) error {
	if alike(runs, func(c *RunCall) int { return len(c.Freed) }, longest) {
		return fmt.Errorf("gives back memory of several calls")
	}
	for k := range longest {
		of := int32(-2)
		for r, run := range runs {
			if run == nil || len(run.Freed) == 0 {
				continue
			}
			which := int32(-1)
			if i := run.Freed[min(k, len(run.Freed)-1)]; i >= 0 {
				which = numbers.at[f.places[r][f.runs[r].Heap.Calls[i].Place]]
			}
			if of != -2 && of != which {
				return fmt.Errorf("gives back memory of several calls")
			}
			of = which
		}
		if of != -2 {
			c.Freed = append(c.Freed, of)
		}
	}
	return nil
}
