package subject

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/internal/wire"
	"presage/perf/store"
	"presage/perf/trace"
)

// analysisVersion is part of the key of a stored analysis: raise it when decoding
// instructions, reading symbols and lines, building graphs, or finding references
// changes, or how the results are written.
const analysisVersion = 5

// knowledge is what is known of a program so far, each part found when it is first
// asked for.
type knowledge struct {
	sync.Mutex
	store     *store.Store // nil: nothing is kept
	outline   *Outline
	structure *Structure
	plans     map[access.PlanOptions]*planned
	warning   string
	traveller string // folder of the store where Remote kept the executable
}

// planned is a plan, or why there is none.
type planned struct {
	plan *trace.Plan
	err  error
}

// KeepAnalysis has what static analysis finds out about the program kept in a
// store from now on, and taken from there if it is known already: it depends on
// nothing but the executable. nil keeps nothing, as for a new Program.
func (p *Program) KeepAnalysis(st *store.Store) {
	p.known.Lock()
	defer p.known.Unlock()
	p.known.store = st
}

// CopyAnalysis keeps in another store, too, what is known of the program.
func (p *Program) CopyAnalysis(st *store.Store) {
	p.known.Lock()
	defer p.known.Unlock()
	own := p.known.store
	p.known.store = st
	defer func() { p.known.store = own }()
	switch {
	case p.known.structure != nil:
		p.saveAs(p.known.structure, "")
	case p.known.outline != nil:
		p.saveOutline(p.known.outline, "")
	}
}

// AnalysisWarning says why a kept analysis was unusable, or could not be kept; it
// is usually empty. The analysis is then made again, which takes time and changes
// no result.
func (p *Program) AnalysisWarning() string {
	p.known.Lock()
	defer p.known.Unlock()
	return p.known.warning
}

// The kinds of kept analyses.
const (
	outlineKind = "outline"
	graphsKind  = "graphs"
)

// analysisKey returns the key of what is kept of a program, as completed by what
// runs showed; "" if none did.
func (p *Program) analysisKey(kind, completed string) (store.Key, error) {
	return store.NewKey(kind, analysisVersion, struct{ Program, Completed string }{p.File.SHA256, completed})
}

// AnalysisKey returns the key under which static analysis keeps the program's graphs:
// what else depends on them is another thing where it differs.
func (p *Program) AnalysisKey() (store.Key, error) { return p.analysisKey(graphsKind, "") }

// load returns what is kept under a key; nil if nothing usable is.
func (p *Program) load(kind, completed string) []byte {
	if p.known.store == nil {
		return nil
	}
	key, err := p.analysisKey(kind, completed)
	if err != nil {
		return nil
	}
	var data []byte
	if err := p.known.store.Load(key, &data); err != nil {
		if !errors.Is(err, store.ErrMissing) {
			p.known.warning = fmt.Sprintf("%v; %s was analysed again", err, p.Name)
		}
		return nil
	}
	return data
}

// keep saves what was written under a key, unless it is there.
func (p *Program) keep(kind, completed string, w *wire.Writer) {
	if p.known.store == nil {
		return
	}
	key, err := p.analysisKey(kind, completed)
	var old []byte
	if err == nil && p.known.store.Load(key, &old) == nil && bytes.Equal(old, w.Bytes()) {
		return
	}
	if err == nil {
		err = p.known.store.Save(key, w.Bytes())
	}
	if err != nil {
		p.known.warning = fmt.Sprintf("%v; the analysis of %s was not kept", err, p.Name)
	}
}

// damaged notes that a kept analysis has the right checksum and cannot be read.
func (p *Program) damaged(kind string, err error) {
	p.known.warning = fmt.Sprintf("kept %s of %s: %v; it was analysed again", kind, p.Name, err)
}

// Outline returns what static analysis finds out about the program, without its
// instructions. It never fails: see Structure.
func (p *Program) Outline() *Outline {
	p.known.Lock()
	defer p.known.Unlock()
	return p.findOutline()
}

func (p *Program) findOutline() *Outline {
	if p.known.outline != nil {
		return p.known.outline
	}
	if data := p.load(outlineKind, ""); data != nil {
		o, err := p.readOutline(wire.NewReader(data))
		if err == nil {
			p.known.outline = o
			return o
		}
		p.damaged(outlineKind, err)
	}
	p.analyse()
	return p.known.outline
}

// Structure returns what static analysis finds out about the program, with its
// instructions. It never fails: what could not be made out stands in Warnings.
func (p *Program) Structure() *Structure {
	p.known.Lock()
	defer p.known.Unlock()
	return p.findStructure()
}

func (p *Program) findStructure() *Structure {
	if p.known.structure != nil {
		return p.known.structure
	}
	if o := p.findOutline(); p.known.structure == nil { // else the outline was made from it
		if s := p.readStructure(o, ""); s != nil {
			p.known.structure = s
			return s
		}
		p.analyse()
	}
	return p.known.structure
}

