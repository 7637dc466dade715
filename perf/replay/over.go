package replay

// over reports whether the real run has made all calls of a routine by which control comes
// to place i, and was out of the last of them when it was left: then what it had there is
// all there is. Small arrays of calloc are cleared in the heap, and large ones are mapped,
// which nobody clears.
func (j *judgement) over(i int, start *Follower) bool {
	live := make(map[int32]bool)
	for c := j.prog.Places[j.start.place].Context; c > 0; c = j.prog.Contexts[c].Parent {
		live[c] = true
	}
	for c := j.prog.Places[i].Context; c > 0 && !live[c]; c = j.prog.Contexts[c].Parent {
		if caller, ok := j.placeOf()[placeKey{j.prog.Contexts[c].Parent, j.prog.Contexts[c].Call}]; ok && j.finished(caller, start) {
			return true
		}
	}
	return false
}

// finished reports whether a place was certainly executed for the last time in the real run.
func (j *judgement) finished(i int32, start *Follower) bool {
	n := j.values[j.prog.Places[i].Counts]
	return j.replayed.Visits[i] == 0 && n.Exact() && n.At == int64(start.Real.Visits[i]) && !j.doubts[i].access().any()
}

// placeOf returns the places' indices.
func (j *judgement) placeOf() map[placeKey]int32 {
	if j.index == nil {
		j.index = make(map[placeKey]int32, len(j.prog.Places))
		for i := range j.prog.Places {
			j.index[placeKey{j.prog.Places[i].Context, j.prog.Places[i].Block}] = int32(i)
		}
	}
	return j.index
}
