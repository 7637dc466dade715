package enginetest

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"presage/perf/engine"
	"presage/perf/trace"
)

// windows cuts the run into three windows: together they give the whole trace, and
// the middle one recorded alone gives the same part of it.
func (c *conformance) windows(t *testing.T) {
	n := c.whole.outcome.Instructions
	all := []trace.Window{{From: 0, To: n / 3}, {From: n / 3, To: n / 2}, {From: n / 2, To: n + 1<<20}, {From: n + 1<<21, To: n + 1<<22}}
	parts := c.record(t, engine.Request{Windows: all})
	if len(parts.outcome.Windows) != 3 {
		t.Fatalf("windows %v, want three", parts.outcome.Windows)
	}
	c.whole.sameEvents(t, "in windows", parts)
	for i, w := range parts.outcome.Windows {
		if w.From < all[i].From || i > 0 && w.From != parts.outcome.Windows[i-1].To {
			t.Errorf("window %d of %v is %v", i, all, w)
		}
	}
	for _, start := range parts.starts {
		if !slices.ContainsFunc(parts.outcome.Windows, func(w trace.Window) bool { return w.From <= start && start < w.To }) {
			t.Errorf("a batch starts at %d, in none of %v", start, parts.outcome.Windows)
		}
	}
	middle := c.record(t, engine.Request{Windows: all[1:2]})
	if !slices.Equal(middle.outcome.Windows, parts.outcome.Windows[1:2]) {
		t.Errorf("alone, the window is %v", middle.outcome.Windows)
	}
	first := c.record(t, engine.Request{Windows: all[:1]})
	second := &tape{accesses: c.whole.accesses[len(first.accesses):], blocks: c.whole.blocks[len(first.blocks):]}
	second.begins(t, "the middle window", middle)
	if len(first.accesses) == 0 || len(middle.accesses) == 0 {
		t.Error("nothing is recorded in a window")
	}
}

// snapshots interrupts the run, and resumes it from the snapshot after writing it
// out and reading it back.
func (c *conformance) snapshots(t *testing.T) {
	n := c.whole.outcome.Instructions
	reader := c.engine.(engine.Snapshotter)
	stop := errors.New("seen enough")
	for _, at := range []uint64{0, n / 3, n / 2} {
		var file bytes.Buffer
		var taken engine.Snapshot
		head, err := c.tryRecord(t, engine.Request{SnapshotAt: []uint64{at}, Snapshot: func(s engine.Snapshot) error {
			taken = s
			if _, err := s.WriteTo(&file); err != nil {
				return err
			}
			return stop
		}})
		if !errors.Is(err, stop) {
			t.Fatalf("at %d: error %v, want the one of Snapshot", at, err)
		}
		c.whole.begins(t, "before a snapshot", head)
		read, err := reader.ReadSnapshot(bytes.NewReader(file.Bytes()))
		if err != nil || read.Instructions() != taken.Instructions() || read.Instructions() < at {
			t.Fatalf("a snapshot at %d, asked for at %d, is read as at %d (%v)", taken.Instructions(), at, read.Instructions(), err)
		}
		for _, s := range []engine.Snapshot{taken, read} {
			rest := c.record(t, engine.Request{Resume: s})
			c.whole.sameEvents(t, "after a snapshot", head.followedBy(rest))
			if rest.outcome.Instructions != n || !strings.HasSuffix(c.whole.output, rest.output) {
				t.Errorf("resumed at %d: %+v, output %q", at, *rest.outcome, rest.output)
			}
		}
		c.damaged(t, reader, file.Bytes())
	}
	if _, _, err := c.run(t.Context(), engine.Request{Resume: foreign{}}); !errors.Is(err, engine.ErrSnapshot) {
		t.Errorf("a snapshot of another engine: error %v", err)
	}
}

// damaged reads truncated, modified and overlong snapshots.
func (c *conformance) damaged(t *testing.T, reader engine.Snapshotter, file []byte) {
	t.Helper()
	flipped := slices.Clone(file)
	flipped[len(flipped)/2] ^= 1
	for _, bad := range [][]byte{nil, file[:len(file)-1], flipped, append(slices.Clone(file), 0)} {
		if _, err := reader.ReadSnapshot(bytes.NewReader(bad)); !errors.Is(err, engine.ErrSnapshot) {
			t.Errorf("a damaged snapshot: error %v", err)
		}
	}
}

// foreign is a snapshot of no engine.
type foreign struct{}

func (foreign) Instructions() uint64                   { return 0 }
func (foreign) WriteTo(io.Writer) (n int64, err error) { return 0, nil }

// flow compares counted executions of every block with those in the trace.
func (c *conformance) flow(t *testing.T) {
	plan := &trace.FlowPlan{}
	for _, b := range c.Plan.Blocks {
		plan.Places = append(plan.Places, b.PC)
	}
	plan.Quiet = plan.Places
	out, _, err := c.run(t.Context(), engine.Request{Plan: &trace.Plan{Flow: plan}})
	if err != nil || out.Flow == nil {
		t.Fatalf("outcome %+v, error %v", out, err)
	}
	counts := make([]uint64, len(c.Plan.Blocks))
	for _, b := range c.whole.blocks {
		counts[b.id]++
	}
	if !slices.Equal(out.Flow.Places, counts) {
		t.Error("counts of executions are not those of the trace")
	}
}
