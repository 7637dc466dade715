package main

import "fmt"

// entry is a cell in the heap, with what a way through it costs at least.
type entry struct {
	key  int64
	cell int32
	cost int64 // of the way to the cell when it was pushed
}

// push adds an entry to the heap.
func (g *grid) push(e entry) {
	g.pushed++
	g.heap = append(g.heap, e)
	h, i := g.heap, len(g.heap)-1
	for i > 0 {
		up := (i - 1) / 2
		if h[up].key <= e.key {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = e
}

// pop takes the entry with the least key.
func (g *grid) pop() entry {
	h := g.heap
	top, e := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	g.heap = h
	i := 0
	for {
		down := 2*i + 1
		if down >= len(h) {
			break
		}
		if down+1 < len(h) && h[down+1].key < h[down].key {
			down++
		}
		if e.key <= h[down].key {
			break
		}
		h[i] = h[down]
		i = down
	}
	if len(h) > 0 {
		h[i] = e
	}
	return top
}

// estimate returns what a way from c to the goal costs at least: the steps.
func (g *grid) estimate(c int) int64 {
	if g.greedy == 0 {
		return 0
	}
	dx, dy := c%g.row-g.goal%g.row, c/g.row-g.goal/g.row
	return int64(max(dx, -dx) + max(dy, -dy))
}

// search finds the cheapest way between two cells, if there is one.
func (g *grid) search(from, to int) bool {
	g.number += 2
	g.heap, g.goal, g.settled, g.pushed = g.heap[:0], to, 0, 0
	g.state[from], g.cost[from], g.from[from] = g.number, 0, int32(from)
	g.push(entry{g.estimate(from), int32(from), 0})
	for len(g.heap) > 0 {
		e := g.pop()
		c := int(e.cell)
		if g.state[c] != g.number || e.cost != g.cost[c] {
			continue // a cheaper way to it was found since
		}
		g.state[c]++
		g.settled++
		if c == to {
			return true
		}
		g.relax(c, c-g.row)
		g.relax(c, c-1)
		g.relax(c, c+1)
		g.relax(c, c+g.row)
	}
	return false
}

// relax looks at the way to o by c.
func (g *grid) relax(c, o int) {
	if g.price[o] == wall {
		return
	}
	cost := g.cost[c] + int64(g.price[o])
	if g.state[o] >= g.number && g.cost[o] <= cost {
		return
	}
	g.state[o], g.cost[o], g.from[o] = g.number, cost, int32(c)
	g.push(entry{cost + g.estimate(o), int32(o), cost})
}

// verify proves that the way found is a cheapest one, or that there is none.
func (g *grid) verify(from, to int, found bool) error {
	for y := range g.n {
		for x := range g.n {
			c := g.at(x, y)
			if g.state[c] != g.number+1 || c == to {
				continue
			}
			for _, o := range [4]int{c - 1, c + 1, c - g.row, c + g.row} {
				if g.price[o] != wall && (g.state[o] < g.number || g.cost[o] > g.cost[c]+int64(g.price[o])) {
					return fmt.Errorf("cell %d is cheaper by way of %d", o, c)
				}
			}
		}
	}
	if !found {
		if g.state[to] >= g.number {
			return fmt.Errorf("a way to %d was found and lost", to)
		}
		return nil
	}
	for _, e := range g.heap {
		if e.key < g.cost[to] {
			return fmt.Errorf("cell %d promises %d, and the way costs %d", e.cell, e.key, g.cost[to])
		}
	}
	sum := int64(0)
	for c, steps := to, 0; c != from; c, steps = int(g.from[c]), steps+1 {
		sum += int64(g.price[c])
		if steps > g.n*g.n {
			return fmt.Errorf("the way goes in a circle")
		}
	}
	if sum != g.cost[to] {
		return fmt.Errorf("the way costs %d, not %d", sum, g.cost[to])
	}
	return nil
}
