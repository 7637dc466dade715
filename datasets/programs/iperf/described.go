package main

// kernelRows goes through the array row by row, each index worked out anew.
//
//go:noinline
func kernelRows(a []float64, n int) {
	for i := 0; i < n; i++ {
		for j := 0; j < n; j++ {
			a[i+j*n]++
		}
	}
}

// kernelColumns is kernelRows with its loops interchanged.
//
//go:noinline
func kernelColumns(a []float64, n int) {
	for j := 0; j < n; j++ {
		for i := 0; i < n; i++ {
			a[i+j*n]++
		}
	}
}

// kernelCopy copies a to b.
//
//go:noinline
func kernelCopy(b, a []float64, n int) {
	for i := 0; i < n; i++ {
		b[i] = a[i]
	}
}

func copied(a []float64, _, k int) float64 { return a[k] }

// kernelStencil adds up each element inside of a and its four neighbours. Arrays
// lie row by row, element (i, j) at i n + j.
//
//go:noinline
func kernelStencil(b, a []float64, n int) {
	for i := 1; i < n-1; i++ {
		for j := 1; j < n-1; j++ {
			b[i*n+j] = a[i*n+j] + a[(i-1)*n+j] + a[i*n+j-1] + a[i*n+j+1] + a[(i+1)*n+j]
		}
	}
}

func summed(a []float64, n, k int) float64 {
	if i, j := k/n, k%n; i == 0 || j == 0 || i == n-1 || j == n-1 {
		return 0
	}
	return a[k] + a[k-n] + a[k-1] + a[k+1] + a[k+n]
}
