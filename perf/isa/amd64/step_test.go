//go:build linux && amd64

package amd64

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// TestSteps runs programs instruction by instruction and demands that every
// general register and every flag that changes is among those that the
// instruction is said to write, that control goes where it can, and that memory
// changes only where it is said to be written.
func TestSteps(t *testing.T) {
	kernels := compiled(t, "kernels.c", "-O3", "-march=native", "-static")
	for _, c := range []struct {
		path  string
		args  []string
		steps int
	}{
		{"/bin/ls", []string{"/"}, stepsOf},
		{"/usr/bin/python3", []string{"-c", "print(sum(i*0.5 for i in range(10)))"}, stepsOf},
		{kernels, nil, stepsOf},
	} {
		if _, err := os.Stat(c.path); err != nil {
			continue
		}
		t.Run(c.path, func(t *testing.T) { step(t, c.path, c.args, c.steps) })
	}
}

type stepper struct {
	pid    int
	t      *testing.T
	before syscall.PtraceRegs
	in     Inst
	mems   []Mem
	first  []byte          // the first operand in memory, before
	values [MaxMems][]byte // of memory before
	known  map[string]bool
	seen   int
	failed map[string]bool
	lifted lifted
}

func step(t *testing.T, path string, args []string, steps int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command(path, args...)
	cmd.Env = []string{"LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		t.Skipf("programs cannot be traced here: %v", err)
	}
	pid := cmd.Process.Pid
	defer func() { _ = cmd.Process.Kill(); _, _ = cmd.Process.Wait() }()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		t.Fatal(err)
	}
	s := stepper{pid: pid, t: t, known: map[string]bool{}, failed: map[string]bool{}, lifted: lifted{lifter: NewLifter()}}
	for s.seen < steps {
		if !s.one() {
			break
		}
		s.seen++
	}
	t.Logf("%d instructions executed, %d different ones; %d results and %d conditions computed", s.seen, len(s.known), s.lifted.results, s.lifted.conditions)
	if s.lifted.results < s.seen/8 || s.lifted.conditions < s.seen/40 {
		t.Error("too few of them")
	}
	if s.seen < min(steps, 10_000) {
		t.Errorf("only %d instructions executed", s.seen)
	}
}

