//go:build linux && amd64

package native

import (
	"context"
	"errors"
	"runtime"
	"time"

	"presage/perf/engine"
	"presage/perf/objfile"
)

func supported() error { return nil }

// run executes f; with discover it also finds its code.
func (e Engine) run(ctx context.Context, f *objfile.File, r engine.Request, discover bool) (out *engine.Outcome, found *engine.Discovery, err error) {
	if err := e.Accepts(f); err != nil {
		return nil, nil, err
	}
	if err := r.Check(capabilities); err != nil {
		return nil, nil, err
	}
	start := time.Now()
	io, err := openStdio(&r)
	if err != nil {
		return nil, nil, err
	}
	var m *machine
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread is the tracer
		m = newMachine(ctx, f, r, discover)
		m.confined, m.singly = e.Confined, e.singly
		err = m.run(io)
	}()
	<-done
	err = errors.Join(err, io.wait())
	out, wrong := m.result(start)
	err = errors.Join(err, wrong)
	if discover {
		found = m.discovery(out)
	}
	return out, found, err
}
