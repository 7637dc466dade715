package figure

// clipped returns the part of a convex polygon whose heights are from lo to
// hi: Sutherland and Hodgman (1974), for two horizontal planes.
func clipped(face []vec, lo, hi float64) []vec {
	above := halfSpace(face, func(p vec) float64 { return p[2] - lo })
	return halfSpace(above, func(p vec) float64 { return hi - p[2] })
}

// halfSpace keeps the part of a convex polygon where inside is not negative;
// inside is linear in the point.
func halfSpace(face []vec, inside func(vec) float64) []vec {
	var out []vec
	for i, p := range face {
		q := face[(i+1)%len(face)]
		a, b := inside(p), inside(q)
		if a >= 0 {
			out = append(out, p)
		}
		if a < 0 && b > 0 || a > 0 && b < 0 {
			out = append(out, p.plus(q.minus(p), a/(a-b)))
		}
	}
	if len(out) < 3 {
		return nil
	}
	return out
}

// crossing returns the intersection of a convex polygon with the plane at a
// level, where below separates the points under it from the others.
func crossing(face []vec, level float64, below func(height, level float64) bool) (segment []vec) {
	for i, p := range face {
		q := face[(i+1)%len(face)]
		if below(p[2], level) != below(q[2], level) {
			segment = append(segment, p.plus(q.minus(p), (level-p[2])/(q[2]-p[2])))
		}
	}
	return segment
}

// heights returns the least and the greatest height of a face.
func heights(face []vec) (lo, hi float64) {
	lo, hi = face[0][2], face[0][2]
	for _, p := range face {
		lo, hi = min(lo, p[2]), max(hi, p[2])
	}
	return lo, hi
}
