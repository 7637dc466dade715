package timing

import (
	"context"
	"fmt"

	"presage/perf/access"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/sched"
	"presage/perf/subject"
	"presage/perf/synth"
	"presage/perf/trace"
)

// disturb adds to the times of scopes, each without those inside it, how long they take
// in a walk through the program, and what mispredicted branches and, unless missed is
// nil, misses add to that: see package synth.
func (t *timer) disturb(ctx context.Context, s *subject.Structure, f *sched.Frequencies, result *sched.Result, missed *missed, times []scopeTime) error {
	if t.program == nil || t.programOf != s || !t.program.Covers(f) {
		var err error
		if t.program, err = synth.New(s.Graph, f); err != nil {
			return fmt.Errorf("perf: %w", err)
		}
		t.programOf = s
	}
	d := disturber{timer: t, structure: s, f: f, refs: refsOf(t.program)}
	branches := sched.PredictBranches(&t.machine.Core, s.Access, f, t.seenBranches(s))
	t.learned = t.learnedCycles(s, f, branches)
	model := &synth.Model{Frequencies: f, Wrong: branches.Wrong, Counted: branches.Counted, Access: make([]synth.Access, len(t.program.Refs))}
	d.sources(result, model)
	with := []synth.Causes{0, synth.Mispredictions}
	if missed != nil {
		d.missed(missed, model)
		with = append(with, synth.Mispredictions|synth.Misses)
	}
	got, err := t.program.Execute(ctx, model, t.pipeline.Config, with, synth.Options{})
	if err != nil {
		return fmt.Errorf("perf: %w", err)
	}
	own := make([][]float64, len(got))
	for i := range got {
		own[i] = d.own(got[i])
	}
	for i, seen := range d.seen(got[0]) {
		times[i].walked = times[i].schedule // of what the walk does not come to, nothing else is known
		if seen {
			times[i].walked = own[0][i]
		}
	}
	for i, cycles := range added(own[0], own[1]) {
		times[i].branch += cycles
	}
	if missed == nil {
		return nil
	}
	for i, cycles := range added(own[1], own[2]) {
		t.share(&times[i], &missed.byScope[i], cycles)
	}
	return nil
}

// added returns by how much each of the second times exceeds the first: in sum as much
// as they do, and nowhere less than 0, as time may pass from one scope to the next.
func added(before, after []float64) []float64 {
	out := make([]float64, len(before))
	sum, more := 0.0, 0.0
	for i := range out {
		d := after[i] - before[i]
		out[i] = max(0, d)
		sum, more = sum+d, more+out[i]
	}
	if more > 0 {
		for i := range out {
			out[i] *= max(0, sum) / more
		}
	}
	return out
}

// disturber makes a model of walks.
type disturber struct {
	*timer
	structure *subject.Structure
	f         *sched.Frequencies
	refs      map[operand]trace.RefID
}

// operand is a memory operand of an instruction.
type operand struct {
	pc    uint64
	index int
}

func refsOf(p *synth.Program) map[operand]trace.RefID {
	out := make(map[operand]trace.RefID, len(p.Refs))
	for i := range p.Refs {
		out[operand{uint64(p.Refs[i].PC), int(p.Refs[i].Operand)}] = trace.RefID(i)
	}
	return out
}

// own returns the time of each scope without the scopes inside it.
func (d *disturber) own(times *synth.Times) []float64 {
	out := make([]float64, len(d.structure.Scopes.Scopes))
	for r, cycles := range times.Cycles {
		for b, each := range cycles {
			out[d.structure.Scopes.Of(r, b)] += each * d.f.Routines[r].Blocks[b]
		}
	}
	return out
}

// enough is how many instructions of a scope a walk has to execute for its time to be
// taken from there.
const enough = 1000

// seen reports of which scopes the walk executed enough.
func (d *disturber) seen(times *synth.Times) []bool {
	counted := make([]uint64, len(d.structure.Scopes.Scopes))
	for r, blocks := range times.Executed {
		for b, n := range blocks {
			counted[d.structure.Scopes.Of(r, b)] += n * uint64(len(d.structure.Graph.Routines[r].Blocks[b].Insts))
		}
	}
	out := make([]bool, len(counted))
	for i, n := range counted {
		out[i] = n >= enough
	}
	return out
}

