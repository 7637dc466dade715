package ptmalloc_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/allocation"
	"presage/perf/engine"
	"presage/perf/engine/rv64"
	"presage/perf/internal/oracle"
	"presage/perf/objfile"
	"presage/perf/ptmalloc"
	"presage/perf/trace"
)

// follower holds a heap against the changes of a run.
type follower struct {
	t      *testing.T
	heap   *ptmalloc.Heap
	freed  uint64 // by a realloc whose result has not been told
	number int    // of requests
	wrong  int
}

func (f *follower) Observe(b *trace.Batch) {
	for i := range b.Changes {
		f.change(&b.Changes[i], i+1 < len(b.Changes) && isRealloc(&b.Changes[i+1]))
	}
}

func isRealloc(c *trace.Change) bool {
	return c.Kind == trace.Allocated && c.Role == trace.Realloc
}

func (f *follower) change(c *trace.Change, moves bool) {
	if f.wrong > 3 {
		return
	}
	var at uint64
	var err error
	switch {
	case c.Kind == trace.Freed && moves:
		f.freed = c.Addr
		return
	case c.Kind == trace.Freed:
		err = f.heap.Free(c.Addr)
	case c.Kind == trace.Unmapped:
		f.heap.Unmap(c.Addr, c.Size)
	case c.Kind == trace.Allocated:
		f.number++
		if at, err = f.ask(c); at != c.Addr {
			f.wrong++
			f.t.Errorf("request %d, %v of %d bytes: %#x, in the run %#x", f.number, c.Role, c.Size, at, c.Addr)
		}
	}
	if err != nil {
		f.wrong++
		f.t.Error(err)
	}
}

func (f *follower) ask(c *trace.Change) (uint64, error) {
	if !f.heap.Placed() && c.Role != trace.Mmap && f.heap.InHeap(c.Size) {
		f.heap.Begin(c.Addr)
	}
	switch c.Role {
	case trace.Malloc:
		return f.heap.Malloc(c.Size)
	case trace.Calloc:
		return f.heap.Calloc(c.Size)
	case trace.Realloc:
		old := f.freed
		f.freed = 0
		return f.heap.Realloc(old, c.Size)
	case trace.AlignedAlloc, trace.PosixMemalign:
		for alignment := uint64(1 << 11); ; alignment /= 2 { // of which the change does not tell
			if c.Addr%alignment == 0 || alignment <= 16 {
				return f.heap.Memalign(alignment, c.Size)
			}
		}
	case trace.Mmap:
		return f.heap.Map(c.Size), nil
	}
	f.t.Errorf("role %v", c.Role)
	return 0, nil
}

// TestChurn holds the addresses of a heap against those that programs were given, which ask
// for memory at random.
func TestChurn(t *testing.T) {
	gcc := oracle.Need(t, "riscv64-linux-gnu-gcc")
	path := filepath.Join(t.TempDir(), "churn")
	if out, err := exec.Command(gcc, "-O1", "-static", "-o", path, "testdata/churn.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, args := range []string{"3000 1", "3000 2", "3000 3", "20000 4"} {
		t.Run(args, func(t *testing.T) { follow(t, path, strings.Fields(args)...) })
	}
}

func follow(t *testing.T, path string, args ...string) {
	file, err := objfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := rv64.Engine{}.Layout(file, engine.Request{})
	if err != nil {
		t.Fatal(err)
	}
	f := &follower{t: t, heap: ptmalloc.New(ptmalloc.Layout{Top: layout.Mappings.Hi})}
	out, err := rv64.Engine{}.Run(context.Background(), file, engine.Request{
		Args: args, Plan: &trace.Plan{Memory: allocation.Plan(file)}, Sink: trace.NewDirect(f),
	})
	if err != nil || out.ExitCode != 0 {
		t.Fatalf("%+v, error %v", out, err)
	}
	if f.number < 100 {
		t.Errorf("%d requests", f.number)
	}
	t.Logf("%d requests", f.number)
}
