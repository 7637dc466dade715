//go:build linux && amd64

package native

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"presage/perf/allocation"
	"presage/perf/engine"
	"presage/perf/internal/oracle"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// memoryProgram builds testdata/memory.cc.
func memoryProgram(t *testing.T, flags ...string) *objfile.File {
	t.Helper()
	out := filepath.Join(t.TempDir(), "memory")
	compileTo(t, out, append(flags, "-g", "-std=c++17", "-pthread", "-Wno-alloc-size-larger-than", "testdata/memory.cc")...)
	return open(t, out)
}

// withLibraries joins the libraries that a run loads with f, and returns the plan of
// what it executes with its changes of memory.
func withLibraries(t *testing.T, f *objfile.File, r engine.Request) (*objfile.File, *trace.Plan) {
	t.Helper()
	d, err := Engine{}.Discover(t.Context(), f, r)
	if err != nil {
		t.Fatal(err)
	}
	var libraries []objfile.Module
	for _, m := range d.Modules {
		if m.Base == 0 {
			continue
		}
		library, err := objfile.Open(m.Path)
		if err != nil {
			t.Fatal(err)
		}
		libraries = append(libraries, objfile.Module{Name: filepath.Base(m.Path), Path: m.Path, Base: uint64(m.Base), File: library})
	}
	joined, err := objfile.Join(f, libraries)
	if err != nil {
		t.Fatal(err)
	}
	d.Plan.Memory = allocation.Plan(joined)
	return joined, d.Plan
}

// changes are those of a run, with what was accessed between them.
type changes struct {
	observed
	list []trace.Change
	at   []int // accesses before each of list
}

func (c *changes) Observe(b *trace.Batch) {
	for _, x := range b.Changes {
		c.list, c.at = append(c.list, x), append(c.at, len(c.accesses))
	}
	c.observed.Observe(b)
}

// given is an allocation: the line of the source, the address modulo a GiB, which is
// the program's, and bytes.
type given struct {
	line       int
	addr, size uint64
}

// told returns the allocations that a program printed, in no order.
func told(t *testing.T, output string) (list []given) {
	t.Helper()
	for line := range strings.Lines(output) {
		var g given
		if _, err := fmt.Sscanf(line, "%d 0x%x %d", &g.line, &g.addr, &g.size); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		g.addr &= 1<<chunkBits - 1
		list = append(list, g)
	}
	return list
}

// tell returns the allocations at lines of a file that changes tell of.
func tell(t *testing.T, joined *objfile.File, file string, list []trace.Change) (all []given) {
	t.Helper()
	for i := range list {
		c := &list[i]
		if c.Kind != trace.Allocated {
			continue
		}
		table := allocation.New(joined)
		table.Apply(list[i : i+1])
		name := table.Objects()[0].Name
		at, ok := strings.CutPrefix(name, allocation.Prefix+file+":")
		if !ok {
			continue
		}
		line, err := strconv.Atoi(at)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, given{line, c.Addr & (1<<chunkBits - 1), c.Size})
	}
	return all
}

func inOrder(list []given) []given {
	slices.SortFunc(list, func(a, b given) int {
		return slices.Compare([]uint64{uint64(a.line), a.addr, a.size}, []uint64{uint64(b.line), b.addr, b.size})
	})
	return list
}

// TestAllocations holds the sites of allocations against what the program says of them,
// and their number and bytes against valgrind's; recording them changes no access.
func TestAllocations(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the traced processes, their engine and its threads run in other tests, too")
	}
	for name, flags := range map[string][]string{"O0": {"-O0"}, "O2": {"-O2"}, "static": {"-O2", "-static"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := memoryProgram(t, flags...)
			var stdout bytes.Buffer
			r := engine.Request{Args: []string{"300"}}
			joined, plan := withLibraries(t, f, r)
			r.Stdout = &stdout
			without := *plan
			without.Memory = nil
			var runs []*changes
			for _, p := range []*trace.Plan{plan, plan, &without} {
				stdout.Reset()
				c := new(changes)
				r.Plan, r.Sink = p, trace.NewDirect(c)
				out, err := Engine{}.Run(t.Context(), joined, r)
				if err != nil || out.ExitCode != 0 {
					t.Fatalf("%+v, %v", out, err)
				}
				runs = append(runs, c)
			}
			if !slices.EqualFunc(runs[0].list, runs[1].list, sameChange) || !slices.Equal(runs[0].at, runs[1].at) || !slices.Equal(runs[0].starts, runs[1].starts) {
				t.Error("two runs differ in changes of memory")
			}
			if !runs[0].equal(&runs[2].observed) || len(runs[2].list) > 0 {
				t.Error("changes of memory change what is recorded, or come without being asked for")
			}
			want, got := inOrder(told(t, stdout.String())), inOrder(tell(t, joined, "memory.cc", runs[0].list))
			// Threads' stacks and their control blocks are allocated at a line, too.
			got = slices.DeleteFunc(got, func(g given) bool { return !slices.ContainsFunc(want, func(w given) bool { return w.line == g.line }) })
			if !slices.Equal(got, want) {
				t.Errorf("%d allocations, the program says %d; from the first that differs: %v, want %v", len(got), len(want), got[differ(got, want):], want[differ(got, want):])
			}

			c := new(changes)
			r.Args = append(r.Args, "calm")
			r.Plan, r.Sink = plan, trace.NewDirect(c)
			if _, err := (Engine{}).Run(t.Context(), joined, r); err != nil {
				t.Fatal(err)
			}
			sameAsValgrind(t, joined, c.list, r.Args)
		})
	}
}

