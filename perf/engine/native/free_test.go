//go:build linux && amd64

package native

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"presage/perf/engine"
	"presage/perf/internal/oracle"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// byThread is what each thread did: how many accesses and executions of blocks, and a
// sum of the former in order.
type byThread struct {
	accesses, blocks, sums map[int32]uint64
	total, last            uint64
	instructions           uint64 // of the plan's blocks that were executed
	plan                   *trace.Plan
	wrong                  error
}

func newByThread(p *trace.Plan) *byThread {
	return &byThread{plan: p, accesses: make(map[int32]uint64), blocks: make(map[int32]uint64), sums: make(map[int32]uint64)}
}

// Observe implements trace.Collector.
func (p *byThread) Observe(b *trace.Batch) {
	p.accesses[b.Thread] += uint64(len(b.Accesses))
	p.blocks[b.Thread] += uint64(len(b.Blocks))
	p.total += uint64(len(b.Accesses))
	for _, id := range b.Blocks {
		p.instructions += uint64(p.plan.Blocks[id].Instructions)
	}
	sum := p.sums[b.Thread]
	for _, a := range b.Accesses {
		sum = sum*0x9e3779b97f4a7c15 + uint64(a)
	}
	p.sums[b.Thread] = sum
	if b.Start < p.last && p.wrong == nil {
		p.wrong = fmt.Errorf("a batch starts at %d, behind one at %d", b.Start, p.last)
	}
	p.last = b.Start
}

// few are the instructions by which a run may differ from the plan's blocks: of blocks
// that are left early, and of code that only waiting threads execute.
const few = 1000

// worker leaves out what the first thread did, which depends on which threads it finds
// ended.
func worker(m map[int32]uint64) map[int32]uint64 {
	m = maps.Clone(m)
	delete(m, 0)
	return m
}

// freely compiles the program of several kinds of threads.
func freely(t testing.TB) *objfile.File {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", "freely.c"))
	if err != nil {
		t.Fatal(err)
	}
	return compile(t, string(source), "-O2", "-pthread")
}

// TestFreeThreads runs programs whose threads run at the same time, several times, and
// compares them with plain runs; where threads neither wait nor race, what each of them
// did with what it does when threads take turns.
func TestFreeThreads(t *testing.T) {
	f := freely(t)
	for _, c := range []struct {
		args  string
		exact bool // threads neither wait nor race
	}{
		{"sums 3 30000", true},
		{"sums 7 3000", true},
		{"locked 3 3000", false},
		{"pairs 4 200", false},
		{"storm 3 60", false},
		{"signals 2 5", false},
		{"woken 1 30", false},
		{"leaving 3 1000", false},
		{"code 2 50", false},
		{"pipes 3 50", false},
		{"children 2 3", false},
	} {
		t.Run(strings.ReplaceAll(c.args, " ", "-"), func(t *testing.T) {
			input := engine.Request{Args: strings.Fields(c.args)}
			d, err := Engine{}.Discover(t.Context(), f, input)
			if err != nil {
				t.Fatal(err)
			}
			turns := newByThread(d.Plan)
			if c.exact {
				r := input
				r.Plan, r.Sink = d.Plan, trace.NewDirect(turns)
				if _, err := (Engine{}).Run(t.Context(), f, r); err != nil {
					t.Fatal(err)
				}
			}
			input.FreeThreads = true
			sameFreely(t, f, input)
			for range 2 {
				free := newByThread(d.Plan)
				r := input
				r.Plan, r.Sink = d.Plan, trace.NewDirect(free)
				out := sameFreely(t, f, r)
				if free.wrong != nil || free.total != out.Accesses || len(free.blocks) > out.Threads || free.last > out.Instructions {
					t.Errorf("%d accesses, the last batch at %d, of %+v: %v", free.total, free.last, *out, free.wrong)
				}
				if !c.exact {
					continue
				}
				if got := free.instructions; got < out.Instructions-few || got > out.Instructions+few {
					t.Errorf("the blocks have %d instructions, %+v", got, *out)
				}
				if !maps.Equal(worker(free.accesses), worker(turns.accesses)) || !maps.Equal(worker(free.blocks), worker(turns.blocks)) {
					t.Errorf("threads made %v accesses in %v blocks, in turns %v in %v", free.accesses, free.blocks, turns.accesses, turns.blocks)
				}
				if strings.HasPrefix(c.args, "sums") && !maps.Equal(worker(free.sums), worker(turns.sums)) {
					t.Error("threads made other accesses than in turns")
				}
			}
		})
	}
}