// one executes an instruction; it returns false when the program ends.
func (s *stepper) one() bool {
	if err := syscall.PtraceGetRegs(s.pid, &s.before); err != nil {
		return false
	}
	code := make([]byte, MaxLength)
	if n, _ := syscall.PtracePeekText(s.pid, uintptr(s.before.Rip), code); n < MaxLength {
		code = code[:n]
	}
	if err := DecodeInto(&s.in, code); err != nil {
		s.t.Errorf("% x: %v", code, err)
		return false
	}
	s.known[s.in.Name()] = true
	s.mems = s.in.Mems(s.mems[:0])
	s.first = s.firstOperand()
	sample := s.seen%7 == 0
	if sample {
		for i := range s.mems {
			s.values[i] = s.read(&s.mems[i])
		}
	}
	if err := syscall.PtraceSingleStep(s.pid); err != nil {
		return false
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(s.pid, &status, 0, nil); err != nil || status.Exited() || status.Signaled() {
		return false
	}
	var after syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(s.pid, &after); err != nil {
		return false
	}
	if s.in.Name() == "cpuid" && after.Rip != s.before.Rip+uint64(s.in.Len) {
		// A virtual machine that executes it for the program may go on to the next one.
		s.lifted = lifted{lifter: NewLifter(), results: s.lifted.results, conditions: s.lifted.conditions}
		return true
	}
	s.check(&after)
	s.lifted.check(s, code, &after)
	if sample {
		s.checkMemory()
	}
	return true
}

func general(r *syscall.PtraceRegs) [16]uint64 {
	return [16]uint64{r.Rax, r.Rcx, r.Rdx, r.Rbx, r.Rsp, r.Rbp, r.Rsi, r.Rdi, r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15}
}

// eflags are the bits of the flags register, in the order of Flags.
var eflags = [...]uint{0, 2, 4, 6, 7, 11, 10}

func (s *stepper) fail(format string, args ...any) {
	if name := s.in.Name(); !s.failed[name] {
		s.failed[name] = true
		s.t.Errorf(name+": "+format, args...)
	}
}

func (s *stepper) check(after *syscall.PtraceRegs) {
	in := &s.in
	_, written := in.Registers()
	was, is := general(&s.before), general(after)
	for r := range RIP {
		if was[r] != is[r] && !written.Has(r) {
			s.fail("changed %v from %x to %x", r, was[r], is[r])
		}
	}
	if _, flags := in.Flags(); in.Kind() != Syscall {
		for i, bit := range eflags {
			if (s.before.Eflags^after.Eflags)>>bit&1 != 0 && flags>>i&1 == 0 {
				s.fail("changed flag %v", Flags(1<<i))
			}
		}
	}
	next := s.before.Rip + uint64(in.Len)
	switch in.Kind() {
	case Branch:
		if after.Rip != next && after.Rip != in.Target(s.before.Rip) {
			s.fail("went from %x to %x", s.before.Rip, after.Rip)
		}
	case Jump, Call:
		if after.Rip != in.Target(s.before.Rip) {
			s.fail("went from %x to %x", s.before.Rip, after.Rip)
		}
	case IndirectJump, IndirectCall, Return:
	case String:
		if after.Rip != next && (in.Rep == 0 || after.Rip != s.before.Rip) {
			s.fail("went from %x to %x", s.before.Rip, after.Rip)
		}
	default:
		if after.Rip != next {
			s.fail("went from %x to %x, not to %x", s.before.Rip, after.Rip, next)
		}
	}
}

// address returns that of an operand before the step, if it is one and known.
func (s *stepper) address(m *Mem) (uint64, bool) {
	if m.Index.Vector() || m.Bit != NoReg || m.Size == 0 || s.in.Name() == "xlat" {
		return 0, false
	}
	g := general(&s.before)
	at := uint64(m.Disp)
	switch {
	case m.Base == RIP:
		at += s.before.Rip + uint64(s.in.Len)
	case m.Base != NoReg:
		at += g[m.Base]
	}
	if m.Index != NoReg {
		at += g[m.Index] * uint64(m.Scale)
	}
	if m.Address32 {
		at = uint64(uint32(at))
	}
	switch m.Segment {
	case FS:
		at += s.before.Fs_base
	case GS:
		at += s.before.Gs_base
	}
	return at, true
}

// margin is how much memory around an operand must not change.
const margin = 16

func (s *stepper) read(m *Mem) []byte {
	at, ok := s.address(m)
	if !ok {
		return nil
	}
	data := make([]byte, margin+int(m.Size)+margin)
	if n, err := syscall.PtracePeekData(s.pid, uintptr(at-margin), data); err != nil || n < len(data) {
		return nil
	}
	return data
}

func (s *stepper) checkMemory() {
	if len(s.mems) > 1 || s.in.Kind() == Syscall {
		return // an operand may lie beside the other
	}
	for i := range s.mems {
		m := &s.mems[i]
		was, is := s.values[i], s.read(m)
		if was == nil || is == nil {
			continue
		}
		if m.Access&Write == 0 && !bytes.Equal(was, is) {
			s.fail("changed memory that it reads")
		}
		end := len(was) - margin
		if !bytes.Equal(was[:margin], is[:margin]) || !bytes.Equal(was[end:], is[end:]) {
			s.fail("changed memory beside its operand %+v", *m)
		}
	}
}

// TestStored checks with a few instructions that do write what the test above
// would overlook if all memory were said to be written.
func TestStored(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for code, want := range map[string]Access{
		"\x48\x89\x03": Write, "\x48\x8b\x03": Read, "\x48\x01\x03": ReadWrite, "\x48\x39\x03": Read, "\x48\x8d\x03": 0,
	} {
		in, err := Decode([]byte(code))
		if err != nil {
			t.Fatal(err)
		}
		var got Access
		for _, m := range in.Mems(nil) {
			got |= m.Access
		}
		if got != want {
			t.Errorf("% x: access %d, want %d", strings.TrimSpace(code), got, want)
		}
	}
}
