package nest

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"presage/perf/access"
	"presage/perf/fit"
	"presage/perf/iperf"
)

// item is a reference being described.
type item struct {
	index   int // in access.Analysis.All
	ref     *access.Reference
	array   string
	strides []*polynomial // from the outermost loop in
	offset  *polynomial
}

func (it *item) reference() (iperf.Reference, error) {
	out := iperf.Reference{Array: it.array, Kind: it.ref.Kind, Bytes: uint64(it.ref.Size)}
	for _, s := range it.strides {
		t, err := s.parsed()
		if err != nil {
			return out, err
		}
		out.Strides = append(out.Strides, t)
	}
	if it.offset.zero() {
		return out, nil
	}
	t, err := it.offset.parsed()
	out.Offset = t
	return out, err
}

// references describes the references of the innermost loop.
func (f *finder) references() ([]item, error) {
	var items []item
	for _, i := range f.bodies {
		it := item{index: i, ref: &f.a.All[i]}
		describe := f.analysed
		if f.overlaid(it.ref) {
			describe = f.said
		}
		if err := describe(&it); err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	return items, nil
}

// namesakes returns an error if two arrays have the same name: the distance between
// them would be lost.
func (f *finder) namesakes() error {
	begins := make(map[string]string)
	for key := range sorted(f.overlay.Arrays) {
		name := f.overlay.Arrays[key]
		if other, ok := begins[name]; ok {
			return f.errorf("arrays: %s and %s are both called %s: name them apart; if they are parts of one array, describe those of one under references, with their offset", other, key, name)
		}
		begins[name] = key
	}
	return nil
}

// overlaid reports whether the overlay describes a reference.
func (f *finder) overlaid(ref *access.Reference) bool { return f.describing(ref) >= 0 }

// describing returns the index of the overlay's reference that describes ref, or -1. A
// source line does not describe the scalars in it.
func (f *finder) describing(ref *access.Reference) int {
	return slices.IndexFunc(f.overlay.References, func(o iperf.OverlayReference) bool {
		_, err := strconv.ParseUint(o.At, 0, 64)
		return isAt(ref, o.At) && (err == nil || !scalar(ref))
	})
}

// said describes a reference from the overlay.
func (f *finder) said(it *item) error {
	n := f.describing(it.ref)
	o := &f.overlay.References[n]
	f.given[n] = true
	if len(o.Strides) != len(f.chain) {
		return f.errorf("references: %s has %d strides for %d loops", o.At, len(o.Strides), len(f.chain))
	}
	it.array = o.Array
	for _, s := range o.Strides {
		p := &polynomial{}
		p.add(s, fraction{1, 1})
		it.strides = append(it.strides, p)
	}
	it.offset = &polynomial{}
	if o.Offset != "" {
		it.offset.add(o.Offset, fraction{1, 1})
	}
	return nil
}

// analysed describes a reference from the analysis of the binary.
func (f *finder) analysed(it *item) error {
	for d := range f.chain {
		s := it.ref.Strides[len(f.chain)-1-d] // those go from the innermost out
		what := fmt.Sprintf("the stride of %s along loop %d of %d", it.ref, d+1, len(f.chain))
		if !s.Regular() {
			why := "it is not the same in all iterations, or depends on what a call returns"
			if s.Indirect {
				why = "it depends on what another reference loads"
			}
			return f.missing(what+": "+why, fmt.Sprintf("references: [{at: %s, array: a, strides: [%s]}]", at(it.ref), strings.TrimSuffix(strings.Repeat("8*n, ", len(f.chain)), ", ")))
		}
		p, unknown := f.of(s.Formula)
		if len(unknown) > 0 {
			return f.missing(fmt.Sprintf("%s, %s: what %s is", what, s.Formula, unknown[0].Symbol), fmt.Sprintf("values: {%s: n}", unknown[0].Symbol))
		}
		it.strides = append(it.strides, p)
	}
	return f.locate(it)
}

// locate finds the array of a reference, and where in it the first access is.
func (f *finder) locate(it *item) error {
	p, unknown := f.of(it.ref.First)
	it.offset = p
	for i, t := range unknown {
		if t.Num != 1 || t.Den != 1 {
			return f.missing(fmt.Sprintf("where %s is first, %s: what %s is", it.ref, it.ref.First, t.Symbol), fmt.Sprintf("values: {%s: n}", t.Symbol))
		}
		if i > 0 {
			return f.missing(fmt.Sprintf("where %s is first, %s: which of %s and %s is the array, and what the other is", it.ref, it.ref.First, unknown[0].Symbol, t.Symbol), fmt.Sprintf("values: {%s: n}", t.Symbol))
		}
	}
	if len(unknown) == 0 {
		return f.static(it)
	}
	base := unknown[0].Symbol.String()
	it.array = base
	if name, ok := f.overlay.Arrays[base]; ok {
		f.arrays[base] = true
		it.array = name
	}
	return nil
}

// static finds the array of a reference to a static address: the last array named in
// the overlay that begins before it.
func (f *finder) static(it *item) error {
	address := it.offset.constant.num
	found := int64(-1)
	var key string
	for k := range sorted(f.overlay.Arrays) {
		if at, err := strconv.ParseInt(k, 0, 64); err == nil && at <= address && at > found {
			found, key = at, k
		}
	}
	if found < 0 {
		return f.missing(fmt.Sprintf("which array %s is to, at the static address %#x", it.ref, address), fmt.Sprintf("arrays: {%#x: a}", address))
	}
	f.arrays[key] = true
	it.array = f.overlay.Arrays[key]
	it.offset.constant.num -= found
	return nil
}

// mostUnrolled bounds the unroll factors that reroll tries.
const mostUnrolled = 16

// reroll undoes unrolling: if all references come in the same number of copies, spaced
// by the stride divided by that number, it returns the first copies, with strides
// divided by the number, and the number.
func (f *finder) reroll(items []item) ([]item, int64) {
	for by := int64(mostUnrolled); by > 1; by-- {
		if first, ok := f.copies(items, by); ok {
			f.note("the innermost loop is unrolled by %d; the loop that it was is described", by)
			return first, by
		}
	}
	return items, 1
}

// copies returns the first of each group of by copies, with strides divided by by.
func (f *finder) copies(items []item, by int64) (first []item, ok bool) {
	inner := len(f.chain) - 1
	kinds := make(map[string][]item)
	var order []string
	for _, it := range items {
		s := it.strides[inner]
		if len(s.terms) > 0 || s.constant.num == 0 || s.constant.num%by != 0 {
			return nil, false
		}
		key := fmt.Sprint(it.array, it.ref.Kind, it.ref.Size, it.strides, it.offset.rest())
		if kinds[key] == nil {
			order = append(order, key)
		}
		kinds[key] = append(kinds[key], it)
	}
	for _, key := range order {
		gap := kinds[key][0].strides[inner].constant.num / by
		chains, ok := chained(kinds[key], gap, by)
		if !ok {
			return nil, false
		}
		for _, it := range chains {
			it.strides = slices.Clone(it.strides)
			it.strides[inner] = &polynomial{constant: fraction{gap, 1}}
			first = append(first, it)
		}
	}
	slices.SortStableFunc(first, func(a, b item) int { return a.index - b.index })
	return first, true
}

// chained divides items, which are equal except for the constants of their offsets,
// into chains of by items at distances of gap, and returns the first of each.
func chained(items []item, gap, by int64) (first []item, ok bool) {
	direction := int64(1)
	if gap < 0 {
		direction = -1
	}
	left := slices.Clone(items)
	slices.SortStableFunc(left, func(a, b item) int { return int(direction * (a.offset.constant.num - b.offset.constant.num)) })
	for len(left) > 0 {
		head := left[0]
		for k := range by {
			want := head.offset.constant.num + k*gap
			i := slices.IndexFunc(left, func(it item) bool { return it.offset.constant.num == want })
			if i < 0 {
				return nil, false
			}
			left = slices.Delete(left, i, i+1)
		}
		first = append(first, head)
	}
	return first, true
}

// params returns the parameters of a kernel's formulas, ascending.
func params(k *iperf.Kernel) []string {
	var list []string
	for _, l := range k.Loops {
		list = append(list, l.Trips.Params()...)
	}
	for _, r := range k.References {
		for _, s := range append(slices.Clone(r.Strides), r.Offset) {
			if s.String() != "" {
				list = append(list, s.Params()...)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func parse(text string) (fit.Term, error) { return fit.ParseTerm(text) }

func sorted(m map[string]string) iter.Seq[string] {
	return slices.Values(slices.Sorted(maps.Keys(m)))
}
