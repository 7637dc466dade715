package rv64

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presage/perf/engine"
	"presage/perf/internal/oracle"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// history is a program's full execution trace: the addresses of the instructions
// executed, and the accesses as testdata/qemu/record.c writes them.
type history struct {
	pcs      []uint64
	accesses []uint64
	exit     int
}

// plugin compiles the qemu recorder plugin and returns its path.
func plugin(t *testing.T) string {
	t.Helper()
	oracle.Need(t, qemu)
	gcc := oracle.Need(t, "gcc")
	path := filepath.Join(t.TempDir(), "record.so")
	if out, err := exec.Command(gcc, "-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", path, "testdata/qemu/record.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// onQemu runs a program on qemu and returns its history.
func onQemu(t *testing.T, plugin, program string) (h history) {
	t.Helper()
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "pcs"), filepath.Join(dir, "accesses")}
	cmd := exec.Command(qemu, "-cpu", "rv64,zba=true,zbb=true,zbs=true", "-plugin", plugin+",pcs="+files[0]+",accesses="+files[1], program)
	cmd.Env = []string{}
	out, err := cmd.CombinedOutput()
	h.exit = cmd.ProcessState.ExitCode()
	var lists [2][]uint64
	for i, name := range files {
		data, readErr := os.ReadFile(name)
		if readErr != nil || len(data) == 0 {
			t.Fatalf("the plugin recorded nothing: %v, %v\n%s", err, readErr, out)
		}
		lists[i] = make([]uint64, len(data)/8)
		if err := binary.Read(strings.NewReader(string(data)), binary.NativeEndian, lists[i]); err != nil {
			t.Fatal(err)
		}
	}
	h.pcs, h.accesses = lists[0], lists[1]
	return h
}

// historian is the sink for a plan whose blocks are single instructions.
type historian struct {
	plan  *trace.Plan
	sc    map[trace.RefID]bool // store-conditional
	h     *history
	batch trace.Batch
}

const historianRoom = 1 << 12

func (s *historian) Exchange(full *trace.Batch) *trace.Batch {
	if full == nil {
		s.batch.Accesses = make([]trace.Access, 0, historianRoom)
		s.batch.Blocks = make([]trace.BlockID, 0, historianRoom)
		return &s.batch
	}
	for _, id := range full.Blocks {
		s.h.pcs = append(s.h.pcs, uint64(s.plan.Blocks[id].PC))
	}
	for _, a := range full.Accesses {
		log := uint64(3)
		for 1<<log != a.Size() {
			log--
		}
		v := a.Addr()<<8 | log<<1
		kind := s.plan.Refs[a.Ref()].Kind
		// qemu reports both halves of an atomic separately, and implements
		// a store-conditional as a compare-and-exchange.
		if kind != trace.Store || s.sc[a.Ref()] {
			s.h.accesses = append(s.h.accesses, v)
		}
		if kind.Writes() {
			s.h.accesses = append(s.h.accesses, v|1)
		}
	}
	s.batch.Reset()
	return &s.batch
}

// onEngine runs a program with each instruction of executed planned as a block
// of its own, and every reference recorded.
func onEngine(t *testing.T, f *objfile.File, executed []uint64, mode Mode) (history, *result) {
	t.Helper()
	c := newCodeCache(nil, nil, 0)
	p, sc := new(trace.Plan), make(map[trace.RefID]bool)
	pcs := slices.Compact(slices.Sorted(slices.Values(executed)))
	for _, pc := range pcs {
		code := f.Bytes(pc, 2)
		if code != nil && code[0]&3 == 3 {
			code = f.Bytes(pc, 4)
		}
		d, ok := c.decode(code)
		if !ok {
			t.Fatalf("qemu executed %#x, which is not decoded: % x", pc, code)
		}
		b := trace.Block{PC: trace.PC(pc), Instructions: 1}
		if l := c.lower(d, pc); l.memory {
			p.Refs = append(p.Refs, trace.Ref{PC: trace.PC(pc), Size: l.size, Kind: l.kind, Float: l.float})
			b.Refs = 1
			sc[trace.RefID(len(p.Refs)-1)] = l.op.code == opAtomic && atomicKind(l.op.imm) == atomicSC
		}
		p.Blocks = append(p.Blocks, b)
	}
	var h history
	_, r, err := runGuest(t, f, options{Request: engine.Request{Plan: p, Sink: &historian{plan: p, sc: sc, h: &h}}, mode: mode, heat: 3})
	if err != nil {
		t.Fatal(err)
	}
	h.exit = r.ExitCode
	return h, r
}

