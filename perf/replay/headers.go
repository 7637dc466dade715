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

// repeated reports of each of the loops around place i whether some run repeated it.
func (f *fitter) repeated(i int) []bool {
	if f.headers == nil {
		f.headers = make(map[int32]bool)
		for k := range f.prog.Places {
			for _, n := range f.prog.Places[k].Next {
				f.headers[n.To] = f.headers[n.To] || n.More
			}
		}
	}
	list := f.prog.headersOf(f.code, f.known, i)
	out := make([]bool, len(list))
	for k, h := range list {
		out[k] = f.headers[h]
	}
	return out
}