// sameFreely runs a program with what an engine records, and compares its output and
// status with those of a plain run.
func sameFreely(t *testing.T, f *objfile.File, r engine.Request) *engine.Outcome {
	t.Helper()
	plain, err := exec.Command(f.Path, r.Args...).Output()
	status := 0
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		status = exit.ExitCode()
	}
	var output bytes.Buffer
	r.Stdout = &output
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // a guard: threads that spin take long on a busy machine
	defer cancel()
	out, err := Engine{}.Run(ctx, f, r)
	if err != nil || out.ExitCode != status || output.String() != string(plain) || !out.FreeThreads {
		t.Fatalf("%v: %+v with output %q, error %v; plain %q, status %d", r.Args, out, &output, err, plain, status)
	}
	return out
}

// TestFreeOpenMP runs an OpenMP program whose threads run at the same time.
func TestFreeOpenMP(t *testing.T) {
	gcc := oracle.Need(t, "gcc")
	path := filepath.Join(t.TempDir(), "program")
	if text, err := exec.Command(gcc, "-O2", "-fopenmp", "-o", path, filepath.Join("testdata", "openmp.c")).CombinedOutput(); err != nil {
		t.Skipf("no OpenMP: %v\n%s", err, text)
	}
	f := open(t, path)
	for range 2 {
		out := sameFreely(t, f, engine.Request{FreeThreads: true})
		if out.Threads != 3 {
			t.Errorf("%+v, want 3 threads", *out)
		}
	}
}

// TestFreeFlow checks the counts of blocks of the program itself against those of a run
// in turns.
func TestFreeFlow(t *testing.T) {
	f := freely(t)
	r := engine.Request{Args: []string{"sums", "3", "30000"}}
	d, err := Engine{}.Discover(t.Context(), f, r)
	if err != nil {
		t.Fatal(err)
	}
	flow := &trace.FlowPlan{}
	for _, b := range d.Plan.Blocks {
		if b.PC < moduleStride {
			flow.Places = append(flow.Places, b.PC)
		}
	}
	r.Plan = &trace.Plan{Flow: flow}
	var counts []*trace.Flow
	for _, free := range []bool{false, true} {
		r.FreeThreads = free
		out, err := Engine{}.Run(t.Context(), f, r)
		if err != nil {
			t.Fatal(err)
		}
		counts = append(counts, out.Flow)
	}
	if len(flow.Places) < 20 || fmt.Sprint(counts[0].Places) != fmt.Sprint(counts[1].Places) {
		t.Errorf("counts %v, in turns %v", counts[1].Places, counts[0].Places)
	}
}

