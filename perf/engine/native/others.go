//go:build linux && amd64

package native

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
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
	early   map[int]unix.WaitStatus // of threads, not yet asked for
	foreign map[int]bool            // processes
	threads map[int]bool            // of the program, but for the first
	created int                     // the last one that a system call created, and that waits to be released
	started int                     // processes that the program itself has started
}

// waitFor returns the next status of a thread, and looks after other threads and
// processes meanwhile.
func (c *child) waitFor(pid int) (unix.WaitStatus, error) {
	for {
		if status, ok := c.early[pid]; ok {
			delete(c.early, pid)
			return status, nil
		}
		if status, ok := c.early[c.pid]; ok && status.TrapCause() == unix.PTRACE_EVENT_EXEC {
			delete(c.early, c.pid) // a thread that replaces the program becomes the first
			return status, nil
		}
		if err := c.await(0); err != nil {
			return 0, err
		}
	}
}

// await waits for a status of any thread or process, and keeps it in early if it is
// that of a thread of the program. With unix.WNOHANG it does not wait.
//
// The calling thread must have no children but those of the engine: see lonely.
func (c *child) await(options int) error {
	var status unix.WaitStatus
	pid, err := unix.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD|options, nil)
	switch {
	case errors.Is(err, unix.EINTR):
		return nil
	case err != nil:
		return fmt.Errorf("native: wait for the program: %w", err)
	case pid == 0:
		return nil
	case c.foreign[pid]:
		c.pass(pid, status)
	default:
		c.early[pid] = status // of a process whose creation is yet to be told, too
	}
	return nil
}

// lonely locks the calling goroutine to a thread that has no children, and calls f.
// The calling process has others, which are not the engine's, but children belong to
// the thread that started them.
func lonely(f func()) {
	runtime.LockOSThread() // for good: the thread is the tracer
	const all = unix.WEXITED | unix.WSTOPPED | unix.WNOHANG | unix.WNOWAIT | unix.WALL | unix.WNOTHREAD
	if err := unix.Waitid(unix.P_ALL, 0, nil, all, nil); errors.Is(err, unix.ECHILD) {
		f()
		return
	}
	done := make(chan struct{})
	go func() { // on another thread: this one is taken
		defer close(done)
		lonely(f)
	}()
	<-done
	runtime.UnlockOSThread() // its children need it
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
				c.adoptForeign(int(n))
			}
		}
	} else if signal == unix.SIGSTOP {
		signal = 0
	}
	unix.PtraceCont(pid, int(signal)) // fails if it was killed meanwhile
}

// adoptForeign looks after a process from now on, which may have stopped already.
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
		return errReplaced
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

// release lets a new process, which shares nothing but perhaps memory with the
// program, run the program's own code from where it was created.
func (c *child) release(pid int) error {
	c.started++
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
	for pid := range c.early { // whose creation was not told any more
		if !c.threads[pid] && pid != c.pid {
			unix.Kill(pid, unix.SIGKILL)
			all = append(all, pid)
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