// sources tells which stores loads get their values from, as far as the schedule knows.
func (d *disturber) sources(result *sched.Result, to *synth.Model) {
	type pair struct{ load, store trace.RefID }
	back := make(map[pair]int)
	var order []pair
	for i := range result.Paths {
		for _, seg := range result.Paths[i].Segments {
			for k := range seg.Edges {
				e := &seg.Edges[k]
				if e.Kind != access.MemoryFlow {
					continue
				}
				store, known := d.refOf(&seg.Nodes[e.From])
				load, too := d.refOf(&seg.Nodes[e.To])
				if !known || !too {
					continue
				}
				n := e.Distance
				if e.From >= e.To { // it is executed again before the load
					n--
				}
				p := pair{load, store}
				if was, ok := back[p]; !ok {
					order = append(order, p)
				} else if was < n {
					continue
				}
				back[p] = n
			}
		}
	}
	for _, p := range order {
		a := &to.Access[p.load]
		a.From = append(a.From, synth.Source{Store: p.store, Back: max(0, back[p])})
	}
}

func (d *disturber) refOf(n *access.Node) (trace.RefID, bool) {
	if n.Micro.Mem < 0 {
		return 0, false
	}
	ref, ok := d.refs[operand{n.PC, int(n.Micro.Mem)}]
	return ref, ok
}

// missed sets what becomes of the accesses of each group.
func (d *disturber) missed(m *missed, to *synth.Model) {
	walk := int32(0)
	for i := range m.model.Groups() {
		walks := walksOn(m.model.References(misses.Group(i)), m.blockBytes)
		for _, s := range d.split(m, i, walks) {
			if s.executed == 0 {
				continue
			}
			if s.leader != nil {
				walk++
				s.walk = walk
			}
			d.missedIn(&s, walks, to)
		}
	}
}

// missedIn sets what becomes of the accesses of a stream.
func (d *disturber) missedIn(s *stream, walks bool, to *synth.Model) {
	by := d.missers(s)
	for _, r := range s.refs {
		id, ok := d.refs[operand{uint64(r.PC), r.Operand}]
		if !ok {
			continue
		}
		a := &to.Access[id]
		a.Stream, a.Enters = s.walk, !walks && r == s.leader
		if by == s.executed || r == s.leader {
			a.Missed, a.Ahead = d.levels(s, by, r.Float, walks)
			a.Walks = d.walks(s, by)
			if walks && r == s.leader && by == d.executed(r) {
				a.Steps, a.Starts = d.blocks(r)
			}
		} else {
			a.Missed = d.passing(r.Float)
		}
	}
}

// mapped is how far behind the beginning of a page the C library's malloc places what is
// large enough for a mapping of its own.
const mapped = 16

// blocks returns by how many blocks of each level a reference that walks moves on, and where
// in one it starts. Of an address that is not known it is taken to be that of a large
// array, so that arrays that are walked side by side enter their blocks together.
func (d *disturber) blocks(r *access.Reference) (steps, starts []float64) {
	first := int64(0)
	for _, t := range r.First.Terms() {
		if t.Symbol.Kind == access.Unit && t.Den == 1 {
			first += t.Num
		}
	}
	if _, known := r.First.Constant(); !known {
		first += mapped
	}
	by := pace(r)
	for i := range d.pipeline.Memory.Levels {
		bytes := int64(d.pipeline.Memory.Levels[i].BlockBytes)
		within := (first%bytes + bytes) % bytes
		if backward(r) {
			within = bytes - by - within
		}
		steps, starts = append(steps, float64(by)/float64(bytes)), append(starts, float64(within)/float64(bytes))
	}
	return steps, starts
}

// missers returns the accesses among which the misses of a stream are: those of its
// leader or, if that is executed too rarely, all.
func (d *disturber) missers(s *stream) float64 {
	if s.leader == nil {
		return s.executed
	}
	n := d.executed(s.leader)
	for _, missed := range s.missed {
		if missed > n {
			return s.executed
		}
	}
	return n
}

