package pool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"presage/perf/campaign"
	"presage/perf/campaign/internal/squares"
	"presage/perf/internal/oracle"
	"presage/perf/progress"
	"presage/perf/store"
)

// TestMain makes the test binary the worker of its own pools.
func TestMain(m *testing.M) {
	os.Exit(squares.Main(os.Args, os.Stdin, os.Stdout, os.Stderr, m.Run))
}

func here(t *testing.T, cores int, memory uint64) *Executor {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Here(exe, []string{"work"}, cores, memory)
}

func run(ctx context.Context, p *Executor, st *store.Store, list []campaign.Job, report progress.Func) (failed []campaign.Ended, err error) {
	r := campaign.Runner{On: p, Failed: func(e campaign.Ended) { failed = append(failed, e) }}
	err = r.Run(ctx, st, list, report)
	return failed, err
}

// TestPool has jobs done of which some fail in every way there is.
func TestPool(t *testing.T) {
	st, folder := store.Open(t.TempDir()), t.TempDir()
	do := map[int]string{3: squares.Fail, 4: squares.Die, 5: squares.DieOnce, 6: squares.Panic, 7: squares.Forget}
	list := squares.Jobs(t, 12, func(i int, s *squares.Spec, _ *campaign.Needs) { s.Do, s.Folder = do[i], folder })
	var last progress.Report
	var reports int
	failed, err := run(t.Context(), here(t, 3, 0), st, list, func(r progress.Report) {
		if r.Done < last.Done || r.Total != 12 || r.Finished() {
			t.Errorf("progress %+v after %+v", r, last)
		}
		last, reports = r, reports+1
	})
	if err != nil {
		t.Fatal(err)
	}
	squares.Check(t, st, 0, 1, 2, 5, 8, 9, 10, 11)
	if reports < 12 {
		t.Errorf("%d reports of progress", reports)
	}
	want := map[string]string{
		"square of 3": "no square of 3:\nit is not liked",
		"square of 4": "its process died, 3 times: signal: killed",
		"square of 6": "campaign: square of 6: panic: out of squares\n",
		"square of 7": "campaign: square of 7: done, but its results are not those expected",
	}
	if len(failed) != len(want) {
		t.Errorf("failed: %+v", failed)
	}
	for _, e := range failed {
		if !strings.HasPrefix(e.Error, want[e.Label]) {
			t.Errorf("%s: %q, want %q", e.Label, e.Error, want[e.Label])
		}
		text, err := os.ReadFile(e.Log)
		if err != nil || !strings.Contains(string(text), e.Error) || e.Label == "square of 3" && !strings.Contains(string(text), "some words of the program") {
			t.Errorf("log of %s: %s, %v", e.Label, text, err)
		}
	}
	id, _ := campaign.IDOf(list)
	s, err := campaign.StatusOf(st, id)
	if err != nil || s.Done != 8 || len(s.Failed) != 4 || s.Total != 12 || s.On != "pool" {
		t.Errorf("%+v, %v", s, err)
	}
}

// most runs jobs and returns how many of them were under way at once, at most.
func most(t *testing.T, p *Executor, list []campaign.Job, folder string) int {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		failed, err := run(t.Context(), p, store.Open(t.TempDir()), list, nil)
		if len(failed) > 0 {
			err = errors.Join(err, fmt.Errorf("failed: %+v", failed))
		}
		done <- err
	}()
	high := 0
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return high
		case <-time.After(2 * time.Millisecond):
			under, err := filepath.Glob(filepath.Join(folder, "under-way-*"))
			if err != nil {
				t.Fatal(err)
			}
			high = max(high, len(under))
		}
	}
}

// TestBounds counts the jobs that are under way at once: cores and memory bound them.
func TestBounds(t *testing.T) {
	for name, c := range map[string]struct {
		cores  int
		memory uint64
		needs  campaign.Needs
		want   int
	}{
		"cores":         {4, 1 << 40, campaign.Needs{Memory: 1}, 4},
		"cores of jobs": {4, 1 << 40, campaign.Needs{Cores: 2, Memory: 1}, 2},
		"memory":        {4, 3 << 30, campaign.Needs{}, 3},
		"too much":      {4, 1 << 30, campaign.Needs{Memory: 1 << 40}, 1},
		"alone":         {4, 1 << 40, campaign.Needs{Alone: true}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			list := squares.Jobs(t, 8, func(_ int, s *squares.Spec, needs *campaign.Needs) { s.Folder, s.Sleep, *needs = folder, 0.15, c.needs })
			// Fewer at once than may be prove nothing: the machine may be busy.
			if got := most(t, here(t, c.cores, c.memory), list, folder); got > c.want || got == 0 {
				t.Errorf("%d jobs at once, want at most %d", got, c.want)
			}
		})
	}
}