// differ returns the length of what two lists begin with.
func differ(a, b []given) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func sameChange(a, b trace.Change) bool {
	return slices.Equal(a.Callers, b.Callers) && a.Kind == b.Kind && a.Addr == b.Addr && a.Size == b.Size && a.PC == b.PC && a.More == b.More
}

// sameAsValgrind compares how often memory was allocated, how often it was freed, and
// the bytes. What the program maps by itself valgrind does not count, nor, in a static
// program, anything else.
func sameAsValgrind(t *testing.T, joined *objfile.File, list []trace.Change, args []string) {
	t.Helper()
	if joined.Interpreter == "" {
		return
	}
	log, err := exec.Command(oracle.Need(t, "valgrind"), append([]string{"--run-libc-freeres=no", "--run-cxx-freeres=no", joined.Path}, args...)...).CombinedOutput()
	m := regexp.MustCompile(`total heap usage: ([0-9,]+) allocs, ([0-9,]+) frees, ([0-9,]+) bytes`).FindSubmatch(log)
	if err != nil || m == nil {
		t.Fatalf("%v\n%s", err, log)
	}
	live := make(map[uint64]bool)
	var allocs, frees, total uint64
	for i := range list {
		c := &list[i]
		switch {
		case c.Kind == trace.Freed && live[c.Addr]:
			frees++
			delete(live, c.Addr)
		case c.Kind == trace.Allocated && c.Role != trace.Mmap && c.Role != trace.Mremap:
			allocs++
			total += c.Size
			live[c.Addr] = true
		}
	}
	for i, got := range []uint64{allocs, frees, total} {
		want, err := strconv.ParseUint(strings.ReplaceAll(string(m[i+1]), ",", ""), 10, 64)
		if err != nil || got != want {
			t.Errorf("%s: %d, valgrind counts %d", []string{"allocations", "frees", "bytes"}[i], got, want)
		}
	}
}

// TestAllocationsInWindows: a window tells of all that was allocated before it.
func TestAllocationsInWindows(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the traced processes, their engine and its threads run in other tests, too")
	}
	f := memoryProgram(t, "-O1")
	r := engine.Request{Args: []string{"300"}}
	joined, plan := withLibraries(t, f, r)
	run := func(windows ...trace.Window) (*changes, *engine.Outcome) {
		c := new(changes)
		r.Plan, r.Sink, r.Windows = plan, trace.NewDirect(c), windows
		out, err := Engine{}.Run(t.Context(), joined, r)
		if err != nil {
			t.Fatal(err)
		}
		return c, out
	}
	whole, out := run()
	n := out.Instructions
	part, out := run(trace.Window{From: n / 3, To: n / 2}, trace.Window{From: n / 2, To: n * 2 / 3})
	if len(out.Windows) != 2 || !slices.EqualFunc(whole.list, part.list, sameChange) {
		t.Errorf("%d changes in windows %v, %d in all", len(part.list), out.Windows, len(whole.list))
	}
	if len(part.accesses) == 0 || len(part.accesses) >= len(whole.accesses)/2 {
		t.Fatalf("%d accesses in windows, %d in all", len(part.accesses), len(whole.accesses))
	}
	// The same accesses stand between the same changes.
	first := slices.Index(part.at, part.at[len(part.at)-1])
	for i := range part.at {
		if i > 0 && i < first && part.at[i] > part.at[i-1] && part.at[i-1] > 0 && part.at[i]-part.at[i-1] != whole.at[i]-whole.at[i-1] {
			t.Fatalf("%d accesses between changes %d and %d, in the whole run %d", part.at[i]-part.at[i-1], i-1, i, whole.at[i]-whole.at[i-1])
		}
	}
}

// TestFailedUnmap: what munmap refuses to take is kept, and however much it is asked to
// take, nothing is told of it.
func TestFailedUnmap(t *testing.T) {
	f := compile(t, `#include <stdint.h>
#include <sys/mman.h>
int main(void) {
	char *p = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return 1;
	if (!munmap(p + 8, 4096) || !munmap(p, 0) || !munmap(p, SIZE_MAX - 8191) || !munmap((void *)(UINTPTR_MAX - 4095), 4096))
		return 2;
	*p = 1;
	return munmap(p, 4096) ? 3 : 0;
}`, "-O1", "-g", "-static")
	joined, plan := withLibraries(t, f, engine.Request{})
	c := new(changes)
	out, err := Engine{}.Run(t.Context(), joined, engine.Request{Plan: plan, Sink: trace.NewDirect(c)})
	if err != nil || out.ExitCode != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	at := slices.IndexFunc(c.list, func(c trace.Change) bool { return c.Role == trace.Mmap && c.Size == 8192 })
	if at < 0 {
		t.Fatalf("no mapping in %+v", c.list)
	}
	var got []trace.Change
	for _, x := range c.list[at:] {
		if x.Kind == trace.Unmapped {
			got = append(got, x)
		}
	}
	if want := (trace.Change{Kind: trace.Unmapped, Addr: c.list[at].Addr, Size: 4096}); len(got) != 1 || !sameChange(got[0], want) {
		t.Errorf("%d changes, the first %+v, want %+v alone", len(got), got[:min(1, len(got))], want)
	}
}
