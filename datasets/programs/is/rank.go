package main

import (
	"slices"

	"presage/datasets/programs/internal/npb"
)

// offset is how far behind the first key that a ranking changes the second is,
// unless there are more rankings.
const offset = 10

// tested is the number of keys whose ranks are looked at in each ranking.
const tested = 5

// problem holds the keys, their ranks, and what the rankings found.
type problem struct {
	class      string
	keys       int // different ones
	iterations int

	key    []int32 // in any order
	count  []int32 // keys not above each key; ranked keys while they are put in order
	sorted []int32

	test   [tested]int      // places of the keys looked at
	ranked [][tested]sample // what was found there, in each ranking
	total  []int32          // keys counted, in each
}

// sample is a key, its rank as rank finds it, and as counting finds it.
type sample struct{ key, rank, below int32 }

// allocate returns a problem with all the memory that it will ever use.
func allocate(o options) *problem {
	n := 1 << o.n
	p := &problem{
		class: o.class, keys: 1 << o.keys, iterations: o.iterations,
		key: make([]int32, n), count: make([]int32, 1<<o.keys), sorted: make([]int32, n),
		ranked: make([][tested]sample, 0, o.iterations), total: make([]int32, 0, o.iterations),
	}
	for i := range p.test { // behind the keys that change, as far as there are any
		p.test[i] = (2*i + 1) * n / (2 * tested)
	}
	if r, ok := published(p.class); ok {
		p.test = r.index
	}
	return p
}

// createSeq makes the keys. Four numbers below 2⁴⁶ add up to less than 2⁴⁸; times
// a quarter of 2^logKeys, over 2⁴⁶, that is a shift to the right.
//
//go:noinline
func createSeq(key []int32, logKeys int) {
	x := uint64(npb.Seed)
	for i := range key {
		sum := npb.Randi(&x) + npb.Randi(&x) + npb.Randi(&x) + npb.Randi(&x)
		key[i] = int32(sum >> (46 + 2 - logKeys))
	}
}

// iterate ranks the keys again and again, and samples the ranks.
//
//go:noinline
func iterate(p *problem) {
	second := max(offset, p.iterations)
	for it := 1; it <= p.iterations; it++ {
		p.key[it] = int32(it)
		p.key[it+second] = int32(p.keys - it)
		rank(p.count, p.key)
		p.sample()
	}
}

// rank sets count[k] to the number of keys that are at most k: the rank of the
// key k+1.
//
//go:noinline
func rank(count, key []int32) {
	clear(count)
	for _, k := range key {
		count[k]++
	}
	sum := int32(0)
	for k, c := range count {
		sum += c
		count[k] = sum
	}
}

// sample looks at the ranks of five keys.
func (p *problem) sample() {
	var s [tested]sample
	for i, at := range p.test {
		s[i].key = p.key[at]
		if s[i].key > 0 {
			s[i].rank = p.count[s[i].key-1]
		}
	}
	p.ranked = append(p.ranked, s)
	p.total = append(p.total, p.count[p.keys-1])
}

// fullVerify puts the keys in order, and measures what must hold. The samples'
// ranks are counted one by one for the last ranking, whose keys are still there.
//
//go:noinline
func fullVerify(p *problem) findings {
	f := findings{counted: !slices.ContainsFunc(p.total, func(t int32) bool { return int(t) != len(p.key) })}
	last := &p.ranked[len(p.ranked)-1]
	for i := range last {
		last[i].below = below(p.key, last[i].key)
	}
	place(p.sorted, p.key, p.count)
	for i, k := range p.sorted[1:] {
		if k < p.sorted[i] {
			f.outOfOrder++
		}
	}
	f.before, f.after = fingerprint(p.key), fingerprint(p.sorted)
	return f
}

// place puts each key where its rank says, from the last one on. count ends as
// the rank of each key.
//
//go:noinline
func place(sorted, key, count []int32) {
	for i := len(key) - 1; i >= 0; i-- {
		k := key[i]
		count[k]--
		sorted[count[k]] = k
	}
}

//go:noinline
func below(key []int32, limit int32) (keys int32) {
	for _, k := range key {
		if k < limit {
			keys++
		}
	}
	return keys
}

// fingerprint is the same for the same keys in any order. Keys are mixed before
// they are added up, by the finalizer of MurmurHash3, so that sets with the same
// sum differ.
//
//go:noinline
func fingerprint(key []int32) uint64 {
	sum := uint64(0)
	for _, k := range key {
		h := uint64(k) + 0x9e3779b97f4a7c15
		h = (h ^ h>>33) * 0xff51afd7ed558ccd
		h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
		sum += h ^ h>>33
	}
	return sum
}