// TestResume cancels a campaign: it ends at once, leaves no process, and what is
// missing is done when it is repeated.
func TestResume(t *testing.T) {
	st, folder := store.Open(t.TempDir()), t.TempDir()
	list := squares.Jobs(t, 6, func(i int, s *squares.Spec, _ *campaign.Needs) {
		s.Folder = folder
		if i == 4 {
			s.Do = squares.Hang
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(folder, "under-way-4")); err == nil {
				cancel()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	if _, err := run(ctx, here(t, 1, 0), st, list, nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v, want context.Canceled", err)
	}
	squares.Check(t, st, 0, 1, 2, 3)
	if st.Has(squares.Key(5)) {
		t.Error("a job after the one that hangs was done")
	}
	if out, err := exec.Command("pgrep", "-f", "work "+st.Dir()).Output(); err == nil {
		t.Errorf("workers are left: %s", out)
	}
	rest := squares.Jobs(t, 6, nil)
	started := time.Now()
	if failed, err := run(t.Context(), here(t, 2, 0), st, rest, nil); err != nil || len(failed) > 0 {
		t.Fatalf("%v, %+v", err, failed)
	}
	squares.Check(t, st, 4, 5)
	// Those that were there have not been done again.
	if info, err := os.Stat(st.Path(squares.Key(0))); err != nil || info.ModTime().After(started) {
		t.Errorf("square of 0 was done again: %v", err)
	}
}

// TestNoWorker has a host that starts nothing.
func TestNoWorker(t *testing.T) {
	p := &Executor{Hosts: []Host{{Name: "broken", Cores: 1, Command: func(string) *exec.Cmd {
		return exec.Command("/bin/sh", "-c", "echo no such host >&2; exit 255")
	}}}}
	_, err := run(t.Context(), p, store.Open(t.TempDir()), squares.Jobs(t, 2, nil), nil)
	if err == nil || !strings.Contains(err.Error(), "broken: exit status 255: no such host") {
		t.Errorf("%v", err)
	}
	p.Hosts[0].Command = func(string) *exec.Cmd { return exec.Command("/no/such/file") }
	if _, err := run(t.Context(), p, store.Open(t.TempDir()), squares.Jobs(t, 2, nil), nil); err == nil || !strings.Contains(err.Error(), "/no/such/file") {
		t.Errorf("%v", err)
	}
}

// TestFullStore lets results fill the disk: the campaign stops, and goes on once there
// is room.
func TestFullStore(t *testing.T) {
	dir := t.TempDir()
	mount := func(args ...string) {
		if out, err := exec.Command("mount", append(args, "tmpfs", dir)...).CombinedOutput(); err != nil {
			oracle.Without(t, fmt.Sprintf("no file system of a given size can be mounted: %v: %s", err, out))
		}
	}
	mount("-t", "tmpfs", "-o", "size=4m")
	defer func() {
		if out, err := exec.Command("umount", "--lazy", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	}()
	st := store.Open(dir)
	list := squares.Jobs(t, 12, func(_ int, s *squares.Spec, _ *campaign.Needs) { s.Bytes = 1 << 20 })
	failed, err := run(t.Context(), here(t, 1, 0), st, list, nil)
	if !errors.Is(err, campaign.ErrFull) || len(failed) != 1 || !failed[0].Full {
		t.Fatalf("%v, failed %+v, want ErrFull and one", err, failed)
	}
	mount("-o", "remount,size=100m")
	if failed, err := run(t.Context(), here(t, 1, 0), st, list, nil); err != nil || len(failed) > 0 {
		t.Fatalf("%v, failed %+v", err, failed)
	}
	for i := range list {
		squares.Check(t, st, i)
	}
}

// TestOrphans kills the process that leads a campaign: its workers end by themselves.
func TestOrphans(t *testing.T) {
	st, folder := store.Open(t.TempDir()), t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	worker := exec.Command(exe, "work", st.Dir())
	stdin, err := worker.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	job := squares.Jobs(t, 1, func(_ int, s *squares.Spec, _ *campaign.Needs) { s.Do, s.Folder = squares.Hang, folder })[0]
	fmt.Fprintf(stdin, `{"job":{"kind":"square","label":"x","spec":%s,"needs":{}},"cores":1}`+"\n", job.Spec)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(folder, "under-way-0")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the job was not begun")
		}
	}
	stdin.Close() // as the kernel does when its other end dies
	ended := make(chan error, 1)
	go func() { ended <- worker.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		worker.Process.Kill()
		t.Error("the worker lives on")
	}
}
