package main

import (
	"errors"
	"fmt"
	"io"
)

// most is more than any position is worth.
const most = 1 << 20

// slot is an entry of the table: what a search found about a position.
type slot struct {
	hash  uint64
	value int32
	depth int16
	kind  bound
}

type bound int8

const (
	exact bound = iota
	atLeast
	atMost
)

// search returns the value of the position to the side to move, looking depth
// moves ahead, if it is between alpha and beta; else a bound beyond that.
func (g *game) search(depth, alpha, beta int, passed bool) int {
	g.nodes++
	if depth == 0 {
		return g.evaluate()
	}
	hash := g.hash
	if g.side == white {
		hash = ^hash
	}
	if passed {
		hash ^= 1 << 63
	}
	e := &g.table[hash&uint64(len(g.table)-1)]
	// Only entries of the same depth, so that the value is that of a search
	// without a table.
	if e.hash == hash && int(e.depth) == depth {
		v := int(e.value)
		if e.kind == exact || e.kind == atLeast && v >= beta || e.kind == atMost && v <= alpha {
			return v
		}
	}
	best, low := -most, alpha
	var list [64]uint8
	n := g.moves(&list, g.side)
	if n == 0 {
		if passed {
			return g.evaluate()
		}
		g.pass()
		best = -g.search(depth-1, -beta, -alpha, true)
		g.undo()
	}
	for _, square := range list[:n] {
		g.move(int(square))
		v := -g.search(depth-1, -beta, -low, false)
		g.undo()
		best = max(best, v)
		low = max(low, v)
		if low >= beta {
			break
		}
	}
	kind := exact
	if best <= alpha {
		kind = atMost
	} else if best >= beta {
		kind = atLeast
	}
	*e = slot{hash, int32(best), int16(depth), kind}
	return best
}

// plain is search without window, table and order of moves.
func (g *game) plain(depth int, passed bool) int {
	if depth == 0 {
		return g.evaluate()
	}
	best, any := -most, false
	for square := 88; square > 10; square-- {
		if g.board[square] == empty && g.turns(square, g.side) {
			any = true
			g.move(square)
			best = max(best, -g.plain(depth-1, false))
			g.undo()
		}
	}
	if any {
		return best
	}
	if passed {
		return g.evaluate()
	}
	g.pass()
	defer g.undo()
	return -g.plain(depth-1, true)
}

// open makes random moves.
func (g *game) open(n int) {
	for range n {
		var list [64]uint8
		if k := g.moves(&list, g.side); k > 0 {
			g.move(int(list[g.next()>>33%uint64(k)]))
		} else {
			g.pass()
		}
	}
}

// play makes moves that searches find, checks them, and takes them back.
func (g *game) play(count, depth int, w io.Writer, quiet bool) error {
	before, hash, done := g.board, g.hash, len(g.made)
	for i := range count {
		var list [64]uint8
		n := g.moves(&list, g.side)
		if n == 0 {
			g.pass()
			if g.moves(&list, g.side) == 0 {
				break
			}
			continue
		}
		g.nodes = 0
		best, value := 0, -most
		for _, square := range list[:n] {
			g.move(int(square))
			if v := -g.search(depth-1, -most, -value, false); v > value {
				best, value = int(square), v
			}
			g.undo()
		}
		if !quiet {
			fmt.Fprintf(w, "move %d: %c%d, value %d, positions %d\n", i+1, 'a'+best%10-1, best/10, value, g.nodes)
		}
		shallow := min(depth, 3)
		if got, want := g.search(shallow, -most, most, false), g.plain(shallow, false); got != want {
			return fmt.Errorf("move %d is worth %d by alpha-beta and %d by plain search", i+1, got, want)
		}
		g.move(best)
	}
	for len(g.made) > done {
		g.undo()
	}
	if g.board != before || g.hash != hash {
		return errors.New("the moves were not all undone")
	}
	return nil
}
