package reuse

import (
	"cmp"
	"fmt"
	"slices"

	"presage/perf/trace"
)

// Object is a range of addresses whose accesses are counted apart, such as a
// variable.
type Object struct {
	Lo, Hi uint64 // from Lo to below Hi, at most trace.AddrLimit

	// ByBirth, with Options.Births, divides the object into blocks by which
	// reference accessed each first.
	ByBirth bool
}

// Memory tells which objects hold which addresses while that changes.
type Memory interface {
	// Apply takes changes, in the order in which they come. It reports whether some
	// memory belongs to another object now.
	Apply(changes []trace.Change) (moved bool)
	// At returns the object at an address, and the addresses around it of which the same
	// holds.
	At(addr uint64) trace.Extent
	// Names returns the names of the objects so far, by number.
	Names() []string
}

// NoObject is the Object of accesses that are in none of Options.Objects.
const NoObject = -1

// objects finds the object at an address.
type objects struct {
	bounds []uint64 // ascending
	of     []int32  // by index of bounds: the object from there to the next one
	births []bool   // by object: Object.ByBirth
	memory Memory   // nil: nothing else
}

// isByBirth reports whether an object is divided by birth.
func (t *objects) isByBirth(object int32) bool {
	return object >= 0 && int(object) < len(t.births) && t.births[object]
}

func newObjects(list []Object) (objects, error) {
	order := make([]int32, len(list))
	births := make([]bool, len(list))
	for i := range order {
		order[i], births[i] = int32(i), list[i].ByBirth
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(list[a].Lo, list[b].Lo) })
	t := objects{bounds: []uint64{0}, of: []int32{NoObject}, births: births}
	end := uint64(0)
	for _, i := range order {
		o := list[i]
		if o.Lo >= o.Hi || o.Hi > trace.AddrLimit || o.Lo < end {
			return t, fmt.Errorf("reuse: object %d, from %#x to %#x, is empty, overlaps another or ends beyond %#x", i, o.Lo, o.Hi, uint64(trace.AddrLimit))
		}
		t.add(o.Lo, i)
		t.add(o.Hi, NoObject)
		end = o.Hi
	}
	return t, nil
}

// add makes object the one from lo on.
func (t *objects) add(lo uint64, object int32) {
	if last := len(t.bounds) - 1; t.bounds[last] == lo {
		t.of[last] = object
		return
	}
	t.bounds, t.of = append(t.bounds, lo), append(t.of, object)
}

// at returns the object at an address, and the addresses around it, from lo to
// below hi, of which the same holds.
func (t *objects) at(addr uint64) (object int32, lo, hi uint64) {
	i, found := slices.BinarySearch(t.bounds, addr)
	if !found {
		i-- // bounds begin with 0
	}
	lo, hi = t.bounds[i], trace.AddrLimit
	if i+1 < len(t.bounds) {
		hi = t.bounds[i+1]
	}
	if t.memory == nil {
		return t.of[i], lo, hi
	}
	x := t.memory.At(addr)
	if x.Object >= 0 {
		return int32(len(t.births)) + x.Object, x.Lo, x.Hi
	}
	return t.of[i], max(lo, x.Lo), min(hi, x.Hi)
}
