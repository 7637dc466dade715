package annotate

import (
	"fmt"
	"io"

	"github.com/google/pprof/profile"

	"presage/perf/objfile"
	"presage/perf/patterns"
)

// WritePprof writes a profile that `go tool pprof` reads: a sample for each memory
// reference, with its accesses, the misses of each level and, if any latency is known,
// the cycles that these take if none overlaps another. A stack is the reference's line,
// the calls that were inlined, the loops around it, and the routine: what is called
// is not known.
func (a *Annotation) WritePprof(w io.Writer) error {
	p := &profile.Profile{PeriodType: &profile.ValueType{Type: "accesses", Unit: "count"}, Period: 1}
	p.SampleType = append(p.SampleType, &profile.ValueType{Type: "accesses", Unit: "count"})
	for _, l := range a.Levels {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: l + " misses", Unit: "count"})
	}
	if a.timed() {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: "wait", Unit: "cycles"})
		p.DefaultSampleType = "wait"
	}
	mapping := &profile.Mapping{
		ID: 1, Limit: ^uint64(0), File: a.prog.File.Path, BuildID: a.prog.File.SHA256,
		HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true,
	}
	p.Mapping = []*profile.Mapping{mapping}
	b := pprofBuilder{p: p, mapping: mapping, functions: make(map[string]*profile.Function), places: make(map[string]*profile.Location)}
	for i := range a.refs {
		r := &a.refs[i]
		s := &profile.Sample{Value: []int64{int64(r.Accesses)}}
		for _, n := range r.Misses {
			s.Value = append(s.Value, int64(n))
		}
		if a.timed() {
			s.Value = append(s.Value, int64(r.Wait))
		}
		s.Location = b.stack(a, r)
		p.Sample = append(p.Sample, s)
	}
	if err := p.CheckValid(); err != nil {
		return fmt.Errorf("annotate: profile: %w", err)
	}
	return p.Write(w)
}

// pprofBuilder adds functions and locations to a profile.
type pprofBuilder struct {
	p         *profile.Profile
	mapping   *profile.Mapping
	functions map[string]*profile.Function
	places    map[string]*profile.Location
}

// stack returns the locations of a reference, the innermost first.
func (b *pprofBuilder) stack(a *Annotation, r *reference) []*profile.Location {
	ref := &a.prog.References()[r.ref]
	nest := patterns.Nest(r.scope)
	leaf := b.location(fmt.Sprintf("%#x", uint64(ref.PC)), uint64(ref.PC))
	if len(leaf.Line) == 0 {
		leaf.Line = b.lines(nest[len(nest)-1], ref.File, ref.Line, a.prog.File.InlinedAt(uint64(ref.PC)))
	}
	stack := []*profile.Location{leaf}
	for i := len(nest) - 2; i >= 0; i-- { // the leaf is in the last
		name := ""
		for k := range i + 1 {
			name += nest[k] + "\x00"
		}
		outer := b.location(name, 0)
		if len(outer.Line) == 0 {
			outer.Line = []profile.Line{{Function: b.function(nest[i], ref.File)}}
		}
		stack = append(stack, outer)
	}
	return stack
}

// lines returns those of a location: the line itself, then the calls that led to it.
func (b *pprofBuilder) lines(scope, file string, line int, inlined []objfile.Inline) []profile.Line {
	var lines []profile.Line
	for i := len(inlined) - 1; i >= 0; i-- { // the outermost is the first
		lines = append(lines, profile.Line{Function: b.function(inlined[i].Routine, file), Line: int64(line)})
		file, line = inlined[i].File, inlined[i].Line
	}
	return append(lines, profile.Line{Function: b.function(scope, file), Line: int64(line)})
}

func (b *pprofBuilder) location(key string, addr uint64) *profile.Location {
	l := b.places[key]
	if l == nil {
		l = &profile.Location{ID: uint64(len(b.p.Location) + 1), Mapping: b.mapping, Address: addr}
		b.places[key] = l
		b.p.Location = append(b.p.Location, l)
	}
	return l
}

func (b *pprofBuilder) function(name, file string) *profile.Function {
	key := name + "\x00" + file
	f := b.functions[key]
	if f == nil {
		f = &profile.Function{ID: uint64(len(b.p.Function) + 1), Name: name, SystemName: name, Filename: file}
		b.functions[key] = f
		b.p.Function = append(b.p.Function, f)
	}
	return f
}