// passing returns the shares of a reference that never misses: of levels that it passes
// by.
func (d *disturber) passing(float bool) []float64 {
	levels := d.pipeline.Memory.Levels
	shares := make([]float64, len(levels))
	for i := range levels {
		if float && levels[i].BypassFloat {
			shares[i] = 1
		} else {
			break
		}
	}
	return shares
}

// executed returns how often a reference is executed.
func (d *disturber) executed(r *access.Reference) float64 {
	if !r.InGraph {
		return 0
	}
	return d.f.Routines[r.RoutineIndex].Blocks[r.Block]
}

// levels returns the shares of some of a stream's accesses that miss in each level of the
// processor's caches, and how early prefetching requests what walks through memory.
func (d *disturber) levels(s *stream, by float64, float, walks bool) (shares []float64, ahead []int32) {
	levels := d.pipeline.Memory.Levels
	shares, ahead = make([]float64, len(levels)), make([]int32, len(levels))
	latency, before := 0.0, 1.0
	for i := range levels {
		k := d.penalty(levels[i].Name)
		if k < 0 { // floating-point accesses pass by, and others cost nothing
			shares[i] = 1
			continue
		}
		p := &d.penalties[k]
		before = min(before, s.missed[k]/by)
		shares[i] = before
		if latency += p.Latency; walks {
			ahead[i] = int32(max(0, latency-p.Stream))
		}
	}
	if !float { // it enters where others pass by, and hits unless all levels after it miss
		for i := len(levels) - 2; i >= 0; i-- {
			if d.penalty(levels[i].Name) < 0 {
				shares[i] = shares[i+1]
			}
		}
	}
	return shares, ahead
}

// penalty returns the index of the penalty of a level; -1 if it has none.
func (d *disturber) penalty(level string) int {
	for k := range d.penalties {
		if d.penalties[k].Level == level {
			return k
		}
	}
	return -1
}

// walks returns the misses of TLBs.
func (d *disturber) walks(s *stream, by float64) []synth.Walk {
	var list []synth.Walk
	for k := range d.penalties {
		if p := &d.penalties[k]; p.TLB && p.Latency > 0 {
			list = append(list, synth.Walk{Share: min(1, s.missed[k]/by), Cycles: int32(p.Latency + 0.5)})
		}
	}
	return list
}

// share distributes what misses add to the time of a scope over the levels, in
// proportion to what they would take one after the other.
func (t *timer) share(to *scopeTime, m *scopeMisses, cycles float64) {
	all, sum := t.serial(m), 0.0
	for _, each := range all {
		sum += each
	}
	if sum == 0 { // it waits for what others miss
		to.waits[max(0, lastCache(t.penalties))] += cycles
		return
	}
	for k, p := range t.penalties {
		to.waits[k] += cycles * all[k] / sum
		if p.TLB && p.Walks > 0 { // it serves so many at a time, which the core does not see
			to.waits[k] = max(to.waits[k], m.waited[k]*p.Latency/float64(p.Walks)-to.walked)
		}
	}
}

// serial returns what the misses of a scope would take one after the other, each at the
// last level that it misses in; what prefetching has requested before, so much less.
func (t *timer) serial(m *scopeMisses) []float64 {
	all, latency := make([]float64, len(t.penalties)), 0.0
	for k, p := range t.penalties {
		n := m.waited[k] + m.stores[k]
		if p.TLB {
			all[k] = n * p.Latency
			continue
		}
		latency += p.Latency
		each := latency
		if m.waited[k] > 0 {
			each -= m.streams[k] / m.waited[k] * max(0, latency-p.Stream)
		}
		if k+1 < len(t.penalties) && !t.penalties[k+1].TLB {
			n = max(0, n-m.waited[k+1]-m.stores[k+1])
		}
		all[k] = n * each
	}
	return all
}

// lastCache returns the index of the last cache, -1 if there is none.
func lastCache(penalties []predict.Penalty) int {
	last := -1
	for k := range penalties {
		if !penalties[k].TLB {
			last = k
		}
	}
	return last
}
