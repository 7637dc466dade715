package replay

import "slices"

// maxStep is the largest step of a loop's variable that is looked for.
const maxStep = 1 << 12

// findSteps finds the sizes of tiles: how many iterations of an inner loop lie, in the
// addresses of some reference, between one step of an outer loop and the next, if that
// is the same at all sizes, or at all that are twice as large and more: at others there
// may be one tile alone, which shows none. The number of steps of such a loop is a
// quotient, rounded down.
func (f *fitter) findSteps() []int64 {
	at := make(map[int64]int) // sizes at which a step is found
	found := make(map[int64][]bool)
	for r := range f.runs {
		own := make(map[int64]bool)
		for i := range f.prog.Places {
			if in := f.in[i][r]; in != nil {
				f.stepsOf(in, own)
			}
		}
		for s := range own {
			at[s]++
			if found[s] == nil {
				found[s] = make([]bool, len(f.runs))
			}
			found[s][r] = true
		}
	}
	var steps []int64
	for s, runs := range at {
		if runs == len(f.runs) || f.alwaysFrom(2*s, found[s]) {
			steps = append(steps, s)
		}
	}
	slices.Sort(steps)
	return steps
}

// alwaysFrom reports whether something was found in all runs from a size on, and there are
// several.
func (f *fitter) alwaysFrom(size int64, found []bool) bool {
	from, _ := slices.BinarySearch(f.prog.Sizes, size)
	return len(found)-from >= minSteps && !slices.Contains(found[from:], false)
}

func (f *fitter) stepsOf(in *RunPlace, steps map[int64]bool) {
	for j := range in.Refs {
		ref := &in.Refs[j]
		if len(ref.Forms) > 0 && ref.Forms[0].Form.plain() {
			ratios(ref.Forms[0].Classes[0].Coef, steps)
		} else if ref.Bends.bent() {
			for _, p := range f.bends.of(ref.Bends).pieces {
				ratios(p, steps)
			}
		}
	}
}

// ratios adds those of coefficients to those of coordinates after them.
func ratios(coef []int64, steps map[int64]bool) {
	for inner := 2; inner < len(coef); inner++ {
		for _, large := range coef[1:inner] {
			if small := coef[inner]; small != 0 && large%small == 0 {
				if s := abs(large / small); s > 1 && s <= maxStep {
					steps[s] = true
				}
			}
		}
	}
}

// settled reports whether one function gives the values of all sizes, of a polynomial's or
// a number of steps, with enough sizes to spare.
func (s *Series) settled() bool {
	if len(s.Sizes) == 0 {
		return false
	}
	n := s.Sizes[len(s.Sizes)-1]
	if v, ok := s.modulo(n, 1); ok && v.Exact() {
		return true
	}
	v, ok := s.stepped(n)
	return ok && v.Exact()
}

// minSteps is the least number of values that a number of steps must have had at the
// sizes of the runs: fewer are had by many quotients.
const minSteps = 3

// factors are the coefficients of the size in a loop's bound that are looked for.
var factors = []int64{1, -1, 2, -2}

// stepped returns the value at n of the quotients, rounded down, of a multiple of n and a
// step that agree with all sizes, if all such have the same value at n. Where none
// agrees, the step may be twice as large: an unrolled loop does two in an iteration.
func (s *Series) stepped(n int64) (Value, bool) {
	distinct := slices.Compact(slices.Sorted(slices.Values(s.Values)))
	if len(distinct) < minSteps || slices.ContainsFunc(s.Values, func(v int64) bool { return v%scale != 0 }) {
		return Value{}, false
	}
	least, most, found := s.quotients(n, 1)
	if !found {
		least, most, found = s.quotients(n, 2)
	}
	// The step, the multiple, and what is added are to be determined.
	return Value{At: least * scale, Degree: 1, Modulus: 1, Spare: len(s.Sizes) - 3}, found && least == most && len(s.Sizes) > 3
}

// quotients returns the least and largest value at n of the quotients by a multiple of some
// step that agree with all sizes and limits; found is false if there is none.
func (s *Series) quotients(n, multiple int64) (least, most int64, found bool) {
	for _, step := range s.Steps {
		step *= multiple
		for _, a := range factors {
			lo, hi := s.added(step, a)
			if lo > hi {
				continue
			}
			low, high := floorDiv(a*n+lo, step), floorDiv(a*n+hi, step)
			if !found {
				least, most, found = low, high, true
			}
			least, most = min(least, low), max(most, high)
		}
	}
	return least, most, found
}

// added returns the least and largest number that, added to a multiple a of the size, has
// the values as quotients by a step; there is none if the least is larger.
func (s *Series) added(step, a int64) (lo, hi int64) {
	lo, hi = int64(-1)<<40, int64(1)<<40
	for i, x := range s.Sizes {
		y := s.Values[i] / scale
		lo, hi = max(lo, step*y-a*x), min(hi, step*y+step-1-a*x)
	}
	for _, l := range s.Limits {
		if y := floorDiv(l.Value, scale); l.Greatest {
			hi = min(hi, step*y+step-1-a*l.Size)
		} else {
			lo = max(lo, step*y-a*l.Size)
		}
	}
	return lo, hi
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
