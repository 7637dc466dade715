// Package child runs other programs so that they end with the context, and whatever
// they started with them: compilers run passes, and the go command compilers.
package child

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"
)

// Once the context is done, all processes of the program are interrupted, so that they
// can remove their temporary files, and after the grace ended by force.
const (
	grace = 400 * time.Millisecond
	poll  = 5 * time.Millisecond
)

// Cmd is an exec.Cmd whose processes KillAll knows while they run.
type Cmd struct{ *exec.Cmd }

// Command returns a command like exec.CommandContext whose processes are a group of
// their own, which ends when ctx is done.
func Command(ctx context.Context, name string, args ...string) *Cmd {
	c := &Cmd{exec.CommandContext(ctx, name, args...)}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return end(c.Process.Pid) }
	c.WaitDelay = grace // for a process that left the group and holds the output
	return c
}

// end ends the processes of a group.
func end(group int) error {
	err := syscall.Kill(-group, syscall.SIGINT)
	for waited := time.Duration(0); err == nil && waited < grace; waited += poll {
		time.Sleep(poll)
		err = syscall.Kill(-group, 0)
	}
	if err == nil {
		err = syscall.Kill(-group, syscall.SIGKILL)
	}
	if errors.Is(err, syscall.ESRCH) {
		return nil // they have ended
	}
	return err
}
