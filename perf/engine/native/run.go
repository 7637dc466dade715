//go:build linux && amd64

package native

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"presage/perf/engine"
	"presage/perf/objfile"
)

func supported() error { return nil }

// checkGrants returns an error unless the engine can grant the folders: to a confined
// program, to read, at their own paths. It looks whether they are folders.
func (e Engine) checkGrants(grants []engine.Grant) error {
	for _, g := range grants {
		wrong := ""
		switch {
		case !e.Confined:
			wrong = "the program opens files by itself, with the rights of the user, at the paths that they have; leave the folders out, or, to keep the program from all others, choose the mode " + confinedName
		case g.Write:
			wrong = "a confined program writes to no file; leave :rw out"
		case g.Guest != g.Host || !filepath.IsAbs(g.Host):
			wrong = "the program sees the computer's own paths; name the folder in the same way twice, such as /data=/data"
		case !g.Devices:
			wrong = "the kernel does not tell files from devices and pipes in the folder; grant these, too, such as /data=/data:dev"
		default:
			if err := checkFolder(g.Host); err != nil {
				return err
			}
			continue
		}
		return fmt.Errorf("native: the folder %s cannot be granted so (--dir): %s: %w", g.Host, wrong, errors.ErrUnsupported)
	}
	return nil
}

// checkFolder returns an error unless there is a folder at a path.
func checkFolder(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("native: the folder %s cannot be granted (--dir): %w", path, err)
	case !info.IsDir():
		return fmt.Errorf("native: %s cannot be granted (--dir): it is no folder; name the one that holds it: %w", path, errors.ErrUnsupported)
	}
	return nil
}

// run executes f; with discover it also finds its code.
func (e Engine) run(ctx context.Context, f *objfile.File, r engine.Request, discover bool) (out *engine.Outcome, found *engine.Discovery, err error) {
	if err := e.Accepts(f); err != nil {
		return nil, nil, err
	}
	if e.CPU != "" {
		if _, err := e.OnCPU(e.CPU); err != nil {
			return nil, nil, err
		}
	}
	if err := e.checkGrants(r.Grants); err != nil {
		return nil, nil, err
	}
	others := r
	others.Grants = nil
	if err := others.Check(capabilities); err != nil {
		return nil, nil, err
	}
	if r.FreeThreads && r.Plan != nil && r.Plan.Memory != nil {
		return nil, nil, fmt.Errorf("native: what memory is for is not known while threads run freely, as one may free what another still uses: leave out one of the two (--threads free, allocation sites): %w", errors.ErrUnsupported)
	}
	start := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	tooMuch := fmt.Errorf("native: %s wrote more than %d bytes (OutputLimit): %w", filepath.Base(f.Path), r.OutputLimit, engine.ErrOutputLimit)
	io, err := openStdio(&r, func() { cancel(tooMuch) })
	if err != nil {
		return nil, nil, err
	}
	m := newMachine(ctx, f, r, discover)
	m.confined, m.landlock = e.Confined, e.landlock
	m.singly, m.stopping, m.hide, m.name = e.singly, e.stopping, hidden(e.CPU), e.Identity().Name
	m.joining = m.mayJoin()
	done := make(chan struct{})
	go func() {
		defer close(done)
		lonely(func() { err = m.run(io) })
	}()
	for running := true; running; {
		select {
		case n := <-m.progress:
			r.Progress(n)
		case <-done:
			running = false
		}
	}
	err = errors.Join(err, io.wait())
	if io.exceeded() && !errors.Is(err, engine.ErrOutputLimit) {
		err = errors.Join(err, tooMuch)
	}
	out, wrong := m.result(start)
	err = errors.Join(err, wrong)
	if discover {
		found = m.discovery(out)
	}
	return out, found, err
}
