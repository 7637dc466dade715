package objfile

import "sort"

// Place is a range of instructions that come from one position in the source.
type Place struct {
	From, To uint64 // half-open
	Line     Line   // as LineAt gives it; zero where none is recorded

	// Inlined are the inlined calls, as InlinedAt gives them. Places that come
	// from the same call share the slice: it is not to be modified.
	Inlined []Inline
}

// Places returns the source positions of the instructions in [from, to),
// ascending and without gaps: LineAt and InlinedAt for the whole range at once.
func (f *File) Places(from, to uint64) []Place {
	if len(f.parts) > 0 {
		return f.placesOf(from, to)
	}
	lines, inlines := f.lineRows(), f.inlineRows()
	i := sort.Search(len(lines.rows), func(i int) bool { return lines.rows[i].addr > from }) - 1
	j := sort.Search(len(inlines.rows), func(j int) bool { return inlines.rows[j].addr > from }) - 1
	paths := make(map[int32]string)
	chains := make(map[int32][]Inline)
	var places []Place
	for at := from; at < to; {
		p := Place{From: at, To: to}
		if i >= 0 && lines.rows[i].file >= 0 && lines.rows[i].line > 0 {
			r := lines.rows[i]
			if _, ok := paths[r.file]; !ok {
				paths[r.file] = lines.files[r.file].path()
			}
			p.Line = Line{File: paths[r.file], Line: int(r.line)}
		}
		if j >= 0 && inlines.rows[j].node >= 0 {
			node := inlines.rows[j].node
			if _, ok := chains[node]; !ok {
				chains[node] = f.chain(node)
			}
			p.Inlined = chains[node]
		}
		if i+1 < len(lines.rows) {
			p.To = min(p.To, lines.rows[i+1].addr)
		}
		if j+1 < len(inlines.rows) {
			p.To = min(p.To, inlines.rows[j+1].addr)
		}
		at = p.To
		if i+1 < len(lines.rows) && lines.rows[i+1].addr == at {
			i++
		}
		if j+1 < len(inlines.rows) && inlines.rows[j+1].addr == at {
			j++
		}
		places = append(places, p)
	}
	return places
}
