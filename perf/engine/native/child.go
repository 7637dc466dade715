//go:build linux && amd64

package native

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"presage/perf/engine"
)

// child is the program's process with the memory that the engine shares with it.
type child struct {
	*task           // the first thread
	mem      []byte // the shared memory
	memfd    int
	provided uint64 // bytes at the ring's end whose pages are mapped
	filled   []bool // buffers whose pages are
	buffers  int    // that it has
	injected unix.PtraceRegs
	ignores  func(unix.Signal) bool
	agent    *task                          // the thread that makes the engine's system calls; nil: the first
	keep     func(*task, unix.Signal) error // takes a signal that arrives meanwhile
	others
	calling unix.PtraceRegs // of the thread that makes a system call: its own, behind it
}

// File descriptors of the new process, closed before the program runs.
const (
	fdProgram = 3
	fdMemory  = 4
	fdRules   = 5 // of a confined one
)

// programPath is how the program is executed, so that the path of its file, which
// the kernel copies to the stack, does not move the stack.
const programPath = "/proc/self/fd/3"

const addrNoRandomize = 0x0040000

// launch starts a program, stopped before its first instruction, and confined unless
// bounds is nil. The calling goroutine must be locked to its thread.
func launch(path string, r *engine.Request, stdio [3]*os.File, buffers int, bounds *confinement) (c *child, err error) {
	program, err := openProgram(path)
	if err != nil {
		return nil, fmt.Errorf("native: %w", err)
	}
	defer program.Close()
	begun := &child{memfd: -1, buffers: buffers, others: others{early: make(map[int]unix.WaitStatus), foreign: make(map[int]bool), threads: make(map[int]bool)}}
	if err := begun.share(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			begun.close()
		}
	}()
	old, _, errno := unix.RawSyscall(unix.SYS_PERSONALITY, 0xffffffff, 0, 0)
	if errno == 0 {
		_, _, errno = unix.RawSyscall(unix.SYS_PERSONALITY, old|addrNoRandomize, 0, 0)
	}
	if errno != 0 {
		return nil, fmt.Errorf("native: the system does not let addresses be fixed (personality): %w", errno)
	}
	dir := "" // that of the engine
	if len(r.Grants) > 0 {
		dir = r.Grants[0].Host
	}
	files := []uintptr{stdio[0].Fd(), stdio[1].Fd(), stdio[2].Fd(), program.Fd(), uintptr(begun.memfd)}
	if bounds != nil {
		files = append(files, uintptr(bounds.rules))
	}
	argv := append([]string{filepath.Base(path)}, r.Args...)
	pid, err := syscall.ForkExec(programPath, argv, &syscall.ProcAttr{
		Dir:   dir,
		Env:   r.Env,
		Files: files,
		Sys:   &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL},
	})
	unix.RawSyscall(unix.SYS_PERSONALITY, old, 0, 0)
	runtime.KeepAlive(program)
	if err != nil {
		return nil, startError(path, err)
	}
	begun.task = &task{pid: pid}
	if err := begun.adopt(); err != nil {
		return nil, err
	}
	if bounds != nil {
		if err := begun.confine(bounds); err != nil {
			return nil, err
		}
	}
	return begun, nil
}

// openProgram opens an executable. A copy in memory takes the place of a file that may
// not be executed, as those are that a store or a folder of profiles keeps.
func openProgram(path string) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) == nil {
		return file, nil
	}
	defer file.Close() // only read
	fd, err := unix.MemfdCreate(filepath.Base(path), unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	program := os.NewFile(uintptr(fd), path)
	if _, err := io.Copy(program, file); err != nil {
		program.Close()
		return nil, err
	}
	// A file that is open for writing cannot be executed.
	again, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", fd))
	program.Close()
	return again, err
}

// ErrPtrace means that the system does not let a process trace another.
var ErrPtrace = errors.New("tracing of processes (ptrace) is forbidden here: allow it in the container (--cap-add=SYS_PTRACE) or set kernel.yama.ptrace_scope below 3")

func startError(path string, err error) error {
	if errors.Is(err, unix.EPERM) {
		return fmt.Errorf("native: %s: %w", path, ErrPtrace)
	}
	return fmt.Errorf("native: start %s: %w", path, err)
}

// adopt prepares the new process, which is stopped after exec.
func (c *child) adopt() error {
	status, err := c.waitFor(c.pid)
	if err != nil {
		return err
	}
	if !status.Stopped() {
		return errors.New("native: the program ended before its first instruction: is its file damaged?")
	}
	if err := unix.PtraceSetOptions(c.pid, traceOptions); err != nil {
		return fmt.Errorf("native: %w: %w", ErrPtrace, err)
	}
	t, err := attach(c.pid)
	if err != nil {
		return err
	}
	c.task = t
	return c.mapEngine(fdMemory, fdProgram)
}

// share creates the shared memory.
func (c *child) share() error {
	fd, err := unix.MemfdCreate("presage", unix.MFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("native: shared memory: %w", err)
	}
	c.memfd = fd
	if err := unix.Ftruncate(fd, fileBytes); err != nil {
		c.close()
		return fmt.Errorf("native: %d bytes of shared memory: %w", fileBytes, err)
	}
	if c.mem, err = unix.Mmap(fd, 0, fileBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		c.close()
		return fmt.Errorf("native: map %d bytes of shared memory: %w", fileBytes, err)
	}
	return nil
}

