package main

// wall is the price of a cell that cannot be entered.
const wall = 0

// grid is the map and the state of a search, all arrays flat with a border of
// walls, so that no neighbour is outside.
type grid struct {
	n, row int
	price  []int32 // of entering a cell
	cost   []int64 // of the cheapest way found to a cell in this search
	from   []int32 // the cell before it
	state  []int32 // number of the search that saw it, twice; plus 1 once settled
	number int32
	goal   int
	greedy int
	heap   []entry
	random uint64

	settled, pushed int
}

// next returns a random number (xorshift64*).
func (g *grid) next() uint64 {
	g.random ^= g.random >> 12
	g.random ^= g.random << 25
	g.random ^= g.random >> 27
	return g.random * 0x2545f4914f6cdd1d
}

func newGrid(n int, kind string, greedy int) *grid {
	row := n + 2
	cells := row * row
	g := &grid{
		n: n, row: row, greedy: greedy, random: 0x9e3779b97f4a7c15,
		price: make([]int32, cells), cost: make([]int64, cells), from: make([]int32, cells), state: make([]int32, cells),
		heap: make([]entry, 0, 4*cells),
	}
	for y := range n {
		for x := range n {
			g.price[g.at(x, y)] = g.terrain(kind, x, y)
		}
	}
	if kind == "hills" {
		g.smooth()
	}
	return g
}

func (g *grid) at(x, y int) int { return (y+1)*g.row + x + 1 }

// terrain returns the price of a cell. The maze has rooms of 7 x 3 cells, with a
// gap in each wall below a room, and in two of three beside one.
func (g *grid) terrain(kind string, x, y int) int32 {
	r := g.next()
	switch {
	case kind == "open":
		return int32(1 + r>>63)
	case kind == "hills":
		return int32(1 + r>>58)
	case y%4 == 3 && x%8 != y*3%7, y%4 != 3 && x%8 == 7 && (y%4 != 1 || (y/4+x/8)%3 == 0):
		return wall
	}
	return 1
}

// smooth replaces each price by the mean of those around it, some times.
func (g *grid) smooth() {
	for range 3 {
		for y := range g.n {
			for x := range g.n {
				c := g.at(x, y)
				sum, count := int32(0), int32(0)
				for _, o := range [5]int{c, c - 1, c + 1, c - g.row, c + g.row} {
					if g.price[o] != wall {
						sum, count = sum+g.price[o], count+1
					}
				}
				g.price[c] = max(1, sum/count)
			}
		}
	}
}

// freeCell returns a random cell that is no wall.
func (g *grid) freeCell() int {
	for {
		c := g.at(int(g.next()>>33)%g.n, int(g.next()>>33)%g.n)
		if g.price[c] != wall {
			return c
		}
	}
}
