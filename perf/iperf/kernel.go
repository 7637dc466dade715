package iperf

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"presage/perf/fit"
	"presage/perf/trace"
)

// Kernel is a perfect loop nest as far as factors need it: trip counts, and the
// stride of each reference along each loop. It is plain data, filled from a
// file, a program or the static analysis of a binary.
type Kernel struct {
	Name, Title string
	Source      string
	Params      []string // what trip counts and strides depend on, such as n

	Loops      []Loop // from the outermost to the innermost, at least one
	References []Reference
}

// Loop is a level of the nest. Trips is the trip count.
type Loop struct {
	Name  string
	Trips fit.Term
}

// Reference is one memory access of the innermost body.
type Reference struct {
	Array string
	Kind  trace.Kind
	Bytes uint64 // accessed at once

	// Strides are the changes of the address, in bytes, from one iteration to
	// the next of each of the kernel's loops, in their order.
	Strides []fit.Term
	// Offset is the first address, in bytes from the array's beginning; the zero
	// Term is 0.
	Offset fit.Term
}

// Check returns an error if k cannot be analysed.
func (k *Kernel) Check() error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("iperf: kernel %q: %s", k.Name, fmt.Sprintf(format, args...))
	}
	switch {
	case len(k.Loops) == 0:
		return fail("has no loops")
	case len(k.References) == 0:
		return fail("has no references")
	}
	for _, name := range k.Params {
		if !validName(name) || reserved(name) {
			return fail("parameter %q: want a name of letters, digits and _ that formulas do not use otherwise", name)
		}
	}
	for _, l := range k.Loops {
		if err := k.known(l.Trips); err != nil {
			return fail("trip count of loop %s: %v", l.Name, err)
		}
	}
	for i, r := range k.References {
		if r.Bytes == 0 || r.Bytes > 1<<20 {
			return fail("reference %d (%s) accesses %d bytes, want 1 to 1 MiB", i+1, r.Array, r.Bytes)
		}
		if len(r.Strides) != len(k.Loops) {
			return fail("reference %d (%s) has %d strides for %d loops", i+1, r.Array, len(r.Strides), len(k.Loops))
		}
		for j, s := range r.Strides {
			if err := k.known(s); err != nil {
				return fail("stride of reference %d (%s) along loop %s: %v", i+1, r.Array, k.Loops[j].Name, err)
			}
		}
		if r.Offset.String() != "" {
			if err := k.known(r.Offset); err != nil {
				return fail("offset of reference %d (%s): %v", i+1, r.Array, err)
			}
		}
	}
	return nil
}

func (k *Kernel) known(t fit.Term) error {
	if t.String() == "" {
		return fmt.Errorf("formula is missing")
	}
	for _, name := range t.Params() {
		if !slices.Contains(k.Params, name) {
			return fmt.Errorf("unknown parameter %s in %s", name, t)
		}
	}
	return nil
}

// Nest is a kernel at one problem size.
type Nest struct {
	Trips []float64 // of each loop
	Refs  []NestReference
}

// NestReference is a reference of a Nest.
type NestReference struct {
	Array   string
	Kind    trace.Kind
	Bytes   uint64
	Strides []int64
	Offset  int64
}

// At returns the kernel at a problem size. Trip counts must be integers of at
// least 1, strides and offsets integers.
func (k *Kernel) At(p fit.Point) (*Nest, error) {
	if err := k.Check(); err != nil {
		return nil, err
	}
	for _, name := range k.Params {
		if _, ok := p[name]; !ok {
			return nil, fmt.Errorf("iperf: kernel %q: no value for parameter %s", k.Name, name)
		}
	}
	var bad error
	whole := func(t fit.Term, what string, least float64) float64 {
		v := t.Eval(p)
		if bad == nil && (v != math.Trunc(v) || !(v >= least) || math.Abs(v) > 1<<40) {
			bad = fmt.Errorf("iperf: kernel %q at %s: %s (%s) is %g, want a whole number of at least %g", k.Name, pointText(p), what, t, v, least)
		}
		return v
	}
	const any = -1 << 40
	n := &Nest{}
	for _, l := range k.Loops {
		n.Trips = append(n.Trips, whole(l.Trips, "the trip count of loop "+l.Name, 1))
	}
	for _, r := range k.References {
		nr := NestReference{Array: r.Array, Kind: r.Kind, Bytes: r.Bytes}
		for j, s := range r.Strides {
			nr.Strides = append(nr.Strides, int64(whole(s, "a stride of "+r.Array+" along "+k.Loops[j].Name, any)))
		}
		if r.Offset.String() != "" {
			nr.Offset = int64(whole(r.Offset, "an offset of "+r.Array, any))
		}
		n.Refs = append(n.Refs, nr)
	}
	return n, bad
}

// Iterations returns the number of executions of the body of loop l (0: the
// outermost).
func (n *Nest) Iterations(l int) float64 {
	p := 1.0
	for _, t := range n.Trips[:l+1] {
		p *= t
	}
	return p
}

// extent returns the range of bytes [lo, hi) that r accesses, relative to the
// array's beginning.
func (n *Nest) extent(r *NestReference) (lo, hi int64) {
	lo, hi = r.Offset, r.Offset+int64(r.Bytes)
	for j, s := range r.Strides {
		reach := int64(n.Trips[j]-1) * s
		lo, hi = lo+min(reach, 0), hi+max(reach, 0)
	}
	return lo, hi
}

// Extents returns, for each array, the range of bytes [lo, hi) that references
// access, relative to its beginning.
func (n *Nest) Extents() map[string][2]int64 {
	out := make(map[string][2]int64)
	for i := range n.Refs {
		lo, hi := n.extent(&n.Refs[i])
		if e, ok := out[n.Refs[i].Array]; ok {
			lo, hi = min(lo, e[0]), max(hi, e[1])
		}
		out[n.Refs[i].Array] = [2]int64{lo, hi}
	}
	return out
}

// Footprint returns the bytes from the first to the last byte accessed of each
// array, summed.
func (n *Nest) Footprint() float64 {
	sum := 0.0
	extents := n.Extents()
	for _, name := range slices.Sorted(maps.Keys(extents)) {
		e := extents[name]
		sum += float64(e[1] - e[0])
	}
	return sum
}