// sameHistory fails the test unless both histories are equal.
func sameHistory(t *testing.T, f *objfile.File, got, want history) {
	t.Helper()
	for i := range min(len(got.pcs), len(want.pcs)) {
		if got.pcs[i] != want.pcs[i] {
			t.Errorf("instruction %d is at %#x%s, of qemu at %#x%s", i, got.pcs[i], where(f, got.pcs[i]), want.pcs[i], where(f, want.pcs[i]))
			return
		}
	}
	for i := range min(len(got.accesses), len(want.accesses)) {
		if g, w := got.accesses[i], want.accesses[i]; g != w {
			t.Errorf("access %d is %#x of 2^%d bytes (store: %d), of qemu %#x of 2^%d (%d)", i, g>>8, g>>1&7, g&1, w>>8, w>>1&7, w&1)
			return
		}
	}
	if len(got.pcs) != len(want.pcs) || len(got.accesses) != len(want.accesses) || got.exit != want.exit {
		t.Errorf("%d instructions, %d accesses, status %d; qemu has %d, %d, %d",
			len(got.pcs), len(got.accesses), got.exit, len(want.pcs), len(want.accesses), want.exit)
	}
}

func where(f *objfile.File, pc uint64) string {
	if r := f.RoutineAt(pc); r != nil {
		return fmt.Sprintf(" in %s+%#x", r.Name, pc-r.Addr)
	}
	return ""
}

// buildKernels compiles the freestanding program of testdata/count.
func buildKernels(t *testing.T, level, march string) string {
	t.Helper()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range [][]string{
		{"riscv64-linux-gnu-gcc", "-ffreestanding", "-fno-math-errno", "-DFORTRAN", "-c", "testdata/count/kernels.c", "-o", file("k.o")},
		{"riscv64-linux-gnu-gfortran", "-c", "testdata/count/relax.f90", "-o", file("r.o")},
		{"riscv64-linux-gnu-gcc", "-static", "-nostdlib", file("k.o"), file("r.o"), "-lm", "-lgcc", "-o", file("kernels")},
	} {
		cmd := exec.Command(oracle.Need(t, c[0]), append([]string{level, "-march=" + march, "-mabi=lp64d"}, c[1:]...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, out)
		}
	}
	return file("kernels")
}

// TestHistoryAgainstQemu compares the address of every instruction executed, and
// the address, size and kind of every access, with the recording of a qemu
// plugin, over whole runs of freestanding C, Fortran and assembly.
func TestHistoryAgainstQemu(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	record := plugin(t)
	for _, level := range []string{"-O0", "-O1", "-O2", "-O3", "-Os"} {
		for _, march := range []string{"rv64g", "rv64gc"} {
			t.Run(level+"/"+march, func(t *testing.T) {
				t.Parallel()
				path := buildKernels(t, level, march)
				want := onQemu(t, record, path)
				f, err := objfile.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				for name, mode := range modes(t) {
					got, r := onEngine(t, f, want.pcs, mode)
					sameHistory(t, f, got, want)
					_, plain, err := runGuest(t, f, options{mode: mode, heat: 3})
					if n := uint64(len(want.pcs)); err != nil || r.Instructions != n || plain.Instructions != n {
						t.Errorf("%s: %d instructions traced, %d untraced, qemu has %d: %v", name, r.Instructions, plain.Instructions, n, err)
					}
				}
				t.Logf("%d instructions, %d accesses", len(want.pcs), len(want.accesses))
			})
		}
	}
}

// TestRandomHistoryAgainstQemu compares the instructions executed by random
// programs.
func TestRandomHistoryAgainstQemu(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	record := plugin(t)
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			image := randomImage(seed, 2000)
			path := filepath.Join(t.TempDir(), "guest")
			if err := os.WriteFile(path, image, 0o755); err != nil {
				t.Fatal(err)
			}
			want := onQemu(t, record, path)
			f := readFile(t, image)
			for _, mode := range modes(t) {
				got, r := onEngine(t, f, want.pcs, mode)
				sameHistory(t, f, history{pcs: got.pcs, exit: got.exit}, history{pcs: want.pcs, exit: want.exit})
				if r.Instructions != uint64(len(want.pcs)) {
					t.Errorf("%d instructions, qemu has %d", r.Instructions, len(want.pcs))
				}
			}
		})
	}
}

