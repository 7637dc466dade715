package cache

import "golang.org/x/sys/cpu"

// wide reports whether fetchWide is for sets of so many places.
func wide(places uint64) bool {
	return cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && places > scanWays && places <= wideWays && places%4 == 0
}

// wideWays is the largest number of places of a wide set.
const wideWays = 64

// fetchWide is fetchOrdered for a set for which wide returns true: it takes four places at
// a time.
func fetchWide(set []tag, want, mark tag) (held bool, victim tag) {
	last := shiftFours(&set[0], len(set)/4, want, want|mark)
	if last&^dirty != want {
		return false, last
	}
	set[0] |= last & dirty
	return true, 0
}

// shiftFours moves the tags of a set of four times as many places back by one, up to that
// of want, with first before them, and returns the last one that it moved: that of want, if
// the set has it. Tags are compared as if clean.
//
//go:noescape
func shiftFours(set *tag, fours int, want, first tag) (last tag)
