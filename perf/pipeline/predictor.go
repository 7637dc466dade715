package pipeline

import (
	"presage/perf/isa"
	"presage/perf/trace"
)

// predictor tells whether a transfer of control was predicted, and learns.
type predictor struct {
	config   *Branch
	counters []uint8 // 0, 1: not taken; 2, 3: taken
	history  uint32
	tage     *tage
	targets  []uint64 // last target by address of the jump
}

// counterStart is the initial value of counters, weakly taken: most branches close
// loops.
const counterStart = 2

func newPredictor(c *Branch) predictor {
	p := predictor{config: c}
	switch c.Predictor {
	case TAGE:
		p.tage = newTAGE(c.Entries, c.HistoryBits)
	case Bimodal, Gshare:
		p.counters = make([]uint8, c.Entries)
		for i := range p.counters {
			p.counters[i] = counterStart
		}
	}
	p.targets = make([]uint64, c.Targets)
	return p
}

// returns is a return-address stack. Once it is full, a call overwrites the
// oldest entry.
type returns struct {
	stack []uint64
	top   int // where the next one goes
	depth int // entries that are valid
}

func (r *returns) push(addr uint64) {
	if len(r.stack) == 0 {
		return
	}
	r.stack[r.top] = addr
	r.top++
	if r.top == len(r.stack) {
		r.top = 0
	}
	r.depth = min(r.depth+1, len(r.stack))
}

func (r *returns) pop() (addr uint64, ok bool) {
	if r.depth == 0 {
		return 0, false
	}
	if r.top == 0 {
		r.top = len(r.stack)
	}
	r.top--
	r.depth--
	return r.stack[r.top], true
}

// transfer is the end of a block, whose outcome the next block shows.
type transfer struct {
	class     isa.Class
	hasTarget bool
	from      trace.BlockID // the block
	pc        uint64
	next      uint64 // address of the instruction after it
	target    uint64
	complete  int64 // when the outcome is known
}

// leads reports whether the transfer can lead to pc. Otherwise something intervened: a
// signal, the end of a window, code outside the blocks.
func (t *transfer) leads(pc uint64) bool {
	switch t.class {
	case isa.Branch:
		return pc == t.next || pc == t.target
	case isa.Jump, isa.Call:
		return !t.hasTarget || pc == t.target
	case isa.IndirectJump, isa.Return:
		return true
	}
	return pc == t.next
}

// foresees reports whether the transfer to pc was predicted.
func (p *predictor) foresees(t *transfer, pc uint64, r *returns) bool {
	if p.config.Predictor == Perfect {
		return true
	}
	switch t.class {
	case isa.Branch:
		return p.direction(t, pc != t.next)
	case isa.Call:
		r.push(t.next)
		return t.hasTarget || p.target(t.pc, pc)
	case isa.IndirectJump:
		return p.target(t.pc, pc)
	case isa.Return:
		if len(r.stack) == 0 {
			return true
		}
		addr, ok := r.pop()
		return ok && addr == pc
	}
	return true
}

func (p *predictor) direction(t *transfer, taken bool) bool {
	switch p.config.Predictor {
	case Static:
		return taken == (t.target <= t.pc)
	case TAGE:
		return p.tage.direction(t.pc, taken)
	}
	i := t.pc >> 1 // instructions lie at even addresses
	if p.config.Predictor == Gshare {
		i ^= uint64(p.history & uint32(uint64(1)<<p.config.HistoryBits-1))
		p.history <<= 1
		if taken {
			p.history |= 1
		}
	}
	c := &p.counters[i&uint64(len(p.counters)-1)]
	was := *c >= 2
	switch {
	case taken && *c < 3:
		*c++
	case !taken && *c > 0:
		*c--
	}
	return was == taken
}

func (p *predictor) target(pc, to uint64) bool {
	if len(p.targets) == 0 {
		return true
	}
	last := &p.targets[pc>>1%uint64(len(p.targets))]
	was := *last == to
	*last = to
	return was
}