// close kills the process, if it still runs, and frees the shared memory.
func (c *child) close() {
	if c.task != nil {
		c.killAll()
		if c.task.mem != nil {
			c.task.mem.Close()
		}
		c.task = nil
	}
	if c.mem != nil {
		unix.Munmap(c.mem)
		c.mem = nil
	}
	if c.memfd >= 0 {
		unix.Close(c.memfd)
		c.memfd = -1
	}
}

// mapEngine maps the engine's memory, which is the file memory there, into the process,
// using an instruction at its entry, which is put back. It closes that file, and others.
func (c *child) mapEngine(memory uint64, others ...uint64) error {
	var regs unix.PtraceRegs
	if err := c.registers(&regs); err != nil {
		return err
	}
	c.injected = regs
	var old [len(gadget)]byte
	c.read(regs.Rip, old[:])
	if err := c.write(regs.Rip, gadget[:]); err != nil {
		return err
	}
	copy(c.mem[fileGadget:], gadget[:])
	c.mem[fileGadget+missAt-gadgetAt] = 0xcc
	copy(c.mem[fileGadget+mapperAt-gadgetAt:], mapper[:])
	_, err := c.injectAt(regs.Rip, unix.SYS_MMAP, masterAt, fileBytes, unix.PROT_NONE,
		unix.MAP_SHARED|unix.MAP_FIXED_NOREPLACE|unix.MAP_NORESERVE, memory, 0)
	if err == nil {
		_, err = c.injectAt(regs.Rip, unix.SYS_MMAP, gadgetAt, pageBytes, unix.PROT_READ|unix.PROT_EXEC,
			unix.MAP_SHARED|unix.MAP_FIXED_NOREPLACE, memory, fileGadget)
	}
	if err != nil {
		return err
	}
	if err := c.write(regs.Rip, old[:]); err != nil {
		return err
	}
	for _, fd := range append(others, memory) {
		if _, err := c.inject(unix.SYS_CLOSE, fd); err != nil {
			return err
		}
	}
	for i := range c.buffers {
		if err := c.mapShared(buffersAt+uint64(i)*bufferStride, bufferBytes, unix.PROT_READ|unix.PROT_WRITE, fileBuffers+i*bufferBytes); err != nil {
			return err
		}
	}
	c.provided, c.filled = 0, make([]bool, c.buffers)
	return c.mapOften(ringAt, ringBytes, unix.PROT_READ|unix.PROT_WRITE, fileRing, ringTimes)
}

// mapState maps the state of a thread.
func (c *child) mapState(slot int) error {
	const rw = unix.PROT_READ | unix.PROT_WRITE
	if err := c.mapShared(stateAddr(slot), pageBytes, rw, fileStates+slot*pageBytes); err != nil {
		return err
	}
	return c.mapShared(stateAddr(slot)+gsTables, tables*tableBytes+returnBytes, unix.PROT_READ, fileTables)
}

// mapShared maps a part of the shared memory at a free address: a second mapping of
// pages that are mapped already, which takes no file descriptor.
func (c *child) mapShared(addr uint64, size, prot, at int) error {
	return c.mapOften(addr, size, prot, at, 1)
}

// mapOften is mapShared so many times, one behind the other.
func (c *child) mapOften(addr uint64, size, prot, at, times int) error {
	r := c.injected
	r.R12, r.R13, r.R14 = uint64(times), uint64(prot), addr
	_, err := c.injectWith(r, mapperAt, unix.SYS_MREMAP, masterAt+uint64(at), 0, uint64(size), unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED, addr)
	return err
}

// mapper makes all calls of mapOften in one stop: mremap R12 times, then mprotect.
var mapper = [...]byte{
	0xb8, unix.SYS_MREMAP, 0, 0, 0, // again: mov eax, mremap
	0x0f, 0x05, // syscall
	0x48, 0x3d, 0x00, 0xf0, 0xff, 0xff, // cmp rax, -4096
	0x77, 0x1b, // ja end
	0x49, 0x01, 0xd0, // add r8, rdx
	0x49, 0xff, 0xcc, // dec r12
	0x75, 0xe9, // jnz again
	0x4c, 0x89, 0xf7, // mov rdi, r14
	0x4c, 0x89, 0xc6, // mov rsi, r8
	0x4c, 0x29, 0xf6, // sub rsi, r14
	0x4c, 0x89, 0xea, // mov rdx, r13
	0xb8, unix.SYS_MPROTECT, 0, 0, 0, // mov eax, mprotect
	0x0f, 0x05, // syscall
	0xcc, // end: int3
}

// provide has the kernel map the pages of the ring, up to so many bytes before its end, at
// once: one by one, as the program comes to them, takes several times as long.
func (c *child) provide(bytes uint64) error {
	const end = ringAt + ringBytes*ringTimes
	bytes = min((bytes+pageBytes-1)&^(pageBytes-1), ringBytes*ringTimes)
	if bytes <= c.provided {
		return nil
	}
	before := c.provided
	c.provided = bytes
	return c.populate(end-bytes, bytes-before, unix.MADV_POPULATE_READ)
}

