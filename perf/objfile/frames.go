package objfile

import (
	"fmt"
	"strings"
)

// frameSymbols returns a symbol for each range of code whose call frames are
// described: a stripped program keeps those because exceptions need them. The
// procedure linkage table is left out; its stubs have symbols of their own.
func (f *File) frameSymbols(secs []Section) []symbol {
	f.frames.once.Do(f.frames.decode)
	var syms []symbol
	for _, s := range f.frames.spans {
		sec := sectionOf(secs, s.from)
		if sec == nil || s.to <= s.from || strings.HasPrefix(sec.Name, ".plt") {
			continue
		}
		syms = append(syms, symbol{name: fmt.Sprintf("sub_%x", s.from), addr: s.from, size: s.to - s.from, rank: unnamed})
	}
	return syms
}

// unnamed is the rank of a symbol that was made up.
const unnamed = 3
