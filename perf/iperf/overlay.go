package iperf

import (
	"fmt"
	"maps"
	"slices"

	"presage/perf/internal/yamlfile"
)

// Overlay is the knowledge about a kernel that its binary does not contain:
// which register holds the problem's size, the names of arrays, and what static
// analysis could not find. Package nest reports what it needs.
type Overlay struct {
	Name   string `yaml:"name"`
	Title  string `yaml:"title"`
	Source string `yaml:"source"`

	// Values maps values of the binary to formulas in the kernel's parameters,
	// such as a1 (a register at the routine's entry): n. For a value computed
	// by an instruction or merged from several paths, a5@0x10ac4 or
	// merge(a1)@0x10e1e, the address may be left out: a5@, merge(a1)@.
	Values map[string]string `yaml:"values"`

	// Arrays maps the bases of addresses to names: a register at the routine's
	// entry, or a static address such as 0x52998.
	Arrays map[string]string `yaml:"arrays"`

	// Nest selects one of several nests by the file:line or pc of an
	// instruction in its innermost loop.
	Nest string `yaml:"nest"`

	// Loops are those of the nest, from the outermost in.
	Loops []OverlayLoop `yaml:"loops"`

	References []OverlayReference `yaml:"references"`
}

// OverlayLoop names a loop and gives a trip count that the binary does not
// contain. Either may be left out.
type OverlayLoop struct {
	Name  string `yaml:"name"`
	Trips string `yaml:"trips"`
}

// OverlayReference completes the references at a place.
type OverlayReference struct {
	At      string   `yaml:"at"` // file:line or pc
	Array   string   `yaml:"array"`
	Strides []string `yaml:"strides"` // in bytes, along the loops from the outermost in
	Offset  string   `yaml:"offset"`  // of the first access from the array's beginning; "": 0
}

// ReadOverlay reads an overlay from a file.
func ReadOverlay(path string) (*Overlay, error) {
	text, err := yamlfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("iperf: overlay: %w", err)
	}
	return ParseOverlay(path, text)
}

// ParseOverlay reads an overlay. An error begins with file:line.
func ParseOverlay(file string, data []byte) (*Overlay, error) {
	o := new(Overlay)
	doc, err := decode(file, data, o)
	if err != nil {
		return nil, err
	}
	r := &factorReader{document: doc}
	for _, symbol := range slices.Sorted(maps.Keys(o.Values)) {
		r.term("$.values", o.Values[symbol])
	}
	for i, l := range o.Loops {
		if l.Trips != "" {
			r.term(fmt.Sprintf("$.loops[%d].trips", i), l.Trips)
		}
	}
	for i, ref := range o.References {
		path := fmt.Sprintf("$.references[%d]", i)
		r.need(path+".at", ref.At)
		r.need(path+".array", ref.Array)
		if len(ref.Strides) == 0 {
			r.fail(path, "strides are missing: one along each loop, from the outermost in")
		}
		for _, s := range ref.Strides {
			r.term(path+".strides", s)
		}
		if ref.Offset != "" {
			r.term(path+".offset", ref.Offset)
		}
	}
	return o, doc.err
}
