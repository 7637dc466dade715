package main

// A front is a set of points of which none depends on another in a sweep, or of
// which the solver takes care of the dependences: NAS's serial version takes a
// plane of the mesh after the other along ζ, its hyper-plane version the points
// with the same i + j + k. Blocks are kept for one front at a time.

// patch is a rectangle of a plane k = const: rows of points, one after the other
// along η. In an upper sweep cell and block are still those of its first point.
type patch struct {
	cell, block   int // the first point, and where its blocks are
	rows, columns int
}

// after returns a patch without its first row.
func (at patch) after(p *problem) patch {
	at.cell += p.row
	at.block += p.row
	at.rows--
	return at
}

// last returns the last row of a patch, with the number of rows kept.
func (at patch) last(p *problem) patch {
	at.cell += p.row * (at.rows - 1)
	at.block += p.row * (at.rows - 1)
	return at
}

// previous returns, of a patch that is left in reverse, what is before the row.
func (at patch) previous(p *problem) patch {
	at.cell -= p.row
	at.block -= p.row
	at.rows--
	return at
}

// fronts are the fronts in the order of the lower sweep.
type fronts struct {
	count int

	// In hyperplane order, front f is points[start[f]:start[f+1]].
	points []int32
	start  []int32
}

// planes returns the fronts that are planes.
func planes(p *problem) fronts { return fronts{count: p.n - 2} }

// hyperplanes returns the fronts i + j + k = const, from the corner (1, 1, 1) on.
func hyperplanes(p *problem) fronts {
	inside := p.n - 2
	f := fronts{
		count:  3*inside - 2,
		points: make([]int32, 0, inside*inside*inside),
		start:  make([]int32, 0, 3*inside-1),
	}
	for sum := 3; sum <= 3*inside; sum++ {
		f.start = append(f.start, int32(len(f.points)))
		for j := max(1, sum-2*inside); j <= min(inside, sum-2); j++ {
			for i := max(1, sum-j-inside); i <= min(inside, sum-j-1); i++ {
				f.points = append(f.points, int32(p.at(i, j, sum-i-j)))
			}
		}
	}
	f.start = append(f.start, int32(len(f.points)))
	return f
}

// planePatch returns the points inside of the f-th plane. A point's blocks are where it
// is in the plane.
func (p *problem) planePatch(f int) patch {
	return patch{
		cell: p.at(1, 1, f+1), block: p.at(1, 1, 0),
		rows: p.n - 2, columns: p.n - 2,
	}
}

// hyperplanePoints returns the points of the f-th hyper-plane.
func (p *problem) hyperplanePoints(f int) []int32 {
	return p.fronts.points[p.fronts.start[f]:p.fronts.start[f+1]]
}

// single is the patch of one point of a hyper-plane, the n-th.
func single(n int, cell int32) patch {
	return patch{cell: int(cell), block: n, rows: 1, columns: 1}
}

// lower does the f-th front of the lower sweep, by planes or by hyper-planes.
//
//go:noinline
func lower(p *problem, f int) {
	if p.fronts.points == nil {
		at := p.planePatch(f)
		jacld(p, at)
		blts(p, at)
		return
	}
	points := p.hyperplanePoints(f)
	for n, cell := range points {
		jacld(p, single(n, cell))
	}
	for n, cell := range points {
		blts(p, single(n, cell))
	}
}

// upper does the f-th front of the upper sweep.
//
//go:noinline
func upper(p *problem, f int) {
	if p.fronts.points == nil {
		at := p.planePatch(f)
		jacu(p, at)
		buts(p, at)
		return
	}
	points := p.hyperplanePoints(f)
	for n, cell := range points {
		jacu(p, single(n, cell))
	}
	for n, cell := range points {
		buts(p, single(n, cell))
	}
}

// each calls visit with each point of a front and where its blocks are.
func (p *problem) each(f int, visit func(cell, block int)) {
	if p.fronts.points != nil {
		for n, cell := range p.hyperplanePoints(f) {
			visit(int(cell), n)
		}
		return
	}
	for at := p.planePatch(f); at.rows > 0; at = at.after(p) {
		for i := range at.columns {
			visit(at.cell+i, at.block+i)
		}
	}
}
