package iperf

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"presage/perf/fit"
)

// The names that a formula may use. Lengths are in bytes.
//
// Everywhere:
//
//	n, …                the kernel's parameters
//	iterations          of the innermost loop, in all
//	footprint           from the first to the last byte of each array, added up
//	references, arrays  how many there are
//	self_temporal       references that some loop does not move
//	group_reuse         references that share what another brought
//	levels, coloured    caches of the system; 1 if its pages are coloured, else 0
//	tlb_entries, page, tlb_unified, memory_bytes, and the times in seconds
//	tlb_latency, memory_latency, if they are known; frequency in Hz
//	iteration_time      seconds by iterations of the innermost loop, the median over the
//	                    measured sizes: few sizes have conflicts
//	X_sets, X_block, X_subblock, X_ways, X_nonblocking, X_physical, X_latency
//	                    of the cache called X (L1, L2); flags are 0 or 1
//
// In a term for each loop:
//
//	body                how often the loop's body runs, in all
//
// In a term that is added up over references, one for each group:
//
//	size, stride, trips of one access; along the innermost loop; of that loop
//	sweeps              how often the innermost loop is entered
//	touched             bytes between the group's first and last
//	X_D, X_D_gcd        Figure 6's D for the cache called X, exact and without floor
//	X_grain             sub-blocks that one iteration fetches, at most 1
//	X_repeats           sweeps in a row over the same sub-blocks
//	X_patterns          sweeps divided by X_repeats
var everywhere = []string{
	"iterations", "footprint", "references", "arrays", "self_temporal", "group_reuse",
	"levels", "coloured", "tlb_entries", "page", "tlb_unified", "memory_bytes",
	"tlb_latency", "memory_latency", "frequency", "iteration_time",
	"body", "size", "stride", "trips", "sweeps", "touched",
}

// ofLevel lists the suffixes of names that refer to a cache.
var ofLevel = []string{
	"_sets", "_block", "_subblock", "_ways", "_nonblocking", "_physical", "_latency",
	"_D_gcd", "_D", "_grain", "_repeats", "_patterns",
}

// reserved reports whether formulas use a name for something other than a
// parameter of the kernel.
func reserved(name string) bool {
	if slices.Contains(everywhere, name) {
		return true
	}
	return slices.ContainsFunc(ofLevel, func(end string) bool { return strings.HasSuffix(name, end) })
}

// validName reports whether formulas can use s as a name.
func validName(s string) bool {
	t, err := fit.ParseTerm(s)
	return err == nil && len(s) <= 64 && slices.Equal(t.Params(), []string{s})
}

// scope holds the values of names at one problem size.
type scope struct {
	at     fit.Point // the problem size
	kernel map[string]float64
	loops  []map[string]float64 // one a loop
	groups []map[string]float64 // one a group of references
	deeper bool                 // reuse by outer loops that is not modelled
}

// newScope analyses the kernel at one problem size on a system.
func newScope(k *Kernel, s *System, p fit.Point) (*scope, error) {
	nest, err := k.At(p)
	if err != nil {
		return nil, err
	}
	inner := len(nest.Trips) - 1
	base := s.facts()
	for _, name := range k.Params {
		base[name] = p[name]
	}
	near := smallestSubBlock(s)
	groups := nest.groups(near)
	base["iterations"] = nest.Iterations(inner)
	base["footprint"] = nest.Footprint()
	base["references"] = float64(len(nest.Refs))
	base["arrays"] = float64(len(nest.Extents()))
	base["group_reuse"] = float64(len(nest.Refs) - len(groups))
	base["self_temporal"] = float64(nest.temporal())
	out := &scope{at: p, kernel: base}
	for l := range nest.Trips {
		v := maps.Clone(base)
		v["body"] = nest.Iterations(l)
		out.loops = append(out.loops, v)
	}
	for _, g := range groups {
		v, deeper := nest.groupFacts(g.leader, s, base)
		out.groups = append(out.groups, v)
		out.deeper = out.deeper || deeper
	}
	return out, nil
}

func (n *Nest) groupFacts(r *NestReference, s *System, base map[string]float64) (map[string]float64, bool) {
	inner := len(n.Trips) - 1
	v := maps.Clone(base)
	lo, hi := n.extent(r)
	v["size"] = float64(r.Bytes)
	v["stride"] = max(float64(r.Strides[inner]), -float64(r.Strides[inner]))
	v["trips"] = n.Trips[inner]
	v["sweeps"] = n.Iterations(inner) / n.Trips[inner]
	v["touched"] = float64(hi - lo)
	reused := false
	for i := range s.Levels {
		l := &s.Levels[i]
		p, deeper := n.patternIn(r, l)
		v[l.Name+"_D"], v[l.Name+"_D_gcd"] = p.distance, p.distanceGCD
		v[l.Name+"_grain"], v[l.Name+"_repeats"], v[l.Name+"_patterns"] = p.grain, p.repeats, p.patterns
		reused = reused || deeper
	}
	return v, reused
}

// temporal returns the number of references that do not move along some loop
// that runs more than once.
func (n *Nest) temporal() int {
	count := 0
	for i := range n.Refs {
		for j, s := range n.Refs[i].Strides {
			if s == 0 && n.Trips[j] > 1 {
				count++
				break
			}
		}
	}
	return count
}

func smallestSubBlock(s *System) float64 {
	near := 1.0
	for i := range s.Levels {
		if b := float64(s.Levels[i].subBlock()); i == 0 || b < near {
			near = b
		}
	}
	return near
}

// pointText formats a problem size, such as "n=512".
func pointText(p fit.Point) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(p)) {
		parts = append(parts, fmt.Sprintf("%s=%s", name, strconv.FormatFloat(p[name], 'g', -1, 64)))
	}
	return strings.Join(parts, " ")
}
