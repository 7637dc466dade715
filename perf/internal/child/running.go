package child

import (
	"bytes"
	"errors"
	"sync"
	"syscall"
)

// running holds the groups of processes that are running, by the process that leads
// each. starting is held, shared, from before a process is there until it is in groups.
var running struct {
	starting sync.RWMutex
	killed   bool

	mutex  sync.Mutex
	groups map[int]bool
}

// errKilled is the error of a command that is started when KillAll has been called.
var errKilled = errors.New("this process is ending: nothing is started any more")

// KillAll ends the processes of all commands at once and by force, with whatever they
// started, and lets no other start. It is for a process that is about to exit without
// waiting for its commands.
func KillAll() {
	running.starting.Lock()
	defer running.starting.Unlock()
	running.killed = true
	running.mutex.Lock()
	defer running.mutex.Unlock()
	for group := range running.groups {
		_ = syscall.Kill(-group, syscall.SIGKILL) // it may have ended
	}
}

// Start is exec.Cmd.Start.
func (c *Cmd) Start() error {
	running.starting.RLock()
	defer running.starting.RUnlock()
	if running.killed {
		return errKilled
	}
	if err := c.Cmd.Start(); err != nil {
		return err
	}
	running.mutex.Lock()
	defer running.mutex.Unlock()
	if running.groups == nil {
		running.groups = make(map[int]bool)
	}
	running.groups[c.Process.Pid] = true
	return nil
}

// Wait is exec.Cmd.Wait.
func (c *Cmd) Wait() error {
	err := c.Cmd.Wait() // if the context is done, until the group has ended
	if c.Process != nil {
		running.mutex.Lock()
		defer running.mutex.Unlock()
		delete(running.groups, c.Process.Pid)
	}
	return err
}

// Run is exec.Cmd.Run.
func (c *Cmd) Run() error {
	if err := c.Start(); err != nil {
		return err
	}
	return c.Wait()
}

// Output returns what the command writes to its standard output. Unlike exec.Cmd.Output
// it does not keep the standard error.
func (c *Cmd) Output() ([]byte, error) {
	var out bytes.Buffer
	c.Stdout = &out
	err := c.Run()
	return out.Bytes(), err
}

// CombinedOutput is exec.Cmd.CombinedOutput.
func (c *Cmd) CombinedOutput() ([]byte, error) {
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	return out.Bytes(), err
}
