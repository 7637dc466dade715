package rv64

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presage/perf/engine"
	"presage/perf/internal/oracle"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// assembled runs a program of a few instructions in every mode; all must agree.
// The translator translates from the first execution.
func assembled(t *testing.T, opt options, build func(a *asm)) (out string, r *result, err error) {
	t.Helper()
	var a asm
	build(&a)
	f := readFile(t, assemble(a.text, nil, pageBytes))
	first := ""
	for name, mode := range modes(t) {
		opt.mode, opt.heat = mode, 1
		out, r, err = runGuest(t, f, opt)
		r.Elapsed, r.translated = 0, 0
		all := fmt.Sprintf("%q %+v %v", out, *r, err)
		if first == "" {
			first = all
		}
		if all != first {
			t.Errorf("%s: %s, interpreted %s", name, all, first)
		}
	}
	return out, r, err
}

func loop(a *asm) { a.word(wordI(opcodeImm, 0, 5, 5, 1), wordJ(0, -4)) }

func TestInstructionLimit(t *testing.T) {
	for _, limit := range []uint64{1, 1000, 1_000_000} {
		_, r, err := assembled(t, options{Request: engine.Request{MaxInstructions: limit}}, loop)
		if !errors.Is(err, engine.ErrInstructionLimit) {
			t.Fatalf("limit %d: error %v", limit, err)
		}
		// The loop is two instructions long.
		if r.Instructions < limit || r.Instructions > limit+1 {
			t.Errorf("limit %d: %d instructions", limit, r.Instructions)
		}
	}
}

func TestCancellation(t *testing.T) {
	var a asm
	loop(&a)
	for name, mode := range modes(t) {
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		_, err := run(ctx, readFile(t, assemble(a.text, nil, pageBytes)), options{Request: engine.Request{Progress: func(n uint64) {
			if calls++; n < progressEvery*uint64(calls) || n > progressEvery*uint64(calls)+uint64(calls)*quantum*2 {
				t.Errorf("call %d of Progress at %d instructions", calls, n)
			}
			if calls == 2 {
				cancel()
			}
		}}, mode: mode})
		if !errors.Is(err, context.Canceled) || calls != 2 {
			t.Errorf("%s: error %v after %d calls of Progress", name, err, calls)
		}
	}
}

func TestFaults(t *testing.T) {
	tests := []struct {
		name  string
		build func(a *asm)
		want  string
	}{
		{"unmapped load", func(a *asm) {
			a.set(6, 0x3000000)
			a.word(wordI(opcodeImm, 0, 7, 0, 9), wordI(opcodeLoad, 2, 5, 6, 12))
		}, "rv64: load of 4 bytes at address 0x300000c, which the program may not access: pc 0x100bc (lw x5,12(x6))"},
		{"beyond the address space", func(a *asm) {
			a.word(wordI(opcodeImm, 0, 6, 0, -8), wordS(opcodeStore, 3, 6, 5, 0))
		}, "rv64: store of 8 bytes at address 0xfffffffffffffff8, which the program may not access: pc 0x100b4 (sd x5,0(x6))"},
		{"straddling the end", func(a *asm) {
			a.word(wordI(opcodeImm, 0, 6, 0, 1), wordI(opcodeImm, 1, 6, 6, 32), wordI(opcodeLoad, 3, 5, 6, -3))
		}, "rv64: load of 8 bytes at address 0xfffffffd, which the program may not access: pc 0x100b8 (ld x5,-3(x6))"},
		{"store to text", func(a *asm) {
			a.word(6<<7|opcodeAUIPC, wordS(opcodeStore, 2, 6, 5, 0))
		}, "rv64: store of 4 bytes at address 0x100b0, which the program may not access: pc 0x100b4 (sw x5,0(x6))"},
		{"fused index", func(a *asm) {
			a.word(wordI(opcodeImm, 0, 5, 0, 2), wordI(opcodeImm, 1, 6, 5, 3), wordR(opcodeReg, 0, 0, 6, 6, 0), wordI(opcodeLoad, 3, 7, 6, 8))
		}, "rv64: load of 8 bytes at address 0x18, which the program may not access: pc 0x100bc (ld x7,8(x6))"},
		{"unaligned atomic", func(a *asm) {
			a.set(6, testData+2)
			a.word(wordR(0x2f, 2, 0, 5, 6, 7))
		}, "rv64: unaligned atomic access of 4 bytes at address 0x1000002: pc 0x100b8 (amoadd.w x5,x7,(x6))"},
		{"illegal", func(a *asm) {
			a.word(wordI(opcodeImm, 0, 5, 0, 2), 0xffffffff)
		}, "rv64: illegal instruction: pc 0x100b4"},
		{"all zeroes", func(a *asm) { a.half(0); a.half(0) }, "rv64: illegal instruction: pc 0x100b0"},
		{"reserved rounding mode", func(a *asm) {
			a.word(wordI(opcodeSystem, 5, 0, 5, csrFrm), fp(1, 12, 7))
		}, "rv64: illegal instruction: pc 0x100b4 (fadd.d f10,f11,f12)"},
		{"write to a counter", func(a *asm) { a.word(wordI(opcodeSystem, 1, 0, 5, csrCycle-4096)) }, "rv64: illegal instruction: pc 0x100b0 (csrrw x0,cycle,x5)"},
		{"breakpoint", func(a *asm) { a.word(ebreakWord) }, "rv64: breakpoint: pc 0x100b0 (ebreak)"},
		{"jump to data", func(a *asm) {
			a.set(6, testData)
			a.word(wordI(opcodeJALR, 0, 1, 6, 0))
		}, "rv64: jump to address 0x1000000, which is not executable: pc 0x1000000"},
		{"running off the text", func(a *asm) {
			a.word(wordI(opcodeImm, 0, 5, 0, 2))
			for range (pageBytes - 64 - 2*56 - 4) / 4 {
				a.word(wordI(opcodeImm, 0, 5, 5, 1))
			}
		}, "rv64: jump to address 0x11000, which is not executable: pc 0x11000"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, r, err := assembled(t, options{}, test.build)
			var f *engine.Fault
			if !errors.As(err, &f) {
				t.Fatalf("error %v", err)
			}
			// The program has neither symbols nor sections.
			got := strings.TrimSuffix(err.Error(), " in segment0")
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if r.Signal != f.Signal || r.ExitCode != 128+f.Signal {
				t.Errorf("signal %d, status %d for a fault with signal %d", r.Signal, r.ExitCode, f.Signal)
			}
		})
	}
}