// fill does the same with a buffer.
func (c *child) fill(buffer int) error {
	if c.filled[buffer] {
		return nil
	}
	c.filled[buffer] = true
	return c.populate(buffersAt+uint64(buffer)*bufferStride, bufferBytes, unix.MADV_POPULATE_WRITE)
}

// populate maps pages, where the kernel knows how: since Linux 5.14.
func (c *child) populate(from, bytes uint64, advice int) error {
	result, err := c.inject(unix.SYS_MADVISE, from, bytes, uint64(advice))
	if isError(result) {
		return nil // the program maps them as it comes to them
	}
	return err
}

// gadget is a system call that ends in a stop.
var gadget = [3]byte{0x0f, 0x05, 0xcc}

// inject makes a system call in the program, with registers as they were at the
// start, and fails if the call does.
func (c *child) inject(number uint64, args ...uint64) (uint64, error) {
	return c.injectAt(gadgetAt, number, args...)
}

func (c *child) injectAt(at, number uint64, args ...uint64) (uint64, error) {
	return c.injectWith(c.injected, at, number, args...)
}

// injectWith is injectAt with registers of the caller's.
func (c *child) injectWith(r unix.PtraceRegs, at, number uint64, args ...uint64) (uint64, error) {
	t := c.agent
	if t == nil {
		t = c.task
	}
	result, err := c.call(t, &r, at, number, args...)
	for stopped := new(interruptedError); errors.As(err, &stopped); {
		// The kernel makes the call again when the thread goes on.
		if err = c.keep(t, stopped.signal); err == nil {
			result, err = c.finish(t, &r, at)
		}
	}
	if err == nil && isError(result) {
		err = fmt.Errorf("native: system call %d for the engine's memory in the program: %w", number, unix.Errno(-result))
	}
	return result, err
}

// call makes a system call on a thread, and leaves its registers changed. A signal that the
// program handles interrupts the call: it is returned. Where it comes when the call is done,
// it is kept.
func (c *child) call(t *task, r *unix.PtraceRegs, at, number uint64, args ...uint64) (uint64, error) {
	for i, p := range []*uint64{&r.Rdi, &r.Rsi, &r.Rdx, &r.R10, &r.R8, &r.R9} {
		*p = 0
		if i < len(args) {
			*p = args[i]
		}
	}
	r.Rip, r.Rax, r.Orig_rax = at, number, ^uint64(0)
	if err := t.setRegisters(r); err != nil {
		return 0, err
	}
	return c.finish(t, r, at)
}

// finish goes on with the system call of a thread at an address to its end.
func (c *child) finish(t *task, r *unix.PtraceRegs, at uint64) (uint64, error) {
	for {
		err := c.untilTrap(t)
		stopped := new(interruptedError)
		if err != nil && !errors.As(err, &stopped) {
			return 0, err
		}
		var now unix.PtraceRegs
		if failed := t.registers(&now); failed != nil {
			return 0, failed
		}
		if err == nil {
			*r = now
			return r.Rax, nil
		}
		if stopped.before, stopped.result = now.Rip == at, now.Rax; stopped.before || restarts(now.Rax) {
			return 0, err
		}
		if err := c.keep(t, stopped.signal); err != nil {
			return 0, err
		}
	}
}

// untilTrap resumes a thread until its next breakpoint.
func (c *child) untilTrap(t *task) error {
	for {
		if err := t.resume(0); err != nil {
			return err
		}
		status, err := c.waitFor(t.pid)
		switch {
		case err != nil:
			return err
		case !status.Stopped():
			return &endedError{status}
		case status.TrapCause() > 0:
			if err := c.happened(t.pid, status.TrapCause()); err != nil {
				return err
			}
			continue
		case status.StopSignal() == unix.SIGTRAP:
			return nil
		case c.ignores == nil || c.ignores(status.StopSignal()):
			continue // the kernel goes on with the call
		}
		return &interruptedError{signal: status.StopSignal()}
	}
}

// interruptedError means that a signal stopped a system call while it waited, or before it:
// one that comes while the thread is stopped, which the kernel delivers as soon as that goes
// on.
type interruptedError struct {
	signal unix.Signal
	before bool   // the call is yet to be made
	result uint64 // unless before: the kernel's, which says whether it is to be made again
}

func (e *interruptedError) Error() string {
	return fmt.Sprintf("native: system call interrupted by signal %d", e.signal)
}

// endedError means that the process ended where the engine did not expect it, such
// as when it was killed from outside.
type endedError struct{ status unix.WaitStatus }

func (e *endedError) Error() string {
	if e.status.Signaled() {
		return fmt.Sprintf("native: the program was killed by signal %d", e.status.Signal())
	}
	return fmt.Sprintf("native: the program ended with status %d", e.status.ExitStatus())
}

func isError(result uint64) bool { return int64(result) < 0 && int64(result) >= -4095 }
