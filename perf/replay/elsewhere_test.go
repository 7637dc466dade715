package replay

import (
	"errors"
	"strings"
	"testing"

	"presage/perf/allocation"
	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/subject"
	"presage/perf/trace"
)

// leftOut counts what replays leave out of a run.
type leftOut struct {
	*elsewhere
	code *Code
}

func (l leftOut) Observe(b *trace.Batch) {
	if l.thread(b) {
		return
	}
	left := 0
	for e := range l.code.executions(b, &left) {
		l.interrupts(e)
	}
}

// TestGoProgramsAreReplayed: threads and signals of the Go runtime are left out of replays; large
// objects are known from where they are allocated, though one of them is accessed at the end alone.
func TestGoProgramsAreReplayed(t *testing.T) {
	prog, err := subject.Build(t.Context(), "testdata/relax")
	if err != nil {
		t.Fatal(err)
	}
	code := codeOf(t, prog)
	large := allocation.Large(prog.File)
	if len(large.Allocators) != 1 {
		t.Fatalf("%d allocators of large objects", len(large.Allocators))
	}
	code.AnchorAllocations(large)
	m := learn(t, prog, code, 24, 26, 28, 30, 33, 36)
	const n = 70 // from here on 4 MiB are allocated, and garbage is collected
	got, certificate := replayed(t, m, prog, n, FollowOptions{})
	want, collectors := newTally(t, m.code.Plan)
	other := leftOut{newElsewhere(code), code}
	execute(t, t.Context(), prog, m.code, n, append(collectors, other)...)
	if other.accesses < 1000 || other.trouble(freely) != "" || len(other.resume) != 0 {
		t.Errorf("%d accesses of %d are left out, trouble %q, %d interruptions did not end", other.accesses, other.all, other.trouble(freely), len(other.resume))
	}
	certificate.Before += other.accesses
	checkCertified(t, n, prog, m.code.Plan, certificate, got, want)
	for _, routine := range []string{"main.kernel", "main.sum"} {
		// What an activation saves on the stack lies wherever the runtime has put that.
		if s := certificate.Of(refsOf(prog, routine)...); s.Accesses < 100_000 || s.Doubtful > 100 {
			t.Errorf("%s: %d doubtful of %d: %q", routine, s.Doubtful, s.Accesses, s.Reasons)
		}
	}
}

// TestThreadsAreRefused: programs whose threads share the work are not replayed.
func TestThreadsAreRefused(t *testing.T) {
	prog := perftest.Link(t, oracle.Need(t, "riscv64-linux-gnu-gcc"), []string{"-O2", "-static", "-pthread", "testdata/threads.c"}, "threads")
	code := codeOf(t, prog)
	c := NewCollector(code, Hints{})
	execute(t, t.Context(), prog, code, 400, c)
	_, err := c.Result()
	if trouble := new(TroubleError); !errors.As(err, &trouble) || !strings.Contains(err.Error(), "threads") {
		t.Errorf("error %v", err)
	}
}
