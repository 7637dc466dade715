package replay

// overlaps finds loops whose steps touch ranges that overlap at one size and never did
// at the sizes of the runs. With
//
//	for (jj = 0; jj < n; jj += 64)
//	  for (j = jj; j < min(jj+64, n); j++)
//
// and runs at sizes from 65 to 128 alone, the outer loop has two steps and the inner
// one ends at n-64 in the second: as far as anyone can tell, at all sizes. Steps that grow
// with the size, as rows do, are held against those of the largest run.
type overlaps struct {
	prog    *Program
	headers [][]int32 // by place: the place that is the header of each of the loops around it, -1: none was executed
	most    []int64   // by place: the largest index in any run
}

func newOverlaps(code *Code, f *fitted) *overlaps {
	o := &overlaps{prog: f.prog, headers: make([][]int32, len(f.prog.Places)), most: f.most}
	at := make(map[placeKey]int32)
	for i := range f.prog.Places {
		at[placeKey{f.prog.Places[i].Context, f.prog.Places[i].Block}] = int32(i)
	}
	for i := range f.prog.Places {
		o.headers[i] = f.prog.headersOf(code, at, i)
	}
	return o
}

// at reports whether it is so at place i, given its references and the largest indices
// of a replay.
func (o *overlaps) at(i int, refs []liveRef, most []int64) bool {
	if o == nil {
		return false
	}
	headers := o.headers[i]
	for r := range refs {
		if refs[r].kind != simple && refs[r].kind != leastOf && refs[r].kind != greatestOf && refs[r].kind != wrapped {
			continue
		}
		for c, coef := range refs[r].classes {
			if o.overlap(headers, coef[1:], o.before(&o.prog.Places[i].Refs[r], c), most) {
				return true
			}
		}
	}
	return false
}

// before returns the coefficients that a reference had in the largest run; nil if it had
// no such function.
func (o *overlaps) before(ref *Ref, class int) []int64 {
	n := o.prog.Sizes[len(o.prog.Sizes)-1]
	if class >= len(ref.Classes) || len(ref.Classes[class]) == 0 {
		return nil
	}
	var coef []int64
	for _, k := range ref.Classes[class][1:] {
		coef = append(coef, o.prog.Series[k].At(n).At)
	}
	return coef
}

// overlap reports whether a function with coefficients coef does, of which the largest run
// had those before, if it had any.
func (o *overlaps) overlap(headers []int32, coef, before, most []int64) bool {
	for inner, small := range coef {
		h := headers[inner]
		if small == 0 || h < 0 {
			continue
		}
		for outer, large := range coef[:inner] {
			step := abs(large) / abs(small) // iterations of the inner loop from one step of the outer one to the next
			never := o.most[h] < step
			if before != nil && before[inner] != 0 {
				never = never && o.most[h] < abs(before[outer])/abs(before[inner])
			}
			if headers[outer] >= 0 && large%small == 0 && step > 1 && o.most[headers[outer]] > 0 && never && most[h] >= step {
				return true
			}
		}
	}
	return false
}

func abs(x int64) int64 { return max(x, -x) }