// TestFreeLimits checks that programs whose threads never end are stopped: at a count
// of instructions, which all of them share, and by cancellation.
func TestFreeLimits(t *testing.T) {
	f := freely(t)
	const limit, never = 3_000_000, "1000000000000"
	r := engine.Request{Args: []string{"leaving", "3", never}, FreeThreads: true, MaxInstructions: limit}
	const room = 3 * 100 // a block of each thread
	out, err := Engine{}.Run(t.Context(), f, r)
	if !errors.Is(err, engine.ErrInstructionLimit) || out.Instructions < limit || out.Instructions > limit+room {
		t.Errorf("%+v, error %v, want the limit at %d", out, err, limit)
	}
	d, err := Engine{}.Discover(t.Context(), f, r)
	if !errors.Is(err, engine.ErrInstructionLimit) {
		t.Fatal(err)
	}
	for range 2 {
		recorded := newByThread(d.Plan)
		r.MaxInstructions, r.Until = 0, limit
		r.Plan, r.Sink = d.Plan, trace.NewDirect(recorded)
		out, err = Engine{}.Run(t.Context(), f, r)
		if err != nil || !out.Stopped || out.Instructions < limit || out.Instructions > limit+room {
			t.Errorf("%+v, error %v, want a stop at %d", out, err, limit)
		}
		if got := recorded.instructions; got < out.Instructions-few || got > out.Instructions+few {
			t.Errorf("the blocks have %d instructions, %+v", got, *out)
		}
		if recorded.total != out.Accesses || recorded.total < limit/4 || len(recorded.accesses) != 4 {
			t.Errorf("%d accesses by %v of %+v", recorded.total, recorded.accesses, *out)
		}
	}
	r = engine.Request{Args: r.Args, FreeThreads: true}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := (Engine{}).Run(ctx, f, r); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled: %v", err)
	}
	waitUntil(t, func() bool { return len(running(t, f.Path)) == 0 })
}

// slowly is a collector that is slower than any program. It counts the batches of each
// thread, and ends the run after some.
type slowly struct {
	batches map[int32]int
	left    int
	end     func()
}

// Observe implements trace.Collector.
func (s *slowly) Observe(b *trace.Batch) {
	time.Sleep(2 * time.Millisecond)
	s.batches[b.Thread]++
	if s.left--; s.left == 0 {
		s.end()
	}
}

// TestFreeTurns checks that all threads go on where analysis is slower than they are.
func TestFreeTurns(t *testing.T) {
	f := freely(t)
	r := engine.Request{Args: []string{"signals", "3", "1000000000"}, FreeThreads: true, MaxInstructions: 1_000_000}
	d, err := Engine{}.Discover(t.Context(), f, r)
	if !errors.Is(err, engine.ErrInstructionLimit) {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := &slowly{batches: make(map[int32]int), left: 300, end: cancel}
	r.MaxInstructions, r.Plan, r.Sink = 0, d.Plan, trace.NewDirect(seen)
	if _, err := (Engine{}).Run(ctx, f, r); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	delete(seen.batches, 0) // waits for the others
	counts := slices.Collect(maps.Values(seen.batches))
	if len(counts) != 3 || slices.Max(counts) > 3*slices.Min(counts) {
		t.Errorf("batches by thread: %v", seen.batches)
	}
}

// TestFreeFault checks that a fault names its thread.
func TestFreeFault(t *testing.T) {
	f := freely(t)
	for threads := int32(1); threads <= 3; threads++ {
		r := engine.Request{Args: []string{"fault", strconv.Itoa(int(threads)), "1000"}, FreeThreads: true}
		_, err := Engine{}.Run(t.Context(), f, r)
		var fault *engine.Fault
		if !errors.As(err, &fault) || fault.Thread != threads || fault.Addr != 8 || fault.Routine != "fault" {
			t.Errorf("%+v, error %v, want a fault of thread %d", fault, err, threads)
		}
	}
}

// TestFreeRefusals checks what cannot be combined with threads that run freely.
func TestFreeRefusals(t *testing.T) {
	f := compile(t, "int main(void) { return 0; }")
	for _, r := range []engine.Request{
		{Plan: new(trace.Plan), Windows: []trace.Window{{From: 10, To: 20}}},
		{Plan: &trace.Plan{Memory: new(trace.MemoryPlan)}},
	} {
		r.FreeThreads, r.Sink = true, trace.NewDirect()
		if _, err := (Engine{}).Run(t.Context(), f, r); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%+v: error %v", r, err)
		}
	}
}
