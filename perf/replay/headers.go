package replay

// headersOf returns, for each of the loops around place i, the place that is its header; -1 if
// none was executed.
func (p *Program) headersOf(code *Code, at map[placeKey]int32, i int) []int32 {
	key := placeKey{p.Places[i].Context, p.Places[i].Block}
	list := make([]int32, p.Places[i].Depth)
	for k := len(list); k > 0; {
		b := &code.blocks[key.block]
		for c := len(b.chain) - 1; c >= 0; c-- {
			r := code.graph.Routines[b.routine]
			header := code.blockAt(r.Blocks[r.Loops[b.chain[c]].Header].PC())
			k--
			if h, ok := at[placeKey{key.context, header}]; ok {
				list[k] = h
			} else {
				list[k] = -1
			}
		}
		if key.context == 0 {
			break
		}
		key = placeKey{p.Contexts[key.context].Parent, p.Contexts[key.context].Call}
	}
	return list
}

// loopAround is a loop around a place.
type loopAround struct {
	header   int32 // the place that is its header; -1 if none was executed
	repeated bool  // some run did it
}

// repeats tells which loops of a program some run repeated.
type repeats struct {
	prog  *Program
	code  *Code
	at    map[placeKey]int32
	again map[int32]bool // places that a loop came back to
}

func (p *Program) repeats(code *Code) *repeats {
	r := &repeats{p, code, make(map[placeKey]int32), make(map[int32]bool)}
	for i := range p.Places {
		r.at[placeKey{p.Places[i].Context, p.Places[i].Block}] = int32(i)
		for _, n := range p.Places[i].Next {
			r.again[n.To] = r.again[n.To] || n.More
		}
	}
	return r
}

// around returns the loops around place i, the outermost first.
func (r *repeats) around(i int) []loopAround {
	var list []loopAround
	for _, h := range r.prog.headersOf(r.code, r.at, i) {
		list = append(list, loopAround{h, r.again[h]})
	}
	return list
}
