package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"presage/perf/store"
)

// Request is what a worker is told: a line of JSON on its standard input.
type Request struct {
	Job   Job `json:"job"`
	Cores int `json:"cores"` // that it may occupy
}

// Response is what a worker tells: a line of JSON on its standard output. The first
// one has nothing but Host.
type Response struct {
	Host         string `json:"host,omitempty"`
	Instructions uint64 `json:"instructions,omitempty"`
	Ended        *Ended `json:"ended,omitempty"`
}

// tellEvery is how often a worker tells how far it has come.
const tellEvery = 200 * time.Millisecond

// Serve does the jobs that it reads from in, one after the other, and tells of them on
// out, until in ends. It cancels the job under way if in ends before it, as it does
// when the process at its other end dies.
func Serve(ctx context.Context, in io.Reader, out io.Writer, st *store.Store, works []Work) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	requests := make(chan Request)
	failed := make(chan error, 1)
	go func() {
		defer close(requests)
		defer cancel()
		for d := json.NewDecoder(in); ; {
			var r Request
			if err := d.Decode(&r); err != nil {
				if !errors.Is(err, io.EOF) {
					failed <- fmt.Errorf("campaign: worker: %w", err)
				}
				return
			}
			select {
			case requests <- r:
			case <-ctx.Done():
				return
			}
		}
	}()
	s := server{out: json.NewEncoder(out)}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("campaign: worker: %w", err)
	}
	if err := s.tell(Response{Host: host}); err != nil {
		return err
	}
	for r := range requests {
		runtime.GOMAXPROCS(max(1, r.Cores))
		ended := Do(ctx, st, works, &r.Job, s.running)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.tell(Response{Ended: ended}); err != nil {
			return err
		}
	}
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// server writes responses. Runs of one job at the same time share it.
type server struct {
	mutex sync.Mutex // of what follows
	out   *json.Encoder
	last  time.Time
}

func (s *server) tell(r Response) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := s.out.Encode(r); err != nil {
		return fmt.Errorf("campaign: worker: %w", err)
	}
	return nil
}

// running tells of instructions, not too often. That nobody listens shows in the end.
func (s *server) running(instructions uint64) {
	if s.due(time.Now()) {
		_ = s.tell(Response{Instructions: instructions})
	}
}

// due reports whether enough time has passed since it last did.
func (s *server) due(now time.Time) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if now.Sub(s.last) < tellEvery {
		return false
	}
	s.last = now
	return true
}

// Do does one job and returns how it ended.
func Do(ctx context.Context, st *store.Store, works []Work, j *Job, running func(uint64)) *Ended {
	e := &Ended{Label: j.Label}
	mark, err := j.Mark()
	if err != nil {
		e.Error = err.Error()
		return e
	}
	e.Job = mark.Hash
	begin := time.Now()
	if err := guarded(ctx, Site{st.Apart(), running}, works, j); err != nil { // with a Failure of this job alone
		e.Error, e.Full = err.Error(), full(err)
	}
	e.Seconds, e.Peak = time.Since(begin).Seconds(), peak()
	return e
}

// guarded is perform, except that a panic is an error.
func guarded(ctx context.Context, at Site, works []Work, j *Job) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("campaign: %s: panic: %v\n%s", j.Label, p, debug.Stack())
		}
	}()
	return perform(ctx, at, works, j)
}

// peak returns the most memory in bytes that this process, or one that it started,
// has occupied so far; 0 if that is not known.
func peak() uint64 {
	unit := uint64(1 << 10)
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	most := int64(0)
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			most = max(most, int64(u.Maxrss))
		}
	}
	return uint64(most) * unit
}
