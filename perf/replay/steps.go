package replay

import "slices"

// maxStep is the largest step of a loop's variable that is looked for.
const maxStep = 1 << 12

// findSteps finds the sizes of tiles: how many iterations of an inner loop lie, in the
// addresses of some reference, between one step of an outer loop and the next, if that
// is the same at all sizes. The number of steps of such a loop is a quotient, rounded
// down.
func (f *fitter) findSteps() []int64 {
	at := make(map[int64]int) // sizes at which a step is found
	for r := range f.runs {
		own := make(map[int64]bool)
		for i := range f.prog.Places {
			if in := f.in[i][r]; in != nil {
				stepsOf(in, own)
			}
		}
		for s := range own {
			at[s]++
		}
	}
	var steps []int64
	for s, runs := range at {
		if runs == len(f.runs) {
			steps = append(steps, s)
		}
	}
	slices.Sort(steps)
	return steps
}

func stepsOf(in *RunPlace, steps map[int64]bool) {
	for j := range in.Refs {
		ref := &in.Refs[j]
		if len(ref.Forms) > 0 && ref.Forms[0].Form.plain() {
			ratios(ref.Forms[0].Classes[0].Coef, steps)
		} else if ref.Bends.bent() {
			for _, p := range ref.Bends.find().pieces {
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
// step that agree with all sizes, if all such have the same value at n.
func (s *Series) stepped(n int64) (Value, bool) {
	distinct := slices.Compact(slices.Sorted(slices.Values(s.Values)))
	if len(distinct) < minSteps {
		return Value{}, false
	}
	value, found := int64(0), false
	for _, step := range s.Steps {
		for _, a := range factors {
			lo, hi := int64(-1)<<40, int64(1)<<40 // of what is added to a·n
			for i, x := range s.Sizes {
				if s.Values[i]%scale != 0 {
					return Value{}, false
				}
				y := s.Values[i] / scale
				lo, hi = max(lo, step*y-a*x), min(hi, step*y+step-1-a*x)
			}
			if lo > hi {
				continue
			}
			low, high := floorDiv(a*n+lo, step), floorDiv(a*n+hi, step)
			if low != high || found && low != value {
				return Value{}, false
			}
			value, found = low, true
		}
	}
	// The step, the multiple, and what is added are to be determined.
	return Value{At: value * scale, Degree: 1, Modulus: 1, Spare: len(s.Sizes) - 3}, found && len(s.Sizes) > 3
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
