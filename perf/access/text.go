package access

// String writes the stride, as in 8*a3, irregular, or indirect + 16.
func (s Stride) String() string {
	switch {
	case s.Irregular && s.Indirect:
		return "irregular, indirect"
	case s.Irregular:
		return "irregular"
	case s.Indirect && len(s.Formula.terms) > 0:
		return "indirect + " + s.Formula.String()
	case s.Indirect:
		return "indirect"
	}
	return s.Formula.String()
}

// Regular reports whether the strides are regular with respect to every loop
// that holds the reference.
func (r *Reference) Regular() bool {
	for _, s := range r.Strides {
		if !s.Regular() {
			return false
		}
	}
	return true
}