// between returns the instructions executed from a routine's entry to its
// return.
func (h history) between(t *testing.T, f *objfile.File, name string) []uint64 {
	t.Helper()
	i := slices.IndexFunc(f.Routines, func(r objfile.Routine) bool { return r.Name == name })
	if i < 0 {
		t.Fatalf("no routine %s", name)
	}
	from := slices.Index(h.pcs, f.Routines[i].Addr)
	if from < 1 {
		t.Fatalf("%s is not called", name)
	}
	call := h.pcs[from-1]
	after := call + 4
	if code := f.Bytes(call, 2); code[0]&3 != 3 {
		after = call + 2
	}
	n := slices.Index(h.pcs[from:], after)
	if n < 0 {
		t.Fatalf("%s does not return", name)
	}
	return h.pcs[from : from+n]
}

// startUp lists the C library's start-up routines that behave differently on
// qemu. qemu passes the program's host path and resolves /proc/self/exe; the
// engine does neither. qemu 7.2 refuses set_robust_list, and __tls_init_tp
// checks its result.
var startUp = []string{
	"__init_misc", "strrchr", "strchr", "_dl_get_origin", "malloc", "__malloc", "__libc_malloc", "_int_malloc",
	"memcpy", "_wordcopy_fwd_aligned", "_wordcopy_fwd_dest_aligned", "__tls_init_tp",
}

// TestLibraryHistoryAgainstQemu compares programs linked with the C and Fortran
// libraries: the exact sequence from the entry of the main program to its
// return, and outside it the execution count of each instruction, except in
// startUp.
func TestLibraryHistoryAgainstQemu(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	record := plugin(t)
	for _, c := range []struct{ name, compiler, source, main string }{
		{"c", "gcc", "testdata/count/libc.c", "main"},
		{"fortran", "gfortran", "testdata/count/library.f90", "MAIN__"},
	} {
		for _, level := range []string{"-O0", "-O3"} {
			t.Run(c.name+level, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "program")
				cmd := exec.Command(oracle.Need(t, "riscv64-linux-gnu-"+c.compiler), "-static", level, c.source, "-o", path, "-lm")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %v\n%s", cmd, err, out)
				}
				want := onQemu(t, record, path)
				f, err := objfile.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				for _, mode := range modes(t) {
					got, r := onEngine(t, f, slices.Concat(want.pcs, instructionsOf(f)), mode)
					g, w := history{pcs: got.between(t, f, c.main)}, history{pcs: want.between(t, f, c.main)}
					sameHistory(t, f, g, w)
					if got.exit != want.exit || r.Instructions != uint64(len(got.pcs)) {
						t.Errorf("status %d, qemu has %d; %d instructions, of which recorded %d", got.exit, want.exit, r.Instructions, len(got.pcs))
					}
					for pc, n := range surplus(got.pcs, want.pcs) {
						if r := f.RoutineAt(pc); r == nil || !slices.Contains(startUp, r.Name) {
							t.Errorf("%#x%s is executed %+d times more than by qemu", pc, where(f, pc), n)
						}
					}
					t.Logf("%d instructions in %s, of %d; qemu %d of %d", len(g.pcs), c.main, len(got.pcs), len(w.pcs), len(want.pcs))
				}
			})
		}
	}
}

// instructionsOf returns the addresses of all routines' instructions.
func instructionsOf(f *objfile.File) (pcs []uint64) {
	c := newCodeCache(nil, nil, 0)
	for _, r := range f.Routines {
		for pc := r.Addr; pc < r.End(); {
			d, ok := c.decode(f.Bytes(pc, min(4, r.End()-pc)))
			if !ok {
				pc += 2
				continue
			}
			pcs = append(pcs, pc)
			pc += uint64(d.size)
		}
	}
	return pcs
}

// surplus returns, for each element that occurs more often in a than in b, the
// difference.
func surplus(a, b []uint64) map[uint64]int {
	n := make(map[uint64]int)
	for _, v := range a {
		n[v]++
	}
	for _, v := range b {
		n[v]--
	}
	for v, k := range n {
		if k == 0 {
			delete(n, v)
		}
	}
	return n
}
