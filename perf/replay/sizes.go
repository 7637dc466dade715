package replay

// commonModulus returns the largest power of two, up to 8, by which sizes have one
// residue.
func commonModulus(sizes []int64) int64 {
	m := int64(8)
	for _, n := range sizes {
		for (n-sizes[0])%m != 0 {
			m /= 2
		}
	}
	return m
}

// apart reports whether runs are of executables of different sizes.
func apart(runs []*Run) bool {
	for _, r := range runs {
		if r.Image != runs[0].Image || r.Objects != nil {
			return true
		}
	}
	return false
}
