// Package order takes ascending values and returns order statistics of them.
// gonum's stat.Quantile interpolates in other ways (types 1 and 4 of Hyndman and
// Fan 1996), which give other digits.
package order

// Median returns the middle value of sorted, or the mean of the middle two. It
// panics if there is none.
func Median(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// Quantile returns the q-quantile of sorted, q in [0,1], by linear interpolation
// between the order statistics around 1+(n-1)q: type 7 of Hyndman and Fan 1996,
// the default of R. It panics if there is no value.
func Quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
