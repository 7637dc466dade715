package pipeline

import (
	"fmt"

	"presage/perf/trace"
)

// Outcome is what becomes of an access to memory, where that is given instead of
// following from the contents of caches and TLBs.
type Outcome struct {
	// Level is the index in Memory.Levels of the level that has the block, or their
	// number for memory. An access that bypasses it hits where it enters.
	Level uint8

	// Stream, unless 0, names what the access belongs to: walks along memory whose
	// accesses are to the block that the latest miss among them brings in, and wait
	// for it. At most Given.Streams.
	Stream int32

	// Enters says that the access is the first of its stream to a block: it does not wait
	// for one that the stream is missing, and later ones do not unless this one misses.
	Enters bool

	// Walk is the number of cycles by which a translation delays the access.
	Walk int32

	// Ahead is how many cycles before the access a block that missed was requested
	// by a prefetcher.
	Ahead int32
}

// Given are the outcomes of a batch.
type Given struct {
	Outcomes []Outcome // of each of the batch's Accesses
	Wrong    []bool    // by block of the batch: the transfer to it was mispredicted; nil: none was
	Streams  int32     // the greatest Outcome.Stream
}

// check returns an error unless the outcomes are those of a batch.
func (g *Given) check(b *trace.Batch, levels int) error {
	if len(g.Outcomes) != len(b.Accesses) {
		return fmt.Errorf("pipeline: %d outcomes for %d accesses", len(g.Outcomes), len(b.Accesses))
	}
	if g.Wrong != nil && len(g.Wrong) != len(b.Blocks) {
		return fmt.Errorf("pipeline: predictions of %d transfers for %d blocks", len(g.Wrong), len(b.Blocks))
	}
	for i := range g.Outcomes {
		o := &g.Outcomes[i]
		if int(o.Level) > levels || o.Stream < 0 || o.Stream > g.Streams || o.Walk < 0 || o.Ahead < 0 {
			return fmt.Errorf("pipeline: access %d has the outcome %+v: want one of %d levels or memory, a stream up to %d, and no negative number of cycles", i, *o, levels, g.Streams)
		}
	}
	return nil
}

// ObserveGiven is Observe with given outcomes: caches, TLBs and the branch predictor
// are not consulted, and keep their contents. MSHRs, the intervals of levels and
// memory, and stores that forward are simulated as ever. All batches of a Simulator
// must be given or none. It returns an error if the outcomes are not of the batch.
func (s *Simulator) ObserveGiven(b *trace.Batch, g *Given) error {
	if err := g.check(b, len(s.config.Memory.Levels)); err != nil {
		return err
	}
	m := s.core.memory
	for len(m.flights) <= int(g.Streams) {
		m.flights = append(m.flights, flight{})
	}
	s.core.given = g
	s.Observe(b)
	s.core.given = nil
	return nil
}

// flight is the latest block of a stream.
type flight struct {
	ready, asked int64 // as of line
	from         int   // the level that it comes from
}

// given performs an access at t, entering at level j, that ends as stated: see access.
func (m *memory) given(j int, o *Outcome, t int64, float bool) (ready int64, from int) {
	if k := int(o.Level); k > j {
		var missed [maxLevels]miss
		n := 0
		for i := j; i < k; i++ {
			l := &m.levels[i]
			if float && l.spec.BypassFloat {
				continue
			}
			l.counts.Accesses++
			l.counts.Misses++
			missed[n] = miss{level: i}
			n++
		}
		ready = max(t, m.serve(missed[:n], k, asked{at: t, found: t, ahead: int64(o.Ahead), stream: o.Stream > 0})+m.beyond(j, k)-int64(o.Ahead))
		if o.Stream > 0 {
			m.flights[o.Stream] = flight{ready, t, k}
		}
		return ready, k
	}
	if j < len(m.levels) {
		m.levels[j].counts.Accesses++
	}
	if o.Enters {
		m.flights[o.Stream] = flight{}
	}
	if f := &m.flights[o.Stream]; o.Stream > 0 && f.ready > t {
		if j < len(m.levels) {
			m.levels[j].counts.Delayed++
		}
		if t < f.asked { // as in arrival
			own := max(t, m.serve([]miss{{level: j}}, f.from, asked{at: t, found: t, stream: true})+m.beyond(j, f.from))
			if own < f.ready {
				f.ready, f.asked = own, t
			}
		}
		return f.ready, f.from
	}
	return t, j
}
