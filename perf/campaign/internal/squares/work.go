// Package squares has the jobs that tests of executors have done: each computes a square,
// or fails in one of the ways there are.
package squares

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"presage/perf/campaign"
	"presage/perf/store"
)

// Spec is what a job does.
type Spec struct {
	N      int
	Folder string  // where it notes that it is under way, and that it died; "": nowhere
	Sleep  float64 // seconds
	Until  string  // a file that it waits for; "": none
	Bytes  int     // of its result, which cannot be compressed
	Do     string  // one of those below; "": compute
}

// What a job does other than to compute.
const (
	Fail    = "fail"
	Die     = "die"
	DieOnce = "die once" // takes a Folder
	Panic   = "panic"
	Hang    = "hang"   // until it is cancelled
	Forget  = "forget" // to keep its result
)

// Value is a job's result.
type Value struct {
	Square int
	By     string // the node of Slurm, or the port of the sshd, that it was done by
	Filler []byte
}

// Key is that of a job's result.
func Key(n int) store.Key {
	k, err := store.NewKey("square", 1, n)
	if err != nil {
		panic(err)
	}
	return k
}

// Works returns what workers of tests do, whose standard error is given.
func Works(stderr io.Writer) []campaign.Work {
	return []campaign.Work{campaign.NewWork("square", func(ctx context.Context, at campaign.Site, s Spec) error {
		return square(ctx, at, s, stderr)
	})}
}

func square(ctx context.Context, at campaign.Site, s Spec, stderr io.Writer) error {
	if s.Folder != "" {
		file := filepath.Join(s.Folder, fmt.Sprintf("under-way-%d", s.N))
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			return err
		}
		defer os.Remove(file)
	}
	at.Running(uint64(s.N + 1))
	if err := wait(ctx, &s); err != nil {
		return err
	}
	switch s.Do {
	case Fail:
		fmt.Fprintln(stderr, "some words of the program")
		return fmt.Errorf("no square of %d:\nit is not liked", s.N)
	case Panic:
		panic("out of squares")
	case Hang:
		<-ctx.Done()
		return ctx.Err()
	case DieOnce:
		file := filepath.Join(s.Folder, fmt.Sprintf("died-%d", s.N))
		if _, err := os.Stat(file); err == nil {
			break
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			return err
		}
		fallthrough
	case Die:
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case Forget:
		return nil
	}
	_ = at.Store.Save(Key(s.N), Value{s.N * s.N, by(), filler(&s)}) // the store tells
	return nil
}

// wait waits as long as the job is to take.
func wait(ctx context.Context, s *Spec) error {
	for end := time.Now().Add(time.Duration(s.Sleep * float64(time.Second))); ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().Before(end) {
			continue
		}
		if _, err := os.Stat(s.Until); s.Until == "" || err == nil {
			break
		}
	}
	return ctx.Err()
}

// by names what the job is done by.
func by() string {
	if fields := strings.Fields(os.Getenv("SSH_CONNECTION")); len(fields) == 4 && os.Getenv("SLURMD_NODENAME") == "" {
		return fields[3]
	}
	return os.Getenv("SLURMD_NODENAME")
}

func filler(s *Spec) []byte {
	b := make([]byte, s.Bytes)
	x := uint32(s.N + 1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

// Main makes a test's binary the worker of its own campaigns: if args are those that
// executors start workers with, "work" and the store, it does jobs and returns the
// process's exit status. Otherwise it returns that of run.
func Main(args []string, in io.Reader, out, stderr io.Writer, run func() int) int {
	if len(args) != 3 || args[1] != "work" {
		return run()
	}
	err := campaign.Serve(context.Background(), in, out, store.Open(args[2]), Works(stderr))
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// Jobs returns n jobs with little memory, each changed by edit if it is not nil.
func Jobs(t testing.TB, n int, edit func(i int, s *Spec, needs *campaign.Needs)) []campaign.Job {
	t.Helper()
	list := make([]campaign.Job, n)
	for i := range list {
		s, needs := Spec{N: i}, campaign.Needs{Memory: 1 << 20}
		if edit != nil {
			edit(i, &s, &needs)
		}
		var err error
		if list[i], err = campaign.NewJob("square", fmt.Sprintf("square of %d", i), s, Key(i)); err != nil {
			t.Fatal(err)
		}
		list[i].Needs = needs
	}
	return list
}

// Check fails the test unless a store holds the squares of some numbers. It returns how
// many each node or host computed.
func Check(t testing.TB, st *store.Store, numbers ...int) map[string]int {
	t.Helper()
	done := make(map[string]int)
	for _, n := range numbers {
		var v Value
		if err := st.Load(Key(n), &v); err != nil || v.Square != n*n {
			t.Errorf("square of %d: %d, %v", n, v.Square, err)
		}
		done[v.By]++
	}
	return done
}

// Below returns the numbers below n but for some.
func Below(n int, without ...int) []int {
	var list []int
next:
	for i := range n {
		for _, w := range without {
			if i == w {
				continue next
			}
		}
		list = append(list, i)
	}
	return list
}
