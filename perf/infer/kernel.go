package infer

import "math"

// Kernel is the prior covariance of the logarithm of the response in two rows of a
// Process, the sum of a trend and of likenesses. The variables of a row are in two
// parts, of software and of hardware: s and h are its coordinates (see Coordinates),
// <,> is the mean of products and d the root of the mean squared difference, over
// the coordinates of a part.
type Kernel struct {
	Trend    Trend
	Likeness []Likeness

	// Noise is the variance of what no function of the variables explains; positive.
	Noise float64
}

// Trend is the covariance of a ridge regression on all products of up to Degree
// coordinates, powers among them, without any of their columns:
//
//	Variance (1 + Software <s,s'> + Hardware <h,h'>)^Degree
//
// (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, section
// 4.2.2: the polynomial kernel). It extrapolates, as regressions do.
type Trend struct {
	Variance           float64
	Software, Hardware float64
	Degree             int
}

// Likeness is the covariance of a function that varies over some lengths, a product
// of two Matérn functions m of smoothness 3/2 (the same book, equation 4.17):
//
//	Variance m(d(s,s') / Software) m(d(h,h') / Hardware)   with m(r) = (1 + √3 r) exp(-√3 r)
//
// It tells of the neighbourhood of training rows, and nothing far from all of them. A
// length of 0 stands for an infinite one: the function does not depend on that part.
type Likeness struct {
	Variance           float64
	Software, Hardware float64
}

// of returns the covariance of two rows, of the means of products and the mean
// squared differences of their parts.
func (k *Kernel) of(software, hardware, squareSoftware, squareHardware float64) float64 {
	sum := 0.0
	if k.Trend.Variance > 0 {
		base := 1 + k.Trend.Software*software + k.Trend.Hardware*hardware
		product := k.Trend.Variance
		for range k.Trend.Degree {
			product *= base
		}
		sum = product
	}
	for _, l := range k.Likeness {
		r := 0.0
		product := l.Variance
		for _, part := range [...]struct{ square, length float64 }{{squareSoftware, l.Software}, {squareHardware, l.Hardware}} {
			if part.length > 0 {
				d := math.Sqrt(3*max(part.square, 0)) / part.length
				product *= 1 + d
				r += d
			}
		}
		sum += product * math.Exp(-r)
	}
	return sum
}
