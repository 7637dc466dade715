//go:build linux && amd64

package native

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"presage/perf/engine"
)

// stdio connects the streams of a Request to the program. Standard input is a file
// in memory, so that what a read returns does not depend on who writes how fast.
type stdio struct {
	child  [3]*os.File // of the program
	copies sync.WaitGroup

	mu  sync.Mutex
	err error // of writing to a stream of the Request
}

func openStdio(r *engine.Request) (s *stdio, err error) {
	s = new(stdio)
	defer func() {
		if err != nil {
			s.started()
		}
	}()
	if s.child[0], err = input(r.Stdin); err != nil {
		return s, err
	}
	for i, w := range []io.Writer{r.Stdout, r.Stderr} {
		if s.child[i+1], err = s.output(w); err != nil {
			return s, err
		}
	}
	return s, nil
}

// input returns a file with the content of r.
func input(r io.Reader) (*os.File, error) {
	fd, err := unix.MemfdCreate("stdin", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("native: standard input: %w", err)
	}
	f := os.NewFile(uintptr(fd), "stdin")
	if r != nil {
		if _, err = io.Copy(f, r); err == nil {
			_, err = f.Seek(0, io.SeekStart)
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("native: standard input: %w", err)
	}
	return f, nil
}

// output returns the end of a pipe for the program; the other is copied to w.
func (s *stdio) output(w io.Writer) (*os.File, error) {
	if w == nil {
		w = io.Discard
	}
	r, end, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("native: output: %w", err)
	}
	s.copies.Go(func() {
		defer r.Close()
		_, err := io.Copy(w, r)
		if err != nil {
			s.mu.Lock()
			s.err = errors.Join(s.err, err)
			s.mu.Unlock()
			io.Copy(io.Discard, r)
		}
	})
	return end, nil
}

// started closes the files that the program has by now.
func (s *stdio) started() {
	for _, f := range s.child {
		if f != nil {
			f.Close()
		}
	}
	s.child = [3]*os.File{}
}

// wait waits until all output is written.
func (s *stdio) wait() error {
	s.copies.Wait()
	return s.err
}