// TestFaultPosition checks that the instruction count and the trace stop at
// the faulting instruction, in the middle of a block.
func TestFaultPosition(t *testing.T) {
	var a asm
	a.set(6, testData)
	a.word(wordI(opcodeLoad, 3, 5, 6, 0), wordI(opcodeLoad, 3, 5, 6, 8), wordI(opcodeLoad, 3, 5, 0, 0), wordI(opcodeLoad, 3, 5, 6, 16))
	a.word(wordJ(0, 0))
	f := readFile(t, assemble(a.text, nil, pageBytes))
	plan := planAll(f)
	plan.Blocks = []trace.Block{{PC: trace.PC(f.Entry)}}
	for name, mode := range modes(t) {
		s := &tape{t: t, capacity: maxBlock}
		_, r, err := runGuest(t, f, options{Request: engine.Request{Plan: plan, Sink: s}, mode: mode, heat: 1})
		var fault *engine.Fault
		if !errors.As(err, &fault) || fault.PC != f.Entry+16 {
			t.Fatalf("%s: error %v", name, err)
		}
		if r.Instructions == 4 && len(s.accesses) == 2 && len(s.blocks) == 1 {
			continue
		}
		t.Errorf("%s: %d instructions, %d accesses, %d blocks before the fault; want 4, 2, 1", name, r.Instructions, len(s.accesses), len(s.blocks))
	}
}

// TestSourceLine checks that a fault of a compiled program names routine, line
// and caller.
func TestSourceLine(t *testing.T) {
	oracle.Need(t, "riscv64-linux-gnu-gcc")
	p := program{
		name: "crash", tool: "riscv64-linux-gnu-gcc", args: []string{"-static", "-O1", "-g", "-fno-inline"},
		after: []string{"testdata/c/crash.c"},
	}
	f, err := objfile.Open(p.build(t))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = runGuest(t, f, options{Request: engine.Request{Args: []string{"x"}}})
	var fault *engine.Fault
	if !errors.As(err, &fault) {
		t.Fatalf("error %v", err)
	}
	if fault.Routine != "poke" || filepath.Base(fault.File) != "crash.c" || fault.Line != 6 || fault.Addr != 0x1230 {
		t.Errorf("%v: routine %q, %s:%d, address %#x", err, fault.Routine, fault.File, fault.Line, fault.Addr)
	}
	var callers []string
	for _, c := range fault.Backtrace {
		callers = append(callers, c.Routine)
	}
	if len(callers) < 2 || callers[0] != "middle" || callers[1] != "main" {
		t.Errorf("callers %v, want middle and main first", callers)
	}
}

