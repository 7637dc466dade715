package main

// Squares of a board of 10 x 10, whose border is out.
const (
	empty int8 = 0
	black int8 = 1
	white int8 = -1
	out   int8 = 2
)

// steps lead from a square to those around it.
var steps = [8]int{-11, -10, -9, -1, 1, 9, 10, 11}

// worth is the value of squares of the upper left quarter of the board.
var worth = [4][4]int{{120, -20, 20, 5}, {-20, -40, -5, -5}, {20, -5, 15, 3}, {5, -5, 3, 3}}

// turned is what a move did: the squares whose discs it turned, on a stack.
type turned struct {
	square, from int
	side         int8
}

type game struct {
	board  [100]int8
	value  [100]int
	key    [100][2]uint64 // random numbers: of a black, and of a white disc
	hash   uint64
	side   int8
	stack  []uint8
	made   []turned
	table  []slot
	random uint64
	nodes  int
}

// next returns a random number (xorshift64*).
func (g *game) next() uint64 {
	g.random ^= g.random >> 12
	g.random ^= g.random << 25
	g.random ^= g.random >> 27
	return g.random * 0x2545f4914f6cdd1d
}

func newGame(table int) *game {
	g := &game{
		side: black, random: 0x9e3779b97f4a7c15, table: make([]slot, 1<<table),
		stack: make([]uint8, 0, 2000), made: make([]turned, 0, 200),
	}
	for i := range g.board {
		g.key[i] = [2]uint64{g.next(), g.next()}
		x, y := i%10-1, i/10-1
		if x < 0 || x > 7 || y < 0 || y > 7 {
			g.board[i] = out
			continue
		}
		g.value[i] = worth[min(y, 7-y)][min(x, 7-x)]
	}
	g.put(44, white)
	g.put(45, black)
	g.put(54, black)
	g.put(55, white)
	return g
}

// put sets an empty square.
func (g *game) put(square int, side int8) {
	g.board[square] = side
	g.hash ^= g.key[square][keyOf(side)]
}

func keyOf(side int8) int { return int(1-side) / 2 }

// flip turns a disc.
func (g *game) flip(square int) {
	g.board[square] = -g.board[square]
	g.hash ^= g.key[square][0] ^ g.key[square][1]
}

// turns reports whether side can move to an empty square.
func (g *game) turns(square int, side int8) bool {
	for _, d := range steps {
		s := square + d
		if g.board[s] != -side {
			continue
		}
		for g.board[s] == -side {
			s += d
		}
		if g.board[s] == side {
			return true
		}
	}
	return false
}

// move puts a disc of the side to move and turns others.
func (g *game) move(square int) {
	side := g.side
	g.made = append(g.made, turned{square, len(g.stack), side})
	for _, d := range steps {
		s := square + d
		for g.board[s] == -side {
			s += d
		}
		if g.board[s] != side {
			continue
		}
		for s -= d; s != square; s -= d {
			g.flip(s)
			g.stack = append(g.stack, uint8(s))
		}
	}
	g.put(square, side)
	g.side = -side
}

// pass makes the other side move.
func (g *game) pass() {
	g.made = append(g.made, turned{0, len(g.stack), g.side})
	g.side = -g.side
}

// undo takes the last move or pass back.
func (g *game) undo() {
	m := g.made[len(g.made)-1]
	g.made = g.made[:len(g.made)-1]
	g.side = m.side
	if m.square == 0 {
		return
	}
	for _, s := range g.stack[m.from:] {
		g.flip(int(s))
	}
	g.stack = g.stack[:m.from]
	g.board[m.square] = empty
	g.hash ^= g.key[m.square][keyOf(m.side)]
}

// moves writes the squares that side can move to into list, the most valuable
// first, and returns how many they are.
func (g *game) moves(list *[64]uint8, side int8) int {
	n := 0
	for square := 11; square < 89; square++ {
		if g.board[square] != empty || !g.turns(square, side) {
			continue
		}
		i := n
		for i > 0 && g.value[list[i-1]] < g.value[square] {
			list[i] = list[i-1]
			i--
		}
		list[i] = uint8(square)
		n++
	}
	return n
}

// evaluate returns what a position is worth to the side to move.
func (g *game) evaluate() int {
	sum := 0
	for square := 11; square < 89; square++ {
		switch b := g.board[square]; b {
		case black, white:
			sum += int(b) * g.value[square]
		case empty:
			for _, side := range [2]int8{black, white} {
				if g.turns(square, side) {
					sum += 4 * int(side)
				}
			}
		}
	}
	return sum * int(g.side)
}
