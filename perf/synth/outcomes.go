package synth

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"presage/perf/pipeline"
	"presage/perf/trace"
)

// drawing draws the addresses and outcomes of accesses.
type drawing struct {
	model   *Model
	spreads []*spread              // by reference; those of a stream share theirs
	stores  map[trace.RefID]*trail // that some load gets its value from
	fresh   uint64
	streams int32
}

// spread distributes events evenly over accesses: what a level's share has added up to
// since its last miss. At is how far, in blocks of each level, the accesses of a stream are
// from the beginning of one.
type spread struct {
	missed, walked, at []float64
	runs               []run
}

// run is a part of a walk: of so many blocks that are entered, the first so many miss. What
// a loop walks over was evicted as a whole, or was never there, and the next time that is
// kept: misses come one after the other, and can overlap.
type run struct{ blocks, misses int }

// blocksInRun is a fraction of what a loop enters in a stretch, and far more than a window
// of instructions holds.
const blocksInRun = 64

// due reports whether the next block is one that misses, of which share do.
func (r *run) due(sum *float64, share float64) bool {
	if r.blocks == 0 {
		*sum += share * blocksInRun
		n := math.Floor(*sum)
		*sum -= n
		r.blocks, r.misses = blocksInRun, int(n)
	}
	r.blocks--
	r.misses--
	return r.misses >= 0
}

// trail is the addresses of the latest executions of a store.
type trail struct {
	addrs [maxBack]uint64
	count int
}

func newDrawing(m *Model, random *rand.Rand) drawing {
	d := drawing{model: m, spreads: make([]*spread, len(m.Access)), stores: make(map[trace.RefID]*trail)}
	streams := make(map[int32]*spread)
	for i := range m.Access {
		a := &m.Access[i]
		d.streams = max(d.streams, a.Stream)
		for _, s := range a.From {
			d.stores[s.Store] = &trail{}
		}
		if s := streams[a.Stream]; a.Stream > 0 && s != nil && len(s.missed) == len(a.Missed) && len(s.walked) == len(a.Walks) {
			d.spreads[i] = s
			continue
		}
		s := &spread{missed: make([]float64, len(a.Missed)), walked: make([]float64, len(a.Walks))}
		for k := range s.missed {
			s.missed[k] = random.Float64()
		}
		for k := range s.walked {
			s.walked[k] = random.Float64()
		}
		d.spreads[i], streams[a.Stream] = s, s
	}
	return d
}

// block adds the accesses of a block to a stretch.
func (d *drawing) block(p *Program, id trace.BlockID, to *stretch) {
	for _, ref := range p.blocks[id].refs {
		to.accesses = append(to.accesses, trace.Tag(ref, size(p.Refs[ref].Size))|trace.Access(d.addr(p, ref)))
		to.outcomes = append(to.outcomes, d.outcome(ref))
	}
}

// size returns the size of an access as trace.Tag takes it.
func size(bytes uint8) uint8 {
	if bytes == 0 {
		return 1
	}
	return 1 << (bits.Len8(bytes) - 1)
}

const (
	line = 64 // between addresses, so that no accesses overlap unless they should
	// loaded is where loads find what no store wrote; addresses of stores are below.
	loaded = trace.AddrLimit / 2
)

// addr returns the address of the next execution of a reference: that of the store it
// gets its value from, or else one of its own.
func (d *drawing) addr(p *Program, ref trace.RefID) uint64 {
	addr := loaded + line*uint64(ref)
	if p.Refs[ref].Kind != trace.Load {
		d.fresh = (d.fresh + line) % loaded
		addr = d.fresh
	}
	if from, ok := d.source(ref); ok {
		addr = from
	}
	if t := d.stores[ref]; t != nil {
		t.addrs[t.count%maxBack] = addr
		t.count++
	}
	return addr
}

// source returns the address of the latest store that a load gets its value from.
func (d *drawing) source(ref trace.RefID) (addr uint64, ok bool) {
	for _, s := range d.model.Access[ref].From {
		if t := d.stores[s.Store]; s.Back < maxBack && t.count > s.Back {
			return t.addrs[(t.count-1-s.Back)%maxBack], true
		}
	}
	return 0, false
}

// outcome draws the outcome of the next execution of a reference.
func (d *drawing) outcome(ref trace.RefID) pipeline.Outcome {
	a, s := &d.model.Access[ref], d.spreads[ref]
	out := pipeline.Outcome{Stream: a.Stream, Enters: a.Enters, Level: s.misses(a)}
	if n := int(out.Level); n > 0 && a.Ahead != nil {
		out.Ahead = a.Ahead[n-1]
	}
	for k, w := range a.Walks {
		if event(&s.walked[k], w.Share) {
			out.Walk += w.Cycles
		}
	}
	return out
}

// misses draws how many levels the next access misses in.
func (s *spread) misses(a *Access) (level uint8) {
	enters := s.move(a)
	missed, entered := 1.0, 1.0 // shares of accesses, of the level before
	for k, share := range a.Missed {
		if missed <= 0 {
			break
		}
		odds := min(1, share/missed)
		due := event
		if a.Steps != nil && a.Steps[k] < entered && odds*entered <= mostInBlocks*a.Steps[k] {
			odds = inBlocks(odds, a.Steps[k]/entered, enters&(1<<k) != 0)
			entered = a.Steps[k]
		}
		if enters&(1<<k) != 0 {
			due = s.runs[k].due
		}
		if odds < 1 && !due(&s.missed[k], odds) {
			break
		}
		level, missed = uint8(k+1), share
	}
	return level
}

// mostInBlocks is how many misses a block may have for each time that a walk enters it, as at
// the ends of rows. With more they are others, as of what was evicted meanwhile.
const mostInBlocks = 1.5

// inBlocks returns the odds for a miss of an access that enters a block, or not, given those
// of all accesses and the share of them that enter one.
func inBlocks(odds, entering float64, enters bool) float64 {
	if enters {
		return min(1, odds/entering)
	}
	return max(0, odds-entering) / (1 - entering)
}

// move moves a stream on, and returns the set of levels of which its access enters a block.
func (s *spread) move(a *Access) (enters uint64) {
	if a.Steps != nil && s.at == nil {
		s.at, s.runs = make([]float64, len(a.Steps)), make([]run, len(a.Steps))
		for k, step := range a.Steps {
			s.at[k] = a.Starts[k] - step
		}
	}
	for k, step := range a.Steps {
		if s.at[k] += step; s.at[k] >= 1 {
			s.at[k] -= math.Floor(s.at[k])
			enters |= 1 << k
		}
	}
	return enters
}

// event adds the share of an access, and reports whether an event is due.
func event(sum *float64, share float64) bool {
	if *sum += min(share, 1); *sum < 1 {
		return false
	}
	*sum--
	return true
}
