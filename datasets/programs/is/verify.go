package main

import (
	"fmt"
	"io"

	"presage/datasets/programs/internal/npb"
)

// findings are the measured departures from what must hold.
type findings struct {
	counted       bool // all keys, in every ranking
	outOfOrder    int  // keys less than the one before them, at the end
	before, after uint64
}

// reference is what NAS knows about a class: places of five keys, and their ranks
// before shifts.
type reference struct {
	index [tested]int
	rank  [tested]int32
}

// published returns NAS's test keys for a class.
func published(class string) (r reference, ok bool) {
	index, rank := npb.Reference("IS", class, "test_index"), npb.Reference("IS", class, "test_rank")
	for i := range min(len(index), len(rank), tested) {
		r.index[i], r.rank[i] = int(index[i]), int32(rank[i])
	}
	return r, len(index) == tested && len(rank) == tested
}

// shift returns what is to be added to the rank of test key i in ranking it, as the
// sources of NPB state it. Each ranking changes a key near the middle to one of the
// smallest and another to one of the largest, so that keys in the lower half come
// to stand one higher, and those in the upper half one lower.
func shift(class string, i, it int) int32 {
	switch {
	case class == "S" && i <= 2:
		return int32(it)
	case class == "W" && i <= 1:
		return int32(it - 2)
	case class == "A" && i <= 2:
		return int32(it - 1)
	case class == "A":
		return int32(1 - it)
	}
	return int32(-it)
}

// verify returns the first law that the result breaks.
func verify(p *problem, f findings) error {
	if !f.counted {
		return fmt.Errorf("keys are missing from the counts of a ranking: %d", p.total)
	}
	if f.outOfOrder > 0 {
		return fmt.Errorf("%d keys are less than the one before them", f.outOfOrder)
	}
	if f.before != f.after {
		return fmt.Errorf("the keys in order are not those that there were")
	}
	for _, s := range p.ranked[len(p.ranked)-1] {
		if s.rank != s.below {
			return fmt.Errorf("the key %d has rank %d, but %d are less", s.key, s.rank, s.below)
		}
	}
	want, ok := published(p.class)
	if !ok || p.iterations > offset {
		return nil
	}
	for it, ranked := range p.ranked {
		for i, s := range ranked {
			if rank := want.rank[i] + shift(p.class, i, it+1); s.rank != rank {
				return fmt.Errorf("ranking %d: test key %d has rank %d, NAS's for class %s is %d", it+1, i+1, s.rank, p.class, rank)
			}
		}
	}
	return nil
}

// report prints the problem and what was found.
//
//go:noinline
func report(w io.Writer, p *problem, f findings) {
	fmt.Fprintf(w, "is: keys %d, different %d, iterations %d\n", len(p.key), p.keys, p.iterations)
	for it, ranked := range p.ranked {
		fmt.Fprintf(w, "iteration %d: keys and ranks", it+1)
		for _, s := range ranked {
			fmt.Fprintf(w, " %d %d", s.key, s.rank)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "order: %d of %d keys less than the one before\n", f.outOfOrder, len(p.key))
	if want, ok := published(p.class); ok {
		fmt.Fprintf(w, "class %s: NAS's ranks are, before shifts, %d\n", p.class, want.rank)
	}
}
