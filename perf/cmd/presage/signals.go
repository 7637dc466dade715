package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// patience is how long a command may take to end in good order once a signal has
// asked it to. What it has finished is kept in any case: files are written whole,
// under temporary names.
const patience = 800 * time.Millisecond

// interruption is the cause of a context that a signal cancelled.
type interruption struct{ signal syscall.Signal }

func (i *interruption) Error() string { return i.signal.String() }

// Is makes an interruption a cancellation.
func (i *interruption) Is(err error) bool { return err == context.Canceled }

// status is the exit status that a shell expects: 130 after SIGINT, 143 after SIGTERM.
func (i *interruption) status() int { return 128 + int(i.signal) }

// interruptStatus returns the exit status of a command whose context was cancelled.
func interruptStatus(ctx context.Context) int {
	if by := new(interruption); errors.As(context.Cause(ctx), &by) {
		return by.status()
	}
	return statusInterrupted
}

// interruptible returns a context that SIGINT and SIGTERM cancel, with an
// *interruption as its cause. A second signal ends the process at once, and so
// does the first if the command does not end in time.
func interruptible(parent context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		by := &interruption{(<-signals).(syscall.Signal)}
		cancel(by)
		select {
		case second := <-signals:
			by = &interruption{second.(syscall.Signal)}
		case <-time.After(patience):
		}
		fmt.Fprintln(os.Stderr, interrupted)
		os.Exit(by.status())
	}()
	return ctx
}

const interrupted = "presage: interrupted; finished runs are kept and are not repeated next time"
