package iperf

import "math"

// group is a set of references that share the blocks they fetch: the locality
// between them is complete (Wolf and Lam's group reuse), so that one represents
// all.
type group struct {
	leader *NestReference
	size   int // references
}

// groups groups references to one array with equal strides whose distance is
// less than near bytes and spanned by a few iterations of the loops.
func (n *Nest) groups(near float64) []group {
	var out []group
next:
	for i := range n.Refs {
		r := &n.Refs[i]
		for g := range out {
			if n.shares(out[g].leader, r, near) {
				out[g].size++
				continue next
			}
		}
		out = append(out, group{leader: r, size: 1})
	}
	return out
}

// groupIterations is the number of iterations of a loop that reuse between
// references may span, which is about as long as a block stays in a cache.
// Stencils of up to this radius form one group.
const groupIterations = 4

// shares reports whether b accesses the same bytes as a, to within near, at
// most groupIterations of each loop earlier or later.
func (n *Nest) shares(a, b *NestReference, near float64) bool {
	if a.Array != b.Array {
		return false
	}
	for j := range a.Strides {
		if a.Strides[j] != b.Strides[j] {
			return false
		}
	}
	rest := float64(b.Offset - a.Offset)
	for _, s := range bySize(a.Strides) {
		if s == 0 {
			continue
		}
		k := math.Round(rest / float64(s))
		k = max(-groupIterations, min(k, groupIterations))
		rest -= k * float64(s)
	}
	return math.Abs(rest) < near
}

// Locality is the reuse of a reference in a cache, in the terms of Wolf and Lam
// (PLDI 1991). Loops are counted from the outermost, 0; -1 is none.
type Locality struct {
	Temporal int // the innermost loop that does not move the reference: self-temporal reuse
	Spatial  int // the innermost loop that moves it within a block: self-spatial reuse
	Group    int // the first reference that touches the same blocks, or its own index: group reuse
}

// Localities returns the locality of each reference in blocks of the given
// size.
func (n *Nest) Localities(blockBytes uint64) []Locality {
	out := make([]Locality, len(n.Refs))
	for i := range n.Refs {
		r := &n.Refs[i]
		l := Locality{Temporal: -1, Spatial: -1, Group: i}
		for j, s := range r.Strides {
			switch {
			case n.Trips[j] <= 1:
			case s == 0:
				l.Temporal = j
			case max(s, -s) < int64(blockBytes):
				l.Spatial = j
			}
		}
		for g := range i {
			if out[g].Group == g && n.shares(&n.Refs[g], r, float64(blockBytes)) {
				l.Group = g
				break
			}
		}
		out[i] = l
	}
	return out
}

// bySize returns the absolute strides, the largest first.
func bySize(strides []int64) []int64 {
	out := make([]int64, 0, len(strides))
	for _, s := range strides {
		if s < 0 {
			s = -s
		}
		out = append(out, s)
	}
	for i := range out {
		for j := i; j > 0 && out[j] > out[j-1]; j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}

// pattern describes the accesses of a group's innermost loop to one cache, in
// the terms of the report's appendix A.2: a sequence at a constant stride,
// repeated because the loop around it advances by less than a sub-block.
type pattern struct {
	grain    float64 // sub-blocks fetched an iteration of the innermost loop, at most 1
	repeats  float64 // p of A.2: how often the same sub-blocks are accessed in a row
	patterns float64 // N of A.2

	// distance is D of Figure 6, by the definition with the floor function;
	// distanceGCD is the approximation without it. In iterations; infinite if
	// no two iterations ever meet in a set.
	distance, distanceGCD float64
}

// patternIn returns the pattern of r in a cache. deeper reports that a loop
// outside the repeating one would reuse as well, which is not modelled.
func (n *Nest) patternIn(r *NestReference, l *Level) (p pattern, deeper bool) {
	inner := len(n.Trips) - 1
	sub := float64(l.subBlock())
	trips := n.Trips[inner]
	stride := math.Abs(float64(r.Strides[inner]))
	p.grain = min(1, max(stride/sub, 1/trips))
	p.repeats = 1
	sweeps := n.Iterations(inner) / trips
	if inner > 0 {
		outer := math.Abs(float64(r.Strides[inner-1]))
		if outer < sub {
			p.repeats = n.Trips[inner-1]
			if outer > 0 {
				p.repeats = min(p.repeats, sub/outer)
			}
		}
		for j := range inner - 1 {
			s := math.Abs(float64(r.Strides[j]))
			deeper = deeper || s < sub && n.Trips[j] > 1
		}
	}
	p.patterns = sweeps / p.repeats
	p.distance = exactDistance(int64(stride), int64(l.BlockBytes), int64(l.Sets))
	p.distanceGCD = gcdDistance(int64(stride), int64(l.BlockBytes), int64(l.Sets))
	return p, deeper
}

// exactDistance returns the smallest d > 0 for which floor(s·d / l) is a
// multiple of S (Figure 6), with one departure: for s < l, iterations within
// the same block do not count, as they reuse it and evict nothing. Taken
// literally, Figure 6 has D = 1 there and predicts a miss for each access of a
// unit-stride loop. It is infinite for s = 0.
//
// floor(s·d / l) is a multiple of S exactly if s·d mod lS < l.
func exactDistance(s, l, sets int64) float64 {
	way := l * sets
	switch {
	case s == 0:
		return math.Inf(1)
	case s < l:
		return float64((way + s - 1) / s) // the first iteration that is a way further
	}
	at := int64(0)
	for d := int64(1); ; d++ {
		at = (at + s) % way
		if at < l {
			return float64(d)
		}
	}
}

// gcdDistance returns lS / gcd(s, lS): D without the floor function (A.2).
func gcdDistance(s, l, sets int64) float64 {
	if s == 0 {
		return math.Inf(1)
	}
	a, b := s, l*sets
	for b != 0 {
		a, b = b, a%b
	}
	return float64(l * sets / a)
}