func TestUnaligned(t *testing.T) {
	out, _, err := assembled(t, options{}, func(a *asm) {
		a.set(6, testData+5)
		a.set(5, 0x64636261) // "abcd"
		a.word(wordS(opcodeStore, 2, 6, 5, 0), wordI(opcodeLoad, 1, 7, 6, 1), wordS(opcodeStore, 1, 6, 7, 6))
		a.finish(testData, 16)
	})
	if want := "\x00\x00\x00\x00\x00abcd\x00\x00bc\x00\x00\x00"; err != nil || out != want {
		t.Errorf("output %q, want %q (%v)", out, want, err)
	}
}

func TestUnknownSyscalls(t *testing.T) {
	_, r, err := assembled(t, options{}, func(a *asm) {
		a.call(1234)
		a.word(wordI(opcodeImm, 0, 8, regA0, 0))
		a.call(198) // socket
		a.call(1234)
		a.word(wordR(opcodeReg, 0, 32, regA0, 0, 8))
		a.call(93)
	})
	if err != nil || r.ExitCode != eNOSYS {
		t.Errorf("status %d (%v), want %d", r.ExitCode, err, eNOSYS)
	}
	if want := []engine.SyscallCount{{Number: 198, Count: 1}, {Number: 1234, Count: 2}}; !slices.Equal(r.UnknownSyscalls, want) {
		t.Errorf("unknown system calls %v, want %v", r.UnknownSyscalls, want)
	}
}

// TestSelfModifying writes code into a page that is writable and executable,
// and runs it before and after fence.i.
func TestSelfModifying(t *testing.T) {
	_, r, err := assembled(t, options{}, func(a *asm) {
		a.set(regA0, 0)
		a.set(regA1, pageBytes)
		a.set(regA2, 7)
		a.set(13, mapAnonymous|2)
		a.set(14, -1)
		a.set(15, 0)
		a.call(222)
		a.word(wordI(opcodeImm, 0, 20, regA0, 0))
		for i, add := range []int32{3, 40} {
			a.set(5, int32(wordI(opcodeImm, 0, 21, 21, add)))
			a.word(wordS(opcodeStore, 2, 20, 5, 0))
			a.set(5, int32(wordI(opcodeJALR, 0, 0, 1, 0)))
			a.word(wordS(opcodeStore, 2, 20, 5, 4))
			a.word(0x0000100f) // fence.i
			for range i + 1 {
				a.word(wordI(opcodeJALR, 0, 1, 20, 0))
			}
		}
		a.word(wordI(opcodeImm, 0, regA0, 21, 0))
		a.call(93)
	})
	if err != nil || r.ExitCode != 83 {
		t.Errorf("status %d (%v), want 3 + 2*40", r.ExitCode, err)
	}
}

func TestDeadlock(t *testing.T) {
	_, _, err := assembled(t, options{}, func(a *asm) {
		a.set(regA0, testData)
		a.set(regA1, 0)
		a.set(regA2, 0)
		a.set(13, 0)
		a.call(98)
	})
	if !errors.Is(err, engine.ErrDeadlock) {
		t.Errorf("error %v", err)
	}
}

func TestMemoryLimit(t *testing.T) {
	f, err := objfile.Open(programs()[0].build(t))
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	_, _, err = runGuest(t, f, options{Request: engine.Request{Memory: 64 << 20, Stderr: &stderr}})
	if !errors.Is(err, engine.ErrMemoryLimit) {
		t.Errorf("a Go program in 64 MiB: error %v\n%s", err, stderr.String())
	}
	var a asm
	loop(&a)
	image := assemble(a.text, nil, 1<<33)
	_, _, err = runGuest(t, readFile(t, image), options{})
	if !errors.Is(err, engine.ErrMemoryLimit) {
		t.Errorf("a data segment of 8 GiB: error %v", err)
	}
	if out, _, err := assembled(t, options{Request: engine.Request{Memory: 1 << 36}}, func(a *asm) { a.finish(testData, 3) }); err != nil || len(out) != 3 {
		t.Errorf("64 GiB of address space: output %q, error %v", out, err)
	}
}

func TestOptions(t *testing.T) {
	plan := &trace.Plan{Refs: []trace.Ref{{PC: 8, Size: 3}}}
	for _, opt := range []options{
		{Request: engine.Request{Memory: 1000}},
		{Request: engine.Request{Memory: 1 << 50}},
		{mode: 9},
		{Request: engine.Request{Plan: &trace.Plan{}}},
		{Request: engine.Request{Sink: trace.NewDirect()}},
		{Request: engine.Request{Plan: plan, Sink: trace.NewDirect()}},
		{Request: engine.Request{Grants: []engine.Grant{{Guest: "relative", Host: "."}}}},
		{Request: engine.Request{Grants: []engine.Grant{{Guest: "/data", Host: "/nonexistent/folder"}}}},
	} {
		if r, err := run(context.Background(), &objfile.File{}, opt); err == nil || r != nil {
			t.Errorf("%+v: result %v, error %v", opt, r, err)
		}
	}
}

