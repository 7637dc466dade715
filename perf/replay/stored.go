package replay

import (
	"math"
	"slices"
	"strings"
)

// spreadStored adds the doubts about addresses and bounds that follow from numbers in memory,
// where there are some about what loads these or what stored them, or where control could
// have gone to code before that stores others.
func (j *judgement) spreadStored() {
	if len(j.prog.Writers) == 0 {
		return
	}
	strays := make([]uint64, len(j.prog.Writers))
	for w := range strays {
		strays[w] = j.stray(j.prog.Writers[w])
	}
	for again := true; again; {
		again = false
		for i := range j.doubts {
			if d := j.doubts[i] | j.storedDoubts(int32(i), strays); d != j.doubts[i] && j.replayed.Visits[i] > 0 {
				j.doubts[i], again = d, true
			}
		}
	}
}

// storedDoubts returns those about place i, as far as they are known.
func (j *judgement) storedDoubts(i int32, strays []uint64) (d doubt) {
	p := &j.prog.Places[i]
	for k := range p.Refs {
		if x := p.Refs[k].Indirect; x != nil {
			d |= j.loadedDoubts(i, x.Load.Place) | j.writtenDoubts(i, x.Writers, strays)
		}
	}
	if p.Numbers != nil {
		for _, l := range p.Numbers.Loads {
			d |= j.loadedDoubts(i, l.Place)
		}
		for _, e := range p.Numbers.Endings {
			d |= j.writtenDoubts(i, e.By, strays)
		}
		if d.any() {
			d |= control
		}
	}
	return d
}

// loadedDoubts returns the doubts about place i that those about another bring, which it
// depends on.
func (j *judgement) loadedDoubts(i, on int32) doubt {
	if on == i || j.replayed.Visits[on] == 0 { // it was executed in the real run alone
		return 0
	}
	switch of := j.doubts[on].access() &^ lostBase; of {
	case 0, notCounted:
		return of
	}
	return unstored
}

func (j *judgement) writtenDoubts(i int32, writers []int32, strays []uint64) (d doubt) {
	for _, w := range writers {
		if strays[w] < j.replayed.last[i] {
			d |= unstored
		}
		d |= j.loadedDoubts(i, j.prog.Writers[w].Place)
	}
	return d
}

// stray returns when control could first have gone where no run has been, in routines that access
// what a writer stores in the contexts that did so.
func (j *judgement) stray(w PlaceRef) uint64 {
	first := uint64(math.MaxUint64)
	touches := make(map[int32]bool)
	lo, hi := j.rangeOf(w.Place, w.Ref)
	for i := range j.prog.Places {
		for k := range j.prog.Places[i].Refs {
			from, to := j.rangeOf(int32(i), k)
			if from <= hi && to >= lo {
				touches[j.prog.Places[i].Context] = true
			}
		}
	}
	for _, i := range j.loose {
		p := &j.prog.Places[i]
		if j.doubts[i]&untested != 0 && j.replayed.Visits[i] > 0 && touches[p.Context] && !fillsMemory(j.code.routine(p.Block)) {
			first = min(first, j.replayed.first[i])
		}
	}
	return first
}

// fillers are the routines of C libraries that store where they are told to, and nowhere else.
var fillers = []string{"memset", "memcpy", "memmove", "bzero", "wordcopy_fwd_aligned", "wordcopy_bwd_aligned", "wordcopy_fwd_dest_aligned", "wordcopy_bwd_dest_aligned"}

// fillsMemory reports whether a routine is one of these.
func fillsMemory(routine string) bool {
	return slices.Contains(fillers, strings.TrimLeft(ownName(routine), "_"))
}

// rangeOf returns the least and largest address of a reference, as far as the size tells.
func (j *judgement) rangeOf(place int32, ref int) (lo, hi uint64) {
	r := &j.prog.Places[place].Refs[ref]
	base := j.bases[r.Base]
	return base + uint64(j.values[r.Lo].At), base + uint64(j.values[r.Hi].At)
}
