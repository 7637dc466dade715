package simpoint

// squared returns the squared distance of two rows of equal length, a multiple
// of lane.
func squared(a, b []float64) float64 {
	if len(a) == 16 && len(b) == 16 {
		return squared16((*[16]float64)(a), (*[16]float64)(b))
	}
	var s0, s1, s2, s3 float64
	for len(a) >= lane && len(b) >= lane {
		d0, d1, d2, d3 := a[0]-b[0], a[1]-b[1], a[2]-b[2], a[3]-b[3]
		s0 += d0 * d0
		s1 += d1 * d1
		s2 += d2 * d2
		s3 += d3 * d3
		a, b = a[lane:], b[lane:]
	}
	return (s0 + s1) + (s2 + s3)
}

// squared16 is squared for the default number of dimensions, without bounds
// checks. The sums are the same, in the same order.
func squared16(a, b *[16]float64) float64 {
	d0, d1, d2, d3 := a[0]-b[0], a[1]-b[1], a[2]-b[2], a[3]-b[3]
	s0, s1, s2, s3 := d0*d0, d1*d1, d2*d2, d3*d3
	d0, d1, d2, d3 = a[4]-b[4], a[5]-b[5], a[6]-b[6], a[7]-b[7]
	s0, s1, s2, s3 = s0+d0*d0, s1+d1*d1, s2+d2*d2, s3+d3*d3
	d0, d1, d2, d3 = a[8]-b[8], a[9]-b[9], a[10]-b[10], a[11]-b[11]
	s0, s1, s2, s3 = s0+d0*d0, s1+d1*d1, s2+d2*d2, s3+d3*d3
	d0, d1, d2, d3 = a[12]-b[12], a[13]-b[13], a[14]-b[14], a[15]-b[15]
	s0, s1, s2, s3 = s0+d0*d0, s1+d1*d1, s2+d2*d2, s3+d3*d3
	return (s0 + s1) + (s2 + s3)
}
