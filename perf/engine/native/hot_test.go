//go:build linux && amd64

package native

import (
	"slices"
	"testing"

	"presage/perf/engine"
	"presage/perf/trace"
)

// smallBatches is a sink whose batches have room for few accesses. It keeps what a run
// gives, and the number of accesses of each block.
type smallBatches struct {
	observed
	counts []uint32
	batch  trace.Batch
}

func (s *smallBatches) Exchange(full *trace.Batch) *trace.Batch {
	if full != nil {
		var all trace.Batch
		full.Expand(&all)
		s.Observe(&all)
		s.counts = append(s.counts, all.Counts...)
		s.batch.Reset()
	}
	return &s.batch
}

// TestPlainRecords: what is read of a run does not depend on how much of it fits into a
// batch, and so neither on the way in which most records are read.
func TestPlainRecords(t *testing.T) {
	for _, name := range []string{"bench/sort.c", "signals.c", "work.c"} {
		f := compileAs(t, name, "-O2", "-Wno-all", "-static")
		r := engine.Request{Args: []string{"300"}}
		d, err := Engine{}.Discover(t.Context(), f, r)
		if err != nil {
			t.Fatal(err)
		}
		var runs []*smallBatches
		for _, room := range []int{1, 7, 40, trace.BatchAccesses} {
			s := &smallBatches{batch: trace.Batch{Accesses: make([]trace.Access, 0, room)}}
			r.Plan, r.Sink = d.Plan, s
			out, err := Engine{}.Run(t.Context(), f, r)
			if err != nil {
				t.Fatal(err)
			}
			if out.Instructions != d.Outcome.Instructions || out.Accesses != uint64(len(s.accesses)) {
				t.Errorf("%s, batches of %d: %d instructions, discovered %d; %d accesses, %d given", name, room, out.Instructions, d.Outcome.Instructions, out.Accesses, len(s.accesses))
			}
			runs = append(runs, s)
		}
		for _, s := range runs[1:] {
			if !s.equal(&runs[0].observed) || !slices.Equal(s.counts, runs[0].counts) {
				t.Errorf("%s: %d accesses, %d blocks, %d counts, in batches of one access %d, %d, %d", name, len(s.accesses), len(s.blocks), len(s.counts), len(runs[0].accesses), len(runs[0].blocks), len(runs[0].counts))
			}
		}
		if len(runs[0].accesses) < 1000 || len(runs[0].blocks) < 1000 {
			t.Errorf("%s: %d accesses, %d blocks", name, len(runs[0].accesses), len(runs[0].blocks))
		}
	}
}
