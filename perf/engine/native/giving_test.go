//go:build linux && amd64

package native

import (
	"bytes"
	"encoding/binary"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"presage/perf/engine"
	"presage/perf/internal/oracle"
	"presage/perf/trace"
)

// TestGivenMeanwhile lets a thread be given memory that another, which has not returned
// from mremap or realloc, has given back: it keeps it.
func TestGivenMeanwhile(t *testing.T) {
	const old, moved, page = 0x10_0000, 0x80_0000, pageBytes
	for name, c := range map[string]struct {
		role trace.Role
		args [3]uint64
		gone []interval // of what the first thread had
	}{
		"mremap":  {trace.Mremap, [3]uint64{old, 4 * page, 8 * page}, []interval{{old, old + page}, {old + 2*page, old + 4*page}}},
		"realloc": {trace.Realloc, [3]uint64{old + page, 8 * page}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			collected := new(changes)
			f := compile(t, "int main(void) { return 0; }")
			m := newMachine(t.Context(), f, engine.Request{Plan: &trace.Plan{Memory: new(trace.MemoryPlan)}, Sink: trace.NewDirect(collected)}, false)
			m.maps = newSpace(0)
			if err := m.maps.add(0, 1<<chunkBits); err != nil {
				t.Fatal(err)
			}
			go m.reader.run()
			m.full <- segment{chunks: m.maps.chunks}
			calls := func(thread int32, a trace.Allocator, args [3]uint64, result uint64, meanwhile func()) {
				const back, sp = 0x4000, 0x20_0000
				e := &memoryEvent{pc: uint64(a.PC), allocator: a, stack: binary.LittleEndian.AppendUint64(nil, back)}
				e.regs[rdi], e.regs[rsi], e.regs[rdx], e.regs[rsp] = args[0], args[1], args[2], sp
				m.full <- segment{thread: thread, boundary: true, memory: e}
				meanwhile()
				e = &memoryEvent{back: true, pc: back}
				e.regs[rax], e.regs[rsp] = result, sp+8
				m.full <- segment{thread: thread, boundary: true, memory: e}
			}
			nothing := func() {}
			calls(0, trace.Allocator{PC: 1, Role: c.role}, c.args, moved, func() {
				calls(1, trace.Allocator{PC: 2, Role: trace.Mmap}, [3]uint64{0, page}, old+page, nothing)
			})
			close(m.full)
			<-m.reader.done
			var gone []interval
			kept := false
			for _, x := range collected.list {
				switch at := x.Addr & (1<<chunkBits - 1); x.Kind {
				case trace.Unmapped, trace.Freed:
					gone = append(gone, interval{at, at + x.Size})
				case trace.Allocated:
					kept = kept || at == old+page && x.Size == page
				}
			}
			if !kept || !slices.Equal(gone, c.gone) {
				t.Errorf("%x are given back, want %x; changes %+v", gone, c.gone, collected.list)
			}
		})
	}
}

// TestLeftAllocators: after longjmp out of operator new, what code without call frames
// allocates is told.
func TestLeftAllocators(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the traced processes, their engine and its threads run in other tests, too")
	}
	out := filepath.Join(t.TempDir(), "left")
	compileTo(t, out, "-O1", "-g", "-fno-asynchronous-unwind-tables", "-fno-exceptions", "-Wno-alloc-size-larger-than", "testdata/left.cc")
	// Debugging information has call frames, too.
	if text, err := exec.Command(oracle.Need(t, "objcopy"), "--remove-section", ".debug_frame", out).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	f := open(t, out)
	joined, plan := withLibraries(t, f, engine.Request{})
	var stdout bytes.Buffer
	c := new(changes)
	if res, err := (Engine{}).Run(t.Context(), joined, engine.Request{Plan: plan, Sink: trace.NewDirect(c), Stdout: &stdout}); err != nil || res.ExitCode != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	want, got := inOrder(told(t, stdout.String())), inOrder(tell(t, joined, "left.cc", c.list))
	if len(want) != 3 || !slices.Equal(got, want) {
		t.Errorf("%v, the program says %v", got, want)
	}
}