// TestPlanMismatch runs a plan that names a load where there is a store.
func TestPlanMismatch(t *testing.T) {
	var a asm
	a.set(6, testData)
	store := len(a.text)
	a.word(wordS(opcodeStore, 3, 6, 6, 0), wordS(opcodeStore, 3, 6, 6, 8))
	a.finish(testData, 1)
	f := readFile(t, assemble(a.text, nil, pageBytes))
	pc := trace.PC(f.Entry + uint64(store))
	plan := &trace.Plan{Refs: []trace.Ref{{PC: pc, Size: 8, Kind: trace.Load}}}
	if _, _, err := runGuest(t, f, options{Request: engine.Request{Plan: plan, Sink: trace.NewDirect()}}); err == nil || !strings.Contains(err.Error(), "was the plan made for this program?") {
		t.Errorf("error %v", err)
	}
	plan.Refs[0].Kind = trace.Store
	plan.Refs = append(plan.Refs, trace.Ref{PC: pc, Operand: 1, Size: 8, Kind: trace.Store})
	if _, _, err := runGuest(t, f, options{Request: engine.Request{Plan: plan, Sink: trace.NewDirect()}}); err == nil || !strings.Contains(err.Error(), "second operand") {
		t.Errorf("two operands of a store: error %v", err)
	}
	plan.Refs = plan.Refs[:1]
	_, r, err := runGuest(t, f, options{Request: engine.Request{Plan: plan, Sink: trace.NewDirect()}})
	if err != nil || r.Accesses != 1 || r.UnplannedRefs != 1 {
		t.Errorf("%d accesses, %d unplanned (%v), want 1, 1", r.Accesses, r.UnplannedRefs, err)
	}
	if want := []trace.PC{pc + 4}; !slices.Equal(r.Unplanned, want) {
		t.Errorf("unplanned at %#x, want %#x", r.Unplanned, want)
	}
}

// TestFiles opens files inside and outside of grants.
func TestFiles(t *testing.T) {
	p := program{name: "files", tool: "go", args: []string{"build"}, after: []string{"./testdata/gofiles"}}
	f, err := objfile.Open(p.build(t))
	if err != nil {
		t.Fatal(err)
	}
	in, out, secret := t.TempDir(), t.TempDir(), t.TempDir()
	for path, text := range map[string]string{in + "/a.txt": "alpha", in + "/b.txt": "beta!", secret + "/s.txt": "secret"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(secret+"/s.txt", in+"/link"); err != nil {
		t.Fatal(err)
	}
	got, r, err := runGuest(t, f, options{Request: engine.Request{Args: []string{secret + "/s.txt"}, Grants: []engine.Grant{{Guest: "/in", Host: in}, {Guest: "/out", Host: out, Write: true}}}})
	if err != nil {
		t.Fatal(err)
	}
	want := `cwd /in
list [a.txt b.txt link]
read alpha
seek eta!
size 5
outside no such file or directory
absolute no such file or directory
link denied
dotdot no such file or directory
read-only file system
wrote 11
renamed hello world
removed no such file or directory
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if data, err := os.ReadFile(out + "/kept"); string(data) != "hello world" {
		t.Errorf("the file on the host is %q (%v)", data, err)
	}
	if len(r.UnknownSyscalls) > 0 {
		t.Errorf("unknown system calls %v", r.UnknownSyscalls)
	}
}

// FuzzRun executes random bytes: a result or an error, never a crash or a hang.
func FuzzRun(f *testing.F) {
	collectRarely(f)
	f.Add([]byte{0x13, 0, 0, 0}, []byte{})
	f.Add(randomImage(1, 50), []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, text, data []byte) {
		if len(text) > 1<<12 || len(data) > 1<<10 {
			return
		}
		image := assemble(text, data, 1<<13)
		file, err := objfile.Read(bytes.NewReader(image), int64(len(image)))
		if err != nil {
			return
		}
		outcome := ""
		for name, mode := range modes(t) {
			r, err := run(context.Background(), file, options{Request: engine.Request{Memory: minMemory, MaxInstructions: 2_000}, mode: mode, heat: 2})
			if r == nil && err == nil || r != nil && r.Instructions > 2_000+maxBlock {
				t.Errorf("%s: result %+v, error %v", name, r, err)
			}
			if r != nil {
				r.Elapsed, r.translated = 0, 0
			}
			got := fmt.Sprintf("%+v %v", r, err)
			if outcome != "" && got != outcome {
				t.Errorf("%s: %s, interpreted %s", name, got, outcome)
			}
			outcome = got
		}
	})
}
