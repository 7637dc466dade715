package reuse

import (
	"cmp"
	"reflect"
	"slices"
	"testing"
)

// TestCountersApart: no two workers have counters in one cache line, or in two that are
// fetched together, from the start and after they grow.
func TestCountersApart(t *testing.T) {
	type extent struct{ from, to uintptr }
	var all []extent
	note := func(list any) {
		v := reflect.ValueOf(list)
		size := uintptr(v.Len()) * v.Type().Elem().Size()
		all = append(all, extent{v.Pointer(), v.Pointer() + size})
	}
	var kept []*counts
	for groups := range 40 {
		c := newCounts(1 + groups%5)
		if groups%2 == 1 {
			c.grow(3)
			c.newPage()
		}
		kept = append(kept, &c)
	}
	for _, c := range kept {
		for _, list := range []any{c.near, c.cold, c.pages, c.bins, c.last} {
			note(list)
		}
	}
	slices.SortFunc(all, func(a, b extent) int { return cmp.Compare(a.from, b.from) })
	for i := range all[1:] {
		if gap := all[i+1].from - all[i].to; gap < 128 {
			t.Errorf("counters at %#x to %#x and the next at %#x are %d bytes apart, want at least 128", all[i].from, all[i].to, all[i+1].from, gap)
		}
	}
}
