package spmv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Table4 is a matrix of the paper's study (2012, Table 4).
type Table4 struct {
	Number    int
	Name      string
	Dimension int
	NonZeros  int // of a symmetric matrix it seems to be those of the stored half
	// Page is the matrix in the SuiteSparse Matrix Collection, its group and its name
	// there.
	Page      string
	structure structure
}

// structure describes how a stand-in is synthesised: what the paper says about
// dense sub-structure (section 5.3, Figures 12 and 15), or what the dimension
// and the kind of problem suggest. Unknowns belong to nodes of a mesh; the
// entries between two neighbours' unknowns form a dense block.
type structure struct {
	unknowns int     // of a node
	odd      float64 // share of nodes that have fewer, as where a support takes some away
	fewer    int     // number of unknowns of those; 0: any number
	planes   int     // nodes in a plane of the mesh, the distance of far neighbours; 0: no mesh
	row      int     // nodes in a row of a plane
	scatter  float64 // share of blocks that lie anywhere
}

// AllTable4 returns the matrices of Table 4, in its order.
func AllTable4() []Table4 {
	return []Table4{
		{1, "3dtube", 45330, 1629474, "Rothberg/3dtube", structure{unknowns: 3, planes: 900, row: 30}},
		{2, "bayer02", 13935, 63679, "Grund/bayer02", structure{unknowns: 1, scatter: 0.35, planes: 400, row: 5}},
		{3, "bcsstk35", 30237, 740200, "Boeing/bcsstk35", structure{unknowns: 6, odd: 0.03, fewer: 3, planes: 600, row: 30}},
		{4, "bmw7st", 141347, 3740507, "GHS_psdef/bmw7st_1", structure{unknowns: 6, odd: 0.05, planes: 1600, row: 40, scatter: 0.03}},
		{5, "crystk02", 13965, 491274, "Boeing/crystk02", structure{unknowns: 3, planes: 256, row: 16}},
		{6, "memplus", 17758, 126150, "Hamm/memplus", structure{unknowns: 1, scatter: 0.6, planes: 200, row: 5}},
		{7, "nasasrb", 54870, 1366097, "Nasa/nasasrb", structure{unknowns: 6, planes: 400, row: 20}},
		{8, "olafu", 16146, 515651, "Simon/olafu", structure{unknowns: 6, planes: 250, row: 25}},
		{9, "pwtk", 217918, 5926171, "Boeing/pwtk", structure{unknowns: 6, odd: 0.002, planes: 1200, row: 60}},
		{10, "raefsky3", 21200, 1488768, "Simon/raefsky3", structure{unknowns: 8, planes: 130, row: 13}},
		{11, "venkat01", 62424, 1717792, "Simon/venkat01", structure{unknowns: 4, planes: 900, row: 125}},
	}
}

