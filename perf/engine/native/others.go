//go:build linux && amd64

package native

import (
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"
)

// traceOptions make the kernel stop new threads and processes before they run, and
// kill all of them when the engine's thread ends.
const traceOptions = unix.PTRACE_O_EXITKILL | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC

// others are the threads and processes that the program has started. Processes run
// their own code at their own speed, unrecorded; the engine only passes their
// signals on. All are traced, so that none outlives the run.
type others struct {
	mu      sync.Mutex              // guards over
	over    bool                    // the process may be gone
	foreign map[int]bool            // processes
	early   map[int]unix.WaitStatus // of new threads and processes that nothing is known of yet
	created int                     // the last one that a system call created, and that waits to be released
	exec    bool                    // a system call has replaced the program
}

// waitFor returns the next status of a thread, and looks after other processes
// meanwhile.
func (c *child) waitFor(pid int) (unix.WaitStatus, error) {
	if status, ok := c.early[pid]; ok {
		delete(c.early, pid)
		return status, nil
	}
	for {
		var status unix.WaitStatus
		got, err := unix.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, fmt.Errorf("native: wait for the program: %w", err)
		case got == pid:
			return status, nil
		case c.foreign[got]:
			c.pass(got, status)
		default:
			c.early[got] = status
		}
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
				c.adoptForeign(int(n))
			}
		}
	} else if signal == unix.SIGSTOP {
		signal = 0
	}
	unix.PtraceCont(pid, int(signal)) // fails if it was killed meanwhile
}

// adoptForeign takes note of a process that is not to be recorded, and lets it run.
func (c *child) adoptForeign(pid int) {
	c.foreign[pid] = true
	if status, ok := c.early[pid]; ok {
		delete(c.early, pid)
		c.pass(pid, status)
	}
}

// happened takes note of an event during a system call of thread pid.
func (c *child) happened(pid, cause int) error {
	if cause == unix.PTRACE_EVENT_EXEC {
		c.exec = true
		return &execError{}
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

// execError means that the program has replaced itself by another.
type execError struct{}

func (*execError) Error() string {
	return "native: the program replaced itself by another (exec), which this engine does not follow: run that program instead"
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
	unix.Kill(c.pid, unix.SIGKILL)
	for pid := range c.foreign {
		unix.Kill(pid, unix.SIGKILL)
	}
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD, nil)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		if err == nil && status.Stopped() {
			unix.Kill(pid, unix.SIGKILL)
			unix.PtraceCont(pid, 0)
		}
	}
}
