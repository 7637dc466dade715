//go:build linux && amd64

package targets_test

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// walker runs a program of this machine one instruction at a time, as an oracle
// for what static analysis says about it. It sees the instructions of the
// program's own file from the call of main to its return; what libraries do in
// between takes a single step.
type walker struct {
	t         *testing.T
	pid       int
	bias      uint64 // of the loaded file
	low, high uint64 // its code, as loaded
}

// step is a state in which an instruction of the program is about to execute.
type step struct {
	pc   uint64 // as the file has it
	regs syscall.PtraceRegs
}

// walk calls visit before each instruction, until it returns false or main
// returns.
func walk(t *testing.T, exe string, args []string, visit func(*step) bool) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command(exe, args...)
	cmd.Env = []string{"LC_ALL=C", "LD_BIND_NOW=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		t.Skipf("programs cannot be traced here: %v", err)
	}
	w := &walker{t: t, pid: cmd.Process.Pid}
	defer func() { _ = cmd.Process.Kill(); _, _ = cmd.Process.Wait() }()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(w.pid, &status, 0, nil); err != nil {
		t.Fatal(err)
	}
	main := w.locate(exe)
	if !w.runTo(main) {
		t.Fatal("the program ended before main")
	}
	var s step
	w.get(&s.regs)
	var top [8]byte
	_, _ = syscall.PtracePeekData(w.pid, uintptr(s.regs.Rsp), top[:])
	stack := s.regs.Rsp
	for {
		w.get(&s.regs)
		if s.regs.Rip < w.low || s.regs.Rip >= w.high {
			if s.regs.Rsp > stack || !w.leave(&s.regs) {
				return
			}
			continue
		}
		s.pc = s.regs.Rip - w.bias
		if !visit(&s) || !w.single() {
			return
		}
	}
}

// locate finds where the file is loaded, and returns the address of main.
func (w *walker) locate(exe string) uint64 {
	f, err := elf.Open(exe)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	var first uint64
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Vaddr == 0 {
			maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", w.pid))
			if err != nil {
				w.t.Fatal(err)
			}
			from, _, _ := strings.Cut(string(maps), "-")
			if first, err = strconv.ParseUint(from, 16, 64); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	w.bias = first
	w.low = 1 << 63
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && !strings.HasPrefix(s.Name, ".plt") {
			w.low, w.high = min(w.low, s.Addr+first), max(w.high, s.Addr+s.Size+first)
		}
	}
	if text := f.Section(".text"); text != nil {
		w.low, w.high = text.Addr+first, text.Addr+text.Size+first
	}
	symbols, err := f.Symbols()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Name == "main" {
			return s.Value + first
		}
	}
	w.t.Fatal("no main")
	return 0
}

func (w *walker) get(r *syscall.PtraceRegs) {
	if err := syscall.PtraceGetRegs(w.pid, r); err != nil {
		w.t.Fatal(err)
	}
}

func (w *walker) single() bool {
	if err := syscall.PtraceSingleStep(w.pid); err != nil {
		return false
	}
	var status syscall.WaitStatus
	_, err := syscall.Wait4(w.pid, &status, 0, nil)
	return err == nil && status.Stopped()
}

// runTo continues to an address.
func (w *walker) runTo(pc uint64) bool {
	var was [1]byte
	if _, err := syscall.PtracePeekText(w.pid, uintptr(pc), was[:]); err != nil {
		return false
	}
	if _, err := syscall.PtracePokeText(w.pid, uintptr(pc), []byte{0xcc}); err != nil {
		return false
	}
	if err := syscall.PtraceCont(w.pid, 0); err != nil {
		return false
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(w.pid, &status, 0, nil); err != nil || !status.Stopped() {
		return false
	}
	var r syscall.PtraceRegs
	w.get(&r)
	_, _ = syscall.PtracePokeText(w.pid, uintptr(pc), was[:])
	if r.Rip != pc+1 {
		return false // a signal, or another breakpoint
	}
	r.Rip = pc
	return syscall.PtraceSetRegs(w.pid, &r) == nil
}

// leave runs a routine of a library, which was just entered, to its return. What
// it calls back goes unseen.
func (w *walker) leave(r *syscall.PtraceRegs) bool {
	var top [8]byte
	if _, err := syscall.PtracePeekData(w.pid, uintptr(r.Rsp), top[:]); err != nil {
		return false
	}
	var back uint64
	for i, b := range top {
		back |= uint64(b) << (8 * i)
	}
	if back < w.low || back >= w.high {
		return w.single()
	}
	return w.runTo(back)
}
