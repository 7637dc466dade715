package annotate

import (
	"fmt"
	"io"

	"github.com/google/pprof/profile"

	"presage/perf/callpath"
	"presage/perf/objfile"
	"presage/perf/patterns"
	"presage/perf/subject"
)

// WritePprof writes a profile that `go tool pprof` reads: a sample for each memory
// reference, with its accesses, the misses of each level and, if any latency is known,
// the cycles that these take if none overlaps another. A stack is the reference's line,
// the calls that were inlined, the loops around it, and the routine; with
// Options.CallPaths then the same of the instruction that called it, and so on: a sample
// is of a reference after one path of calls. Without, what is called is not known.
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
	if a.calls == nil {
		for i := range a.refs {
			b.sample(a, &a.refs[i].Costs, b.stack(a, &a.refs[i]))
		}
	} else {
		b.callSamples(a)
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

// sample adds a sample.
func (b *pprofBuilder) sample(a *Annotation, c *Costs, stack []*profile.Location) {
	s := &profile.Sample{Location: stack, Value: []int64{int64(c.Accesses)}}
	for _, n := range c.Misses {
		s.Value = append(s.Value, int64(n))
	}
	if a.timed() {
		s.Value = append(s.Value, int64(c.Wait))
	}
	b.p.Sample = append(b.p.Sample, s)
}

// callSamples adds a sample for each reference after each path of calls.
func (b *pprofBuilder) callSamples(a *Annotation) {
	callers := make([][]*profile.Location, len(a.calls.Nodes)) // by path: what led to its routine
	for n := 1; n < len(callers); n++ {
		node := &a.calls.Nodes[n]
		if node.Parent > 0 {
			callers[n] = append(b.caller(a, node), callers[node.Parent]...)
		}
	}
	at := make(map[subject.Ref]*reference)
	for i := range a.refs {
		at[a.refs[i].ref] = &a.refs[i]
	}
	for _, p := range a.calls.Parts {
		c := &Costs{Accesses: float64(p.Accesses[0]), Misses: make([]float64, len(a.Levels))}
		for l, n := range p.Misses {
			c.Misses[l] = float64(n)
			c.Wait += a.Latency[l] * float64(n)
		}
		r := at[p.Ref]
		if r == nil { // patterns have all that a run accesses
			r = &reference{ref: p.Ref, scope: a.prog.ScopeOf(subject.ByLoop, p.Ref)}
		}
		b.sample(a, c, append(b.stack(a, r), callers[p.Node]...))
	}
}

// stack returns the locations of a reference, the innermost first.
func (b *pprofBuilder) stack(a *Annotation, r *reference) []*profile.Location {
	ref := &a.prog.References()[r.ref]
	return b.within(a, r.scope, uint64(ref.PC), objfile.Line{File: ref.File, Line: ref.Line})
}

// caller returns the locations of the instruction that a path's last call comes from.
func (b *pprofBuilder) caller(a *Annotation, node *callpath.Node) []*profile.Location {
	s := a.prog.Structure()
	tree, pc := s.Scopes, uint64(node.Site)
	before := int(a.calls.Nodes[node.Parent].Routine)
	routine := tree.Scopes[s.OfRoutine[before]].Path
	if r := s.Graph.Routines[before]; node.Site > 0 && r == s.Graph.RoutineAt(pc) {
		if block, _ := r.BlockAt(pc); block >= 0 {
			line, _ := a.prog.File.LineAt(pc)
			return b.within(a, tree.Scopes[tree.Of(before, block)].Path, pc, line)
		}
	}
	outer := b.location(routine+"\x00", 0) // a signal's handler, or a call that is not known
	if len(outer.Line) == 0 {
		outer.Line = []profile.Line{{Function: b.function(routine, "")}}
	}
	return []*profile.Location{outer}
}

// within returns the locations of an instruction in a scope, the innermost first.
func (b *pprofBuilder) within(a *Annotation, scope string, pc uint64, line objfile.Line) []*profile.Location {
	nest := patterns.Nest(scope)
	leaf := b.location(fmt.Sprintf("%#x", pc), pc)
	if len(leaf.Line) == 0 {
		leaf.Line = b.lines(nest[len(nest)-1], line.File, line.Line, a.prog.File.InlinedAt(pc))
	}
	stack := []*profile.Location{leaf}
	for i := len(nest) - 2; i >= 0; i-- { // the leaf is in the last
		name := ""
		for k := range i + 1 {
			name += nest[k] + "\x00"
		}
		outer := b.location(name, 0)
		if len(outer.Line) == 0 {
			outer.Line = []profile.Line{{Function: b.function(nest[i], line.File)}}
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
