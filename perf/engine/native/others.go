//go:build linux && amd64

package native

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// traceOptions make the kernel stop new threads and processes before they run, and
// kill all of them when the engine's thread ends.
const traceOptions = unix.PTRACE_O_EXITKILL | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC

// others are the threads and processes that the program has started. Processes run
// their own code at their own speed, unrecorded; the engine only passes their
// signals on. All are traced, so that none outlives the run.
type others struct {
	mu      sync.Mutex   // guards over
	over    bool         // the process may be gone
	foreign map[int]bool // processes
	threads map[int]bool // of the program, but for the first
	created int          // the last one that a system call created, and that waits to be released
	exec    bool         // a system call has replaced the program
}

// waitFor returns the next status of a thread, and looks after other processes
// meanwhile. It never waits for whatever child there is: the calling process has
// others, which are not the engine's.
func (c *child) waitFor(pid int) (unix.WaitStatus, error) {
	const shortest, longest = 20 * time.Microsecond, time.Millisecond
	for pause := shortest; ; pause = min(2*pause, longest) {
		options := unix.WALL
		if len(c.foreign) > 0 || pid == c.pid && len(c.threads) > 0 {
			options |= unix.WNOHANG
		}
		status, got, err := waitOnce(pid, options)
		if got || err != nil {
			return status, err
		}
		for thread := range c.threads { // the first thread ends when all others have been waited for
			if status, got, err := waitOnce(thread, unix.WALL|unix.WNOHANG); err != nil || got && !status.Stopped() {
				delete(c.threads, thread)
			}
		}
		for other := range c.foreign {
			if status, got, err := waitOnce(other, unix.WALL|unix.WNOHANG); err != nil {
				delete(c.foreign, other)
			} else if got {
				c.pass(other, status)
				pause = shortest
			}
		}
		time.Sleep(pause)
	}
}

// waitOnce returns a status of a thread or process, if it has one.
func waitOnce(pid, options int) (status unix.WaitStatus, got bool, err error) {
	for {
		n, err := unix.Wait4(pid, &status, options, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return 0, false, fmt.Errorf("native: wait for the program: %w", err)
		}
		return status, n == pid, nil
	}
}

// pass lets another process go on after a stop.
func (c *child) pass(pid int, status unix.WaitStatus) {
	if !status.Stopped() {
		delete(c.foreign, pid)
		return
	}
	signal := status.StopSignal()
	if cause := status.TrapCause(); cause > 0 {
		signal = 0
		if cause != unix.PTRACE_EVENT_EXEC {
			if n, err := unix.PtraceGetEventMsg(pid); err == nil {
				c.foreign[int(n)] = true
			}
		}
	} else if signal == unix.SIGSTOP {
		signal = 0
	}
	unix.PtraceCont(pid, int(signal)) // fails if it was killed meanwhile
}

// happened takes note of an event during a system call of thread pid.
func (c *child) happened(pid, cause int) error {
	if cause == unix.PTRACE_EVENT_EXEC {
		c.exec = true
		return replacedBy(pid)
	}
	n, err := unix.PtraceGetEventMsg(pid)
	if err != nil {
		return fmt.Errorf("native: a process of the program: %w", err)
	}
	if cause == unix.PTRACE_EVENT_VFORK { // the caller waits for it
		return c.release(int(n))
	}
	c.created = int(n)
	return nil
}

// ErrExec means that the program has replaced itself by another.
var ErrExec = errors.New("the program replaced itself by another (exec), which this engine does not follow")

// replacedBy returns an ErrExec that names what process pid has become: for a script,
// its interpreter.
func replacedBy(pid int) error {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return fmt.Errorf("native: %w: run that program instead", ErrExec)
	}
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // none is left out
	command := strings.ReplaceAll(strings.TrimSuffix(string(text), "\x00"), "\x00", " ")
	return fmt.Errorf("native: %w: run %s instead (as %q)", ErrExec, path, command)
}

// release lets a new process, which shares nothing but perhaps memory with the
// program, run the program's own code from where it was created.
func (c *child) release(pid int) error {
	status, err := c.waitFor(pid)
	if err != nil || !status.Stopped() {
		return err
	}
	t := &task{pid: pid}
	r := c.calling
	r.Rax, r.Gs_base = 0, 0
	var now unix.PtraceRegs
	if err := t.registers(&now); err != nil {
		return err
	}
	r.Rsp, r.Fs_base = now.Rsp, now.Fs_base
	if err := t.setRegisters(&r); err != nil {
		return err
	}
	c.foreign[pid] = true
	return t.resume(0)
}

// interrupt kills the program, from any goroutine: its thread's next status says so.
func (c *child) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		unix.Kill(c.pid, unix.SIGKILL)
	}
}

// killAll kills the program and all processes that it has started, and waits until
// they are gone.
func (c *child) killAll() {
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	all := []int{c.pid}
	for _, set := range []map[int]bool{c.threads, c.foreign} {
		for pid := range set {
			all = append(all, pid)
		}
	}
	for _, pid := range all {
		if !c.threads[pid] {
			unix.Kill(pid, unix.SIGKILL)
		}
	}
	// A process is gone when all its threads are: the first comes last.
	slices.Reverse(all)
	for _, pid := range all {
		for {
			status, _, err := waitOnce(pid, unix.WALL)
			if err != nil || status.Exited() || status.Signaled() {
				break
			}
			unix.PtraceCont(pid, 0)
		}
	}
}
