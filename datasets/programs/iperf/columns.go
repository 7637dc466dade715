package main

// kernelNaiveColumns is kernelNaive with its loops interchanged. It stands apart from the
// other kernels, as descriptions of these name lines of their file.
//
//go:noinline
func kernelNaiveColumns(a []float64, n int) {
	for j := 0; j < n; j++ {
		for i := 0; i < n; i++ {
			a[kernelIndex(i, j, n)] = a[kernelIndex(i, j, n)] + 1
		}
	}
}
