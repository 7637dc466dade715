package timing

import (
	"testing"

	"presage/perf/access"
	"presage/perf/misses"
	"presage/perf/sched"
	"presage/perf/trace"
)

// field returns a reference of a loop at an address that the base names.
func field(base, block int, pc uint64) *access.Reference {
	return &access.Reference{PC: trace.PC(pc), InGraph: true, Base: base, Block: block, Size: 8}
}

// TestFieldsBesideEachOther: references of one address in an iteration are one stream, led
// by the first of those that are executed about as often as any.
func TestFieldsBesideEachOther(t *testing.T) {
	rare, key, next, other := field(1, 0, 0x10), field(1, 1, 0x20), field(1, 1, 0x24), field(2, 1, 0x28)
	for _, c := range []struct {
		x, y *access.Reference
		want bool
	}{{key, next, true}, {key, rare, true}, {key, other, false}} {
		if got := beside(c.x, c.y, 64, false); got != c.want {
			t.Errorf("%#x and %#x: %v, want %v", uint64(c.x.PC), uint64(c.y.PC), got, c.want)
		}
	}
	inner := *next
	inner.Loop = 1
	if beside(key, &inner, 64, false) {
		t.Error("references of two loops are beside each other")
	}
	d := disturber{timer: &timer{}, f: &sched.Frequencies{Routines: []sched.RoutineFrequencies{{Blocks: []float64{10, 100}}}}}
	if got := d.earliest(&stream{refs: []*access.Reference{next, rare, key}}); got != key {
		t.Errorf("led by %#x", uint64(got.PC))
	}
}

// TestAbreast: references side by side walk on by what they access together; one of them
// alone, or twice, does not.
func TestAbreast(t *testing.T) {
	model, _ := timed(t)
	pairs := 0
	for i := range model.Groups() {
		refs := model.References(misses.Group(i))
		for k, r := range refs[1:] {
			before := refs[k]
			apart, ok := r.First.Minus(before.First)
			by, constant := apart.Constant()
			if !ok || !constant || by == 0 || r.RoutineIndex != before.RoutineIndex || r.Loop != before.Loop || r.Base != before.Base {
				continue
			}
			pairs++
			if got := abreast([]*access.Reference{before, r, r}, before); got != int64(before.Size)+int64(r.Size) {
				t.Errorf("%v and %v: %d bytes", before, r, got)
			}
			if got := abreast([]*access.Reference{r, r}, r); got != 0 {
				t.Errorf("%v alone: %d bytes", r, got)
			}
		}
	}
	if pairs == 0 {
		t.Error("no references side by side")
	}
}