// FindTable4 returns the matrix of Table 4 called name.
func FindTable4(name string) (Table4, error) {
	var names []string
	for _, t := range AllTable4() {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return Table4{}, fmt.Errorf("spmv: no matrix %q in Table 4: it has %v", name, names)
}

// pattern records the pairs of mesh nodes with a dense block of entries.
type pattern struct {
	first  []int // row of each node, and the end
	taken  map[[2]int]bool
	blocks [][2]int // pairs of nodes, in the order in which they were added
	total  int      // entries
	limit  int
}

func (p *pattern) nodes() int        { return len(p.first) - 1 }
func (p *pattern) size(node int) int { return p.first[node+1] - p.first[node] }

// add adds the blocks (a, b) and (b, a), unless they exist, b is not a node, or
// the entries would exceed the limit.
func (p *pattern) add(a, b int) {
	if b < 0 || b >= p.nodes() || p.taken[[2]int{a, b}] {
		return
	}
	n := p.size(a) * p.size(b)
	if a != b {
		n *= 2
	}
	if p.total+n > p.limit {
		return
	}
	p.taken[[2]int{a, b}], p.taken[[2]int{b, a}] = true, true
	p.blocks = append(p.blocks, [2]int{a, b})
	if a != b {
		p.blocks = append(p.blocks, [2]int{b, a})
	}
	p.total += n
}

// addRing adds a block for each node with its neighbour in a ring, or with a
// random node.
func (p *pattern) addRing(ring int, s structure, offsets []int, rng *rand.Rand) {
	for a := range p.nodes() {
		b := a
		switch {
		case rng.Float64() < s.scatter:
			b = rng.IntN(p.nodes())
		case ring < len(offsets):
			b = a + offsets[ring]
		default:
			b = a + 1 + ring
		}
		if a != b {
			p.add(a, b)
		}
	}
}

// entries returns the places of the entries, block by block.
func (p *pattern) entries() []Entry {
	entries := make([]Entry, 0, p.limit)
	for _, b := range p.blocks {
		for row := p.first[b[0]]; row < p.first[b[0]+1]; row++ {
			for col := p.first[b[1]]; col < p.first[b[1]+1]; col++ {
				entries = append(entries, Entry{Row: row, Col: col})
			}
		}
	}
	return entries
}

// Synthesise returns a stand-in: a matrix of the same dimension and number of
// entries, with the known or assumed structure. Its entries lie in dense
// blocks, one for each pair of neighbours in a mesh, symmetrically except for
// the last ones, which complete the number. The same call gives the same
// matrix.
func (t Table4) Synthesise() (*Matrix, error) {
	s := t.structure
	rng := rand.New(rand.NewPCG(uint64(t.Number), 0x57a4d1)) // the same for each matrix each time
	p := &pattern{first: nodes(t.Dimension, s, rng), taken: make(map[[2]int]bool), limit: t.NonZeros}
	for a := range p.nodes() {
		p.add(a, a)
	}
	offsets := neighbours(s)
	// Neighbours come in rings, the nearest first, until there are enough entries.
	for ring, before := 0, -1; p.total < t.NonZeros && p.total > before; ring++ {
		before = p.total
		p.addRing(ring, s, offsets, rng)
	}
	entries := complete(p.entries(), t, p.taken, p.first, rng)
	slices.SortFunc(entries, func(a, b Entry) int {
		if a.Row != b.Row {
			return a.Row - b.Row
		}
		return a.Col - b.Col
	})
	for i := range entries { // time does not depend on the values, as long as they are not zero
		entries[i].Value = 1 + math.Mod(float64(i)*0.6180339887498949, 1)
	}
	m, err := NewMatrix(t.Dimension, t.Dimension, entries)
	if err != nil {
		return nil, err
	}
	if m.NonZeros() != t.NonZeros {
		return nil, fmt.Errorf("spmv: the stand-in for %s came out with %d entries, want %d", t.Name, m.NonZeros(), t.NonZeros)
	}
	m.Name, m.StandIn = t.Name, true
	m.Origin = fmt.Sprintf("synthesised: %d unknowns a node, mesh of %d nodes a plane", s.unknowns, s.planes)
	return m, nil
}

// nodes returns the first unknown of each node, and the end.
func nodes(dimension int, s structure, rng *rand.Rand) []int {
	first := []int{0}
	for at := 0; at < dimension; {
		n := s.unknowns
		if rng.Float64() < s.odd {
			if n = s.fewer; n == 0 {
				n = 1 + rng.IntN(s.unknowns-1)
			}
		}
		at = min(at+n, dimension)
		first = append(first, at)
	}
	return first
}

// neighbours returns the distances of neighbours in the mesh in one direction,
// nearest first: in the row, in the next row, in the next plane.
func neighbours(s structure) []int {
	out := []int{1}
	for _, d := range []int{s.row, s.planes, s.planes + s.row} {
		out = append(out, d, d+1, d-1)
	}
	return append(out, s.planes-s.row, s.planes-s.row+1, s.planes-s.row-1, 2, 2*s.row)
}

// complete adds single entries beside the diagonal blocks to complete the
// number of the table: fewer than a block has.
func complete(entries []Entry, t Table4, taken map[[2]int]bool, first []int, rng *rand.Rand) []Entry {
	node := make([]int, t.Dimension)
	for a := range len(first) - 1 {
		for i := first[a]; i < first[a+1]; i++ {
			node[i] = a
		}
	}
	single := make(map[[2]int]bool)
	for len(entries) < t.NonZeros {
		row := rng.IntN(t.Dimension)
		col := min(max(row+rng.IntN(401)-200, 0), t.Dimension-1)
		at := [2]int{row, col}
		if taken[[2]int{node[row], node[col]}] || single[at] {
			continue
		}
		single[at] = true
		entries = append(entries, Entry{Row: row, Col: col})
	}
	return entries
}
