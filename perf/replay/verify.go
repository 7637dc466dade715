package replay

import (
	"context"
	"fmt"

	"presage/perf/trace"
)

// checker computes the hashes that a Collector would, by place of the program.
type checker struct {
	code *Code
	refs [][]uint64
	next []uint64
}

func newChecker(code *Code, p *Program) *checker {
	c := &checker{code: code, refs: make([][]uint64, len(p.Places)), next: make([]uint64, len(p.Places))}
	for i := range p.Places {
		c.refs[i] = make([]uint64, len(p.Places[i].Refs))
	}
	return c
}

func (c *checker) visit(place int32, accesses []trace.Access, next trace.BlockID) {
	for i, a := range accesses {
		c.refs[place][i] = mix(c.refs[place][i], a.Addr())
	}
	c.next[place] = mix(c.next[place], c.code.label(next))
}

// Verdict is what a comparison of a replay with a real run found, by place of the
// Program.
type Verdict struct {
	Counts []bool   // the place was executed as often
	Next   []bool   // what followed it was the same, each time
	Refs   [][]bool // the addresses were the same, each time
	Err    error    // ended the replay early

	most   []int64   // see Outcome
	starts []float64 // the share of the replay, in executions of places, before each place was first executed; 1 if it was not
	ends   []float64 // the share of the replay, in executions of places, after which each place was executed no more
}

// Verify replays the program at the size of a real run and compares. Nothing is
// assumed: addresses are compared with the bases that the run had.
func (p *Program) Verify(ctx context.Context, code *Code, n int64, run *Run) (*Verdict, error) {
	in, err := p.At(code, n)
	if err != nil {
		return nil, err
	}
	here, err := p.locate(code, run)
	if err != nil {
		return nil, err
	}
	in.adopt(here, run)
	in.settleWays(here)
	total := uint64(0)
	for i := range run.Places {
		total += run.Places[i].Count * uint64(1+len(run.Places[i].Refs))
	}
	r := in.player(trace.NewDirect(), Options{MaxAccesses: 2*total + trace.BatchAccesses})
	r.check = newChecker(code, p)
	v := &Verdict{Err: r.run(ctx), most: r.out.most}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for i := range p.Places {
		v.judge(p, i, here[i], r)
		v.starts = append(v.starts, r.out.startOf(i, r.now))
		v.ends = append(v.ends, float64(r.out.last[i])/float64(max(1, r.now)))
	}
	return v, nil
}

// startOf returns which share of a replay was done before place i was first executed.
func (o *Outcome) startOf(i int, executions uint64) float64 {
	if o.first[i] == 0 {
		return 1
	}
	return float64(o.first[i]) / float64(max(1, executions))
}

// judge compares place i with what the run had there, nil if it was not executed.
func (v *Verdict) judge(p *Program, i int, in *RunPlace, r *player) {
	refs := make([]bool, len(p.Places[i].Refs))
	count, next := r.out.Visits[i] == 0, r.out.Visits[i] == 0
	if in != nil {
		count = r.out.Visits[i] == in.Count
		next = count && (!in.Forks || r.check.next[i] == in.Hash)
	}
	for j := range refs {
		if in != nil && in.Refs[j].Lo > in.Refs[j].Hi { // the run's executable does not have it
			refs[j] = count
			continue
		}
		refs[j] = in == nil && count || in != nil && count && r.check.refs[i][j] == in.Refs[j].Hash
	}
	v.Counts, v.Next, v.Refs = append(v.Counts, count), append(v.Next, next), append(v.Refs, refs)
}

// locate returns the places of a run, by place of the program; nil where it has none.
func (p *Program) locate(code *Code, run *Run) ([]*RunPlace, error) {
	known := make(map[Context]int32)
	for i, c := range p.Contexts {
		known[c] = int32(i)
	}
	at := make(map[placeKey]int32)
	for i := range p.Places {
		at[placeKey{p.Places[i].Context, p.Places[i].Block}] = int32(i)
	}
	contexts := make([]int32, len(run.Contexts))
	for i := 1; i < len(contexts); i++ {
		c := run.Contexts[i]
		contexts[i] = -1
		if int(c.Parent) >= i {
			return nil, fmt.Errorf("replay: a run whose contexts are out of order")
		}
		if c.Parent = contexts[c.Parent]; c.Parent >= 0 {
			if k, ok := known[c]; ok {
				contexts[i] = k
			}
		}
	}
	here := make([]*RunPlace, len(p.Places))
	for i := range run.Places {
		q := &run.Places[i]
		if k, ok := at[placeKey{contexts[q.Context], q.Block}]; ok {
			if len(q.Refs) != len(p.Places[k].Refs) {
				return nil, fmt.Errorf("replay: the run does not belong to this executable")
			}
			here[k] = q
		}
	}
	return here, nil
}

// adopt sets the bases to those of a run.
func (in *Instance) adopt(here []*RunPlace, run *Run) {
	lowest := make(map[int32]uint64)
	for i, q := range here {
		if q == nil {
			continue
		}
		for j := range q.Refs {
			b := in.prog.Places[i].Refs[j].Base
			lo, ok := lowest[b]
			if in.prog.Bases[b].Kind >= Data && q.Refs[j].Lo <= q.Refs[j].Hi && (!ok || q.Refs[j].Lo < lo) {
				lowest[b] = q.Refs[j].Lo
			}
		}
	}
	for b := range in.bases {
		switch in.prog.Bases[b].Kind {
		case Stack:
			in.bases[b] = run.Stack
		case Data, Global:
			if addr, ok := addressOf(run.Objects, in.prog.Bases[b].Object); ok {
				in.bases[b] = addr
			} else if lo, ok := lowest[int32(b)]; ok {
				in.bases[b] = lo
			}
		}
	}
	in.build()
}