// analyse takes the program apart.
func (p *Program) analyse() {
	s := NewStructure(cfg.Analyze(p.File))
	p.known.structure, p.known.outline = s, s.outline()
	p.saveAs(s, "")
}

func (p *Program) saveAs(s *Structure, completed string) {
	if p.known.store == nil {
		return
	}
	p.saveOutline(s.outline(), completed)
	var w wire.Writer
	s.Graph.Encode(&w)
	p.keep(graphsKind, completed, &w)
}

func (p *Program) saveOutline(o *Outline, completed string) {
	var w wire.Writer
	o.encode(&w)
	p.keep(outlineKind, completed, &w)
}

func (o *Outline) encode(w *wire.Writer) {
	o.Access.Encode(w)
	o.Scopes.Encode(w)
	o.Groups.Encode(w)
}

func (p *Program) readOutline(r *wire.Reader) (*Outline, error) {
	o := &Outline{Access: access.Decode(r, p.File)}
	o.Scopes = cfg.DecodeScopes(r)
	o.Groups = access.DecodeGroups(r, len(o.Access.All))
	if err := r.End(); err != nil {
		return nil, err
	}
	o.ofRoutine = routineScopes(o.Scopes)
	if !o.consistent() {
		return nil, wire.ErrDamaged
	}
	return o, nil
}

// consistent reports whether all references are in routines and blocks that the
// scopes have.
func (o *Outline) consistent() bool {
	for i := range o.Access.All {
		if r := &o.Access.All[i]; r.InGraph && (r.RoutineIndex >= len(o.ofRoutine) || !o.Scopes.Holds(r.RoutineIndex, r.Block)) {
			return false
		}
	}
	return true
}

// readStructure returns the outline with the kept graphs; nil if there are none.
func (p *Program) readStructure(o *Outline, completed string, shown ...*trace.Flow) *Structure {
	data := p.load(graphsKind, completed)
	if data == nil {
		return nil
	}
	r := wire.NewReader(data)
	graph := cfg.Decode(r, p.File, shown...)
	err := r.End()
	if err == nil && len(graph.Routines) != len(o.ofRoutine) {
		err = wire.ErrDamaged
	}
	if err != nil {
		p.damaged(graphsKind, err)
		return nil
	}
	return &Structure{Graph: graph, Scopes: o.Scopes.For(graph), Access: o.Access.For(graph), Groups: o.Groups, OfRoutine: o.ofRoutine, counters: countersOf(graph)}
}

// Completed returns the structure with what runs showed of indirect jumps, one
// after the other; see cfg.Program.Complete.
func (p *Program) Completed(shown []*trace.Flow) *Structure {
	p.known.Lock()
	defer p.known.Unlock()
	if len(shown) == 0 {
		return p.findStructure()
	}
	completed := placesOf(shown)
	if data := p.load(outlineKind, completed); data != nil {
		o, err := p.readOutline(wire.NewReader(data))
		if err != nil {
			p.damaged(outlineKind, err)
		} else if s := p.readStructure(o, completed, shown...); s != nil {
			return s
		}
	}
	graph := p.findStructure().Graph
	for _, f := range shown {
		graph = graph.Complete(f)
	}
	s := NewStructure(graph)
	p.saveAs(s, completed)
	return s
}

// placesOf returns a digest of the places that runs showed, whatever the counts.
func placesOf(shown []*trace.Flow) string {
	h := sha256.New()
	var b []byte
	put := func(values ...trace.PC) {
		for _, v := range values {
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
	}
	for _, f := range shown {
		for _, j := range f.Jumps {
			if j.Count > 0 {
				put(j.Edge.From, j.Edge.To)
			}
		}
		put(0)
		for _, a := range f.Arrivals {
			if a.Count > 0 {
				put(a.PC)
			}
		}
		put(0)
		for _, k := range f.Breaks {
			if k.Entered > 0 {
				put(k.PC)
			}
		}
		put(0)
	}
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil))
}

// plan returns the plan of all references, or without the traffic of the stack.
func (p *Program) plan(opt access.PlanOptions) *planned {
	p.known.Lock()
	defer p.known.Unlock()
	if known := p.known.plans[opt]; known != nil {
		return known
	}
	o := p.findOutline()
	out := new(planned)
	out.plan, out.err = o.Groups.Plan(o.Access, opt)
	if out.err == nil && opt.Stack {
		out.err = samePlaces(out.plan, o.Access.All)
	}
	if out.err != nil {
		out.plan, out.err = nil, fmt.Errorf("perf: %s: %w", p.Name, out.err)
	}
	if p.known.plans == nil {
		p.known.plans = make(map[access.PlanOptions]*planned)
	}
	p.known.plans[opt] = out
	return out
}

// FirstRefs returns the first reference of each group of Plan.
func (p *Program) FirstRefs() ([]Ref, error) {
	if _, err := p.Plan(); err != nil {
		return nil, err
	}
	groups := p.Outline().Groups.Refs
	first := make([]Ref, len(groups))
	for g, refs := range groups {
		first[g] = Ref(refs[0])
	}
	return first, nil
}
