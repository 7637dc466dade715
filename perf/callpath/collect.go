package callpath

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"presage/perf/cache"
	"presage/perf/trace"
)

// collector simulates a hierarchy, and counts by path and reference. It is a
// trace.Collector.
type collector struct {
	walker *walker
	exact  *cache.Simulator
	shifts []uint // log2 of the block size of each level
	memo   []memo // by reference
	index  map[uint64]uint32
	keys   []key
	counts []uint64 // of each key: accesses and misses by level
	width  int
}

var _ trace.Collector = (*collector)(nil)

// key is what accesses are counted by.
type key struct {
	node int32
	ref  trace.RefID
}

// memo is where a reference was counted last.
type memo struct{ node, at int32 }

func newCollector(c *code, config cache.Config) (*collector, error) {
	exact, err := cache.New(c.plan, config)
	if err != nil {
		return nil, err
	}
	out := &collector{walker: newWalker(c), exact: exact, memo: newMemos(c.plan), index: make(map[uint64]uint32)}
	for _, l := range config.Levels {
		out.shifts = append(out.shifts, uint(bits.TrailingZeros64(l.BlockBytes)))
	}
	for _, t := range config.TLBs {
		out.shifts = append(out.shifts, uint(bits.TrailingZeros64(t.EntryBytes)))
	}
	out.width = 2 * len(out.shifts)
	return out, nil
}

func newMemos(plan *trace.Plan) []memo {
	return slices.Repeat([]memo{{node: none}}, len(plan.Refs))
}

// Observe implements trace.Collector.
func (c *collector) Observe(b *trace.Batch) { c.walker.observe(b, c.access) }

// access counts the accesses of a block.
func (c *collector) access(node int32, accesses []trace.Access) {
	for _, a := range accesses {
		at := c.at(key{node, a.Ref()})
		own := c.counts[at : at+c.width]
		for i, shift := range c.shifts {
			own[2*i] += a.Last()>>shift - a.Addr()>>shift + 1
		}
		for _, m := range c.exact.Access(a) {
			own[1+2*m.Level]++
		}
	}
}

// at returns where in counts those of a key begin.
func (c *collector) at(k key) int {
	m := &c.memo[k.ref]
	if m.node == k.node {
		return int(m.at)
	}
	packed := uint64(k.node)<<32 | uint64(k.ref)
	n, ok := c.index[packed]
	if !ok {
		n = uint32(len(c.keys))
		c.index[packed] = n
		c.keys = append(c.keys, k)
		c.counts = append(c.counts, make([]uint64, c.width)...)
	}
	*m = memo{k.node, int32(n) * int32(c.width)}
	return int(m.at)
}

// storedCounts are those of a reference after a path.
type storedCounts struct {
	Node             int32
	Ref              trace.RefID
	Accesses, Misses []uint64 // by level
}

// result returns the counts by path and reference.
func (c *collector) result() []storedCounts {
	all := make([]storedCounts, len(c.keys))
	for i, k := range c.keys {
		own := c.counts[i*c.width : (i+1)*c.width]
		s := storedCounts{Node: k.node, Ref: k.ref}
		for l := range c.shifts {
			s.Accesses, s.Misses = append(s.Accesses, own[2*l]), append(s.Misses, own[1+2*l])
		}
		all[i] = s
	}
	slices.SortFunc(all, func(a, b storedCounts) int { return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Ref, b.Ref)) })
	return all
}

// warnings tell what of the paths is not known.
func (w *walker) warnings() []string {
	var list []string
	if w.lost > 0 {
		list = append(list, fmt.Sprintf("call paths: %d times control came from where it was not followed, or from more than %d calls; paths begin anew there", w.lost, w.depth))
	}
	if w.joined > 0 {
		list = append(list, fmt.Sprintf("call paths: there are more than %d; further ones begin at the routine called", w.tree.most))
	}
	return list
}
