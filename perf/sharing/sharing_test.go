package sharing

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"presage/perf/internal/perftest"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/trace"
)

// event is an access of a run, for the oracle.
type event struct {
	thread int32
	ref    int
	addr   uint64
	size   uint64
	write  bool
}

// naive classifies the accesses of a run by looking back and ahead in all of it.
func naive(events []event, blockBytes uint64) (sharing, without uint64) {
	touches := func(e *event, block uint64) bool {
		return e.addr/blockBytes <= block && (e.addr+e.size-1)/blockBytes >= block
	}
	for i := range events {
		for block := events[i].addr / blockBytes; block <= (events[i].addr+events[i].size-1)/blockBytes; block++ {
			j := i - 1
			for j >= 0 && !(events[j].thread == events[i].thread && touches(&events[j], block)) {
				j--
			}
			if j < 0 {
				continue // the thread's first
			}
			written := make(map[uint64]bool) // by others, since it accessed the block last
			for k := j + 1; k < i; k++ {
				if e := &events[k]; e.write && e.thread != events[i].thread {
					for at := e.addr; at < e.addr+e.size; at++ {
						if at/blockBytes == block {
							written[at] = true
						}
					}
				}
			}
			if len(written) == 0 {
				continue
			}
			isTrue := false
			for k := i; k < len(events) && !isTrue; k++ {
				e := &events[k]
				if !touches(e, block) {
					continue
				}
				if e.thread != events[i].thread {
					if e.write {
						break
					}
					continue
				}
				for at := e.addr; at < e.addr+e.size; at++ {
					isTrue = isTrue || written[at]
				}
			}
			if isTrue {
				sharing++
			} else {
				without++
			}
		}
	}
	return sharing, without
}

// TestAgainstNaive: random accesses of a few threads to a few blocks.
func TestAgainstNaive(t *testing.T) {
	plan := &trace.Plan{}
	for i := range 4 {
		kind := trace.Load
		if i%2 == 1 {
			kind = trace.Store
		}
		plan.Refs = append(plan.Refs, trace.Ref{PC: trace.PC(4 * i), Size: 8, Kind: kind})
	}
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		blockBytes := uint64(8) << rapid.IntRange(0, 3).Draw(t, "log2 block / 8")
		threads := rapid.IntRange(1, 4).Draw(t, "threads")
		c := newCollector(plan, blockBytes)
		var events []event
		for range 60 {
			b := trace.Batch{Thread: int32(rng.IntN(threads)) * 7}
			for range 1 + rng.IntN(4) {
				e := event{thread: b.Thread, ref: rng.IntN(4), addr: rng.Uint64N(3 * blockBytes), size: 1 << rng.IntN(4)}
				e.write = e.ref%2 == 1
				events = append(events, e)
				b.Accesses = append(b.Accesses, trace.Tag(trace.RefID(e.ref), uint8(e.size))+trace.Access(e.addr))
			}
			c.Observe(&b)
		}
		var got counts
		for _, m := range c.result() {
			got.True += m.Counts.True
			got.False += m.Counts.False
			if !c.writes[m.Writer] {
				t.Fatalf("%+v: the writer only reads", m)
			}
		}
		if sharing, without := naive(events, blockBytes); got.True != sharing || got.False != without {
			t.Fatalf("%d true and %d false, want %d and %d", got.True, got.False, sharing, without)
		}
		if threads == 1 && got != (counts{}) {
			t.Fatalf("one thread, and %+v", got)
		}
	})
}

// TestCountersOfThreads: four threads that take turns to count in neighbouring words
// each lose the line before every turn but their first, or also before that if they had
// accessed the line before, though none wants what another wrote; a line apart they do
// not.
func TestCountersOfThreads(t *testing.T) {
	prog := perftest.Built("planted")(t)
	const n = 50
	for mend, want := range map[float64]float64{3: 4 * (n - 1), 4: 0} {
		rows, err := Simulate(t.Context(), prog, []subject.Point{{"n": n, "mend": mend}}, Options{RunOptions: subject.RunOptions{Store: store.Open(t.TempDir())}, By: subject.ByRoutine})
		if err != nil {
			t.Fatal(err)
		}
		got := 0.0
		for _, r := range rows {
			if r.Object == "main.hits" && r.Scope == "main.count" {
				got += r.False
				if r.Writer != "main.count" || r.Blocks > 2 || r.Misses < r.False {
					t.Errorf("%+v", r)
				}
			}
		}
		if got < want || got > want*n/(n-1) {
			t.Errorf("mended %g: %g misses of false sharing, want %g", mend, got, want)
		}
	}
	if _, err := Simulate(t.Context(), prog, []subject.Point{{"n": n}}, Options{BlockBytes: 128}); err == nil {
		t.Error("blocks of 128 bytes: no error")
	}
}
