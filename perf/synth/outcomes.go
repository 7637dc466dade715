package synth

import (
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
// since its last miss.
type spread struct{ missed, walked []float64 }

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
		s := &spread{make([]float64, len(a.Missed)), make([]float64, len(a.Walks))}
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
	out := pipeline.Outcome{Stream: a.Stream}
	before := 1.0
	for k, share := range a.Missed {
		if before <= 0 || !event(&s.missed[k], share/before) {
			break
		}
		out.Level, before = uint8(k+1), share
	}
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

// event adds the share of an access, and reports whether an event is due.
func event(sum *float64, share float64) bool {
	if *sum += min(share, 1); *sum < 1 {
		return false
	}
	*sum--
	return true
}
