package reuse

import (
	"math/bits"

	"presage/perf/trace"
)

const (
	// maxOneIn bounds Options.SampleOneIn: beyond it nothing would be left.
	maxOneIn = 1 << 20

	// sampleParts is the number of sub-samples into which the sampled blocks
	// are divided, by hash: their differences give the error of their sum.
	sampleParts = 16
	partBits    = 4
)

// Sample is the part of a Result that only sampling has.
type Sample struct {
	// OneIn is the reciprocal of the sampling rate: each block is sampled with
	// probability 1/OneIn.
	OneIn uint64

	// Accesses counts all block accesses of each group, exactly.
	Accesses []uint64

	// Parts has, for each group, the histograms of the sub-samples: unscaled
	// counts of sampled accesses at distances in sampled blocks; nil if no
	// access was sampled.
	Parts [][]Histogram
}

// sampler finds the distances of the accesses to sampled blocks, in sampled
// blocks: spatially hashed sampling at a fixed rate R = 1/oneIn (after
// Waldspurger, Park, Garthwaite and Ahmad, "Efficient MRC construction with
// SHARDS", FAST 2015). All accesses to a sampled block are kept, so that reuses
// stay whole. Each of the D blocks accessed in between is sampled
// independently, so the distance found has the binomial distribution of D and
// R; divided by R it estimates D, and a count divided by R estimates the count,
// both without bias.
type sampler struct {
	*past
	counts   counts
	accesses []uint64 // of each group, all
	place    []int32  // group → its first part in counts; -1: none
	oneIn    uint64
	log      uint
	seed     uint64

	kept  []keptAccess
	parts []uint8 // of those kept

	expanded trace.Batch // one with runs
}

// keptAccess is an access to a sampled block, by a reference of a group.
type keptAccess struct {
	block uint64
	group uint32
}

func newSampler(l layout, oneIn, seed uint64, window int) *sampler {
	s := &sampler{
		past:     newPast(l, window),
		counts:   newCounts(0),
		accesses: make([]uint64, l.groups),
		place:    make([]int32, l.groups),
		oneIn:    oneIn,
		log:      uint(bits.TrailingZeros64(oneIn)),
		seed:     scatter(seed + 1),
	}
	for g := range s.place {
		s.place[g] = -1
	}
	return s
}

// scatter is a bijection of 64-bit numbers in which every bit depends on every
// bit of the argument: the finalizer of SplitMix64 (Steele, Lea and Flood,
// "Fast splittable pseudorandom number generators", OOPSLA 2014, Figure 16).
func scatter(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (s *sampler) observe(b *trace.Batch) {
	accesses := b.Accesses
	if len(b.Runs) > 0 {
		b.Expand(&s.expanded)
		accesses = s.expanded.Accesses
	}
	for len(accesses) > 0 {
		n := min(sieve, len(accesses))
		s.sift(accesses[:n])
		for from := 0; from < len(s.kept); from += sieve {
			to := min(from+sieve, len(s.kept))
			s.settle(s.kept[from:to], s.parts[from:to])
		}
		accesses = accesses[n:]
	}
}

// sift counts the accesses and keeps those to sampled blocks. The top bits of a
// block's hash select it, the next ones its part.
func (s *sampler) sift(accesses []trace.Access) {
	s.kept, s.parts = s.kept[:0], s.parts[:0]
	shift, choose, part := s.shift, 64-s.log, 64-s.log-partBits
	for _, a := range accesses {
		group := s.groupOf[a.Ref()]
		for block, last := a.Addr()>>shift, a.Last()>>shift; block <= last; block++ {
			s.accesses[group]++
			if h := scatter(block + s.seed); h>>choose == 0 {
				s.kept = append(s.kept, keptAccess{block, group})
				s.parts = append(s.parts, uint8(h>>part))
			}
		}
	}
}

func (s *sampler) settle(kept []keptAccess, parts []uint8) {
	for i, a := range kept {
		s.entries[i] = s.entryOf(a.block)
	}
	s.near(s.entries[:len(kept)])
	for i, a := range kept {
		e := s.entries[i]
		place := uint32(s.placeOf(a.group)) + uint32(parts[i])
		if slot := s.table.last[e]; slot != 0 {
			s.counts.add(place, s.line.take(slot))
		} else {
			s.counts.cold[place]++
			s.blocks++
		}
		s.push(e)
	}
}

func (s *sampler) placeOf(group uint32) int32 {
	if s.place[group] < 0 {
		s.place[group] = int32(len(s.counts.cold))
		s.counts.grow(sampleParts)
	}
	return s.place[group]
}

func (s *sampler) result() *Result {
	r := &Result{
		Blocks: s.blocks * s.oneIn,
		Groups: make([]Histogram, s.groups),
		Sample: &Sample{OneIn: s.oneIn, Accesses: append([]uint64(nil), s.accesses...), Parts: make([][]Histogram, s.groups)},
	}
	for g, place := range s.place {
		r.Accesses += s.accesses[g]
		if place < 0 {
			continue
		}
		var sum Histogram
		parts := make([]Histogram, sampleParts)
		for i := range parts {
			parts[i] = s.counts.histogram(int(place) + i)
			sum = sum.merge(&parts[i])
		}
		r.Sample.Parts[g] = parts
		r.Groups[g] = sum.scaled(s.oneIn)
	}
	return r
}

// scaled returns the histogram of all accesses that h, of those to one block in
// oneIn, estimates.
func (h *Histogram) scaled(oneIn uint64) Histogram {
	out := Histogram{Cold: h.Cold * oneIn}
	for _, b := range h.Bins {
		out.Bins = append(out.Bins, Bin{b.Lo * oneIn, b.Hi * oneIn, b.Count * oneIn})
	}
	return out
}
