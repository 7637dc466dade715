package pipeline

import (
	"fmt"
	"math"
	"slices"

	"presage/perf/isa"
	"presage/perf/trace"
)

// Simulator runs the instructions of a run through a processor. It is a
// trace.Collector.
type Simulator struct {
	config  Config
	blocks  []codeBlock
	core    *core
	threads map[int32]*context
	now     int32 // the thread whose batch was last

	phases []phase
	mode   mode
	at     uint64 // instructions executed before the next block
	every  uint64 // Options.Interval
	result Result
	window Piece // counts at its beginning
	piece  Piece // the same
	stop   uint64
}

// mode is how the run's instructions are processed.
type mode uint8

const (
	skipping mode = iota
	warming       // contents of caches and predictors
	leading       // simulated and not counted
	counting
)

// phase is a mode that begins at a count of executed instructions.
type phase struct {
	from uint64
	mode mode
}

var _ trace.Collector = (*Simulator)(nil)

// New returns a Simulator of runs under plan, which must record all blocks and all
// memory references of code: the instructions of each of plan.Blocks, for target.
func New(target *isa.Target, plan *trace.Plan, code [][]isa.Inst, config Config, opt Options) (*Simulator, error) {
	if plan == nil {
		return nil, fmt.Errorf("pipeline: no plan: see Plan for one that fits")
	}
	if err := plan.Check(); err != nil {
		return nil, fmt.Errorf("pipeline: %w", err)
	}
	if err := config.Check(); err != nil {
		return nil, err
	}
	if err := config.checkRegisters(target); err != nil {
		return nil, err
	}
	if err := opt.check(); err != nil {
		return nil, err
	}
	s := &Simulator{config: config, threads: make(map[int32]*context), every: opt.Interval, phases: opt.phases()}
	memory := newMemory(&s.config.Memory)
	k := newCompiler(&s.config, memory, plan)
	blocks, err := k.blocks(plan, code)
	if err != nil {
		return nil, err
	}
	s.blocks = blocks
	s.core = newCore(&s.config, target, memory, k.widest)
	s.core.context = s.thread(0)
	s.result.BlockCycles = make([]uint64, len(blocks))
	s.result.BlockExecutions = make([]uint64, len(blocks))
	s.result.BlockMispredicts = make([]uint64, len(blocks))
	s.turn()
	return s, nil
}

// phases returns the modes of a run, ascending; windows that leave no gap
// follow each other directly.
func (o *Options) phases() []phase {
	if len(o.Windows) == 0 {
		return []phase{{0, counting}}
	}
	between := skipping
	if o.WarmCaches {
		between = warming
	}
	list := []phase{{0, between}}
	last := uint64(0)
	for _, w := range o.Windows {
		lead := last
		if w.From-last > o.Warmup {
			lead = w.From - o.Warmup
		}
		if lead < w.From {
			list = append(list, phase{lead, leading})
		}
		list = append(list, phase{w.From, counting}, phase{w.To, between})
		last = w.To
	}
	return list
}

// thread returns the context of a thread, creating it on first use.
func (s *Simulator) thread(id int32) *context {
	t := s.threads[id]
	if t == nil {
		t = &context{calls: returns{stack: make([]uint64, s.config.Branch.ReturnStack)}}
		s.threads[id] = t
	}
	return t
}

// Observe implements trace.Collector. It panics where a batch names a block
// that is not in the plan.
func (s *Simulator) Observe(b *trace.Batch) {
	c := s.core
	if b.Thread != s.now {
		s.now = b.Thread
		c.context = s.thread(b.Thread)
		c.line = noLine
	}
	s.at = b.Start
	in := input{accesses: b.Accesses, final: len(b.Blocks) == 0}
	s.resume(&in)
	for i, id := range b.Blocks {
		in.final = i == len(b.Blocks)-1
		block := &s.blocks[id]
		if len(s.phases) > 0 && s.at >= s.phases[0].from {
			s.turn()
		}
		if s.mode == skipping {
			c.context.end.class = isa.Illegal
			in.next = min(in.next+block.refs, len(in.accesses))
		} else {
			from, before := c.context.end.from, c.counts.Mispredicts
			c.arrive(i, block.pc)
			if s.mode == counting {
				s.result.BlockExecutions[id]++
				s.result.BlockMispredicts[from] += c.counts.Mispredicts - before
			}
			s.step(id, block.ops, &in)
		}
		s.at += uint64(block.instructions)
	}
	if s.mode != skipping {
		c.odd.strays += uint64(len(in.accesses) - in.next)
	}
}

