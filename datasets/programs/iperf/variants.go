package main

// A variant is a version of a kernel, with what it needs.
type variant struct {
	// increment adds 1 to every element; the variant has this or combine.
	increment func(a []float64, n int)

	combine  func(b, a []float64, n int)
	want     func(a []float64, n, k int) float64 // of element k of b
	elements func(n int) int                     // of each array; nil: n x n
}

// variants are the versions of the kernel, and two kernels of two arrays. For
// the first six, a holds an n x n array column by column, element (i, j) at
// i + j n; the stencil's arrays lie row by row.
var variants = map[string]variant{
	"naive":        {increment: kernelNaive},
	"optimised":    {increment: kernelOptimised},
	"interchanged": {increment: kernelInterchanged},
	"naive-ji":     {increment: kernelNaiveColumns},
	"ij":           {increment: kernelRows},
	"ji":           {increment: kernelColumns},
	"copy":         {combine: kernelCopy, want: copied, elements: func(n int) int { return n }},
	"stencil":      {combine: kernelStencil, want: summed},
}

// variantNames are the names of variants as messages list them.
const variantNames = "naive, optimised, interchanged, naive-ji, ij, ji, copy or stencil"

// arrays returns a, and b if the variant has a second array.
func (v variant) arrays(n int) (a, b []float64) {
	size := n * n
	if v.elements != nil {
		size = v.elements(n)
	}
	a = make([]float64, size)
	if v.combine != nil {
		b = make([]float64, size)
		initialize(b) // touches every page, as initializing a does
		clear(b)
	}
	initialize(a)
	return a, b
}

// run runs the kernel once.
func (v variant) run(b, a []float64, n int) {
	if v.combine != nil {
		v.combine(b, a, n)
		return
	}
	v.increment(a, n)
}

// verify returns what the kernel should not have left in the arrays.
func (v variant) verify(b, a []float64, n int) error {
	if v.combine == nil {
		return verify(a, 1)
	}
	if err := verify(a, 0); err != nil {
		return err
	}
	for k, got := range b {
		if want := v.want(a, n, k); got != want {
			return wrong(k, got, want)
		}
	}
	return nil
}
