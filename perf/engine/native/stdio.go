//go:build linux && amd64

package native

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"presage/perf/engine"
)

// stdio connects the streams of a Request to the program. Standard input is a file
// in memory, so that what a read returns does not depend on who writes how fast.
type stdio struct {
	child  [3]*os.File // of the program
	copies sync.WaitGroup
	limit  int64  // bytes of output; 0: none
	over   func() // is called when there are more
	total  atomic.Int64

	mu  sync.Mutex
	err error // of writing to a stream of the Request
}

func openStdio(r *engine.Request, over func()) (s *stdio, err error) {
	s = &stdio{limit: int64(min(r.OutputLimit, math.MaxInt64)), over: over}
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
		_, err := io.Copy(&limited{s, w}, r)
		if err != nil {
			s.mu.Lock()
			s.err = errors.Join(s.err, err)
			s.mu.Unlock()
			io.Copy(io.Discard, r)
		}
	})
	return end, nil
}

// limited passes on what is within the limit of the output.
type limited struct {
	*stdio
	w io.Writer
}

func (l *limited) Write(b []byte) (int, error) {
	total := l.total.Add(int64(len(b)))
	pass := b
	if l.limit > 0 && total > l.limit {
		pass = b[:max(int64(len(b))-(total-l.limit), 0)]
		l.over()
	}
	if _, err := l.w.Write(pass); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (s *stdio) exceeded() bool { return s.limit > 0 && s.total.Load() > s.limit }

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
