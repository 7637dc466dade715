package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"presage/perf/internal/child"
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
// does the first if the command does not end with patience. What the process has
// started ends with it.
func interruptible(parent context.Context, patience time.Duration) context.Context {
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
		child.KillAll()
		fmt.Fprintln(os.Stderr, interrupted)
		os.Exit(by.status())
	}()
	return ctx
}

// leashed returns the standard input of a worker. Once it has ended, as it does when
// the process at its other end dies, the worker is ended by force unless served is
// closed within patience: a job may not heed that it was cancelled, and nobody else is
// left to end it.
func leashed(in io.Reader, served <-chan struct{}, patience time.Duration) io.Reader {
	return &leash{in, sync.OnceFunc(func() {
		go func() {
			select {
			case <-served:
			case <-time.After(patience):
				child.KillAll()
				os.Exit(statusInterrupted)
			}
		}()
	})}
}

type leash struct {
	io.Reader
	ended func()
}

func (l *leash) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if err != nil {
		l.ended()
	}
	return n, err
}

const interrupted = "presage: interrupted; finished runs are kept and are not repeated next time"