// resume continues a block whose accesses did not all fit in its batch, as may happen
// with a very long one, if the new batch begins with the rest of them. Otherwise a
// fault cut the block short.
func (s *Simulator) resume(in *input) {
	t := s.core.context
	rest := t.rest
	t.rest = nil
	if rest != nil && s.mode != skipping && len(in.accesses) > 0 && in.accesses[0].Ref() == rest[0].ref {
		s.step(t.block, rest, in)
	}
}

// step executes the instructions ops of a block.
func (s *Simulator) step(id trace.BlockID, ops []op, in *input) {
	c := s.core
	before := c.retired
	var done int
	if s.mode == warming {
		done = c.warm(ops, in)
	} else {
		done = c.execute(ops, in)
		c.counts.Instructions += s.blocks[id].completed(ops[:done])
	}
	if done < len(ops) {
		c.context.block, c.context.rest = id, ops[done:]
	} else {
		c.leave(&s.blocks[id].end)
	}
	if s.mode == counting {
		s.result.BlockCycles[id] += uint64(c.retired - before)
		if c.counts.Instructions >= s.stop {
			s.endPiece()
		}
	}
}

// completed returns how many instructions of b end among some of its
// micro-operations.
func (b *codeBlock) completed(ops []op) uint64 {
	if len(ops) == len(b.ops) {
		return uint64(b.instructions)
	}
	n := uint64(0)
	for i := range ops {
		if ops[i].flags&opPart == 0 {
			n++
		}
	}
	return n
}

// turn switches to the mode that is due.
func (s *Simulator) turn() {
	for len(s.phases) > 0 && s.at >= s.phases[0].from {
		next := s.phases[0].mode
		s.phases = s.phases[1:]
		if s.mode == counting {
			s.endWindow()
		}
		s.mode = next
		s.core.memory.timeless = next == warming
		if next == counting {
			s.window = Piece{From: s.at, Counts: s.core.snapshot()}
			s.piece = s.window
			s.plan()
		}
	}
}

// plan sets when the next piece ends.
func (s *Simulator) plan() {
	s.stop = math.MaxUint64
	if s.every > 0 {
		s.stop = s.core.counts.Instructions + s.every
	}
}

// since returns the counts since an earlier state.
func (s *Simulator) since(p *Piece) Piece {
	now := s.core.snapshot()
	return Piece{From: p.From, Counts: now.combine(&p.Counts, subtract)}
}

func (s *Simulator) endPiece() {
	done := s.since(&s.piece)
	s.result.Pieces = append(s.result.Pieces, done)
	s.piece = Piece{From: done.From + done.Instructions, Counts: s.core.snapshot()}
	s.plan()
}

func (s *Simulator) endWindow() {
	if s.every > 0 && s.core.counts.Instructions > s.piece.Instructions {
		s.endPiece()
	}
	s.result.Windows = append(s.result.Windows, s.since(&s.window))
}

// Result returns the result up to now. It ends an open window.
func (s *Simulator) Result() *Result {
	r := s.result
	r.Windows, r.Pieces = slices.Clone(r.Windows), slices.Clone(r.Pieces)
	r.BlockCycles, r.BlockExecutions = slices.Clone(r.BlockCycles), slices.Clone(r.BlockExecutions)
	if s.mode == counting {
		if s.every > 0 && s.core.counts.Instructions > s.piece.Instructions {
			r.Pieces = append(r.Pieces, s.since(&s.piece))
		}
		r.Windows = append(r.Windows, s.since(&s.window))
	}
	total := s.core.snapshot()
	total = total.combine(&total, subtract)
	for i := range r.Windows {
		total = total.combine(&r.Windows[i].Counts, add)
	}
	r.Counts = total
	r.Warnings = s.core.odd.warnings()
	return &r
}
