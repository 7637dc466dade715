package pool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"presage/perf/campaign"
	"presage/perf/internal/oracle"
	"presage/perf/progress"
	"presage/perf/store"
)

// spec is what a test's job does.
type spec struct {
	N      int
	Folder string // where it notes when it begins and ends
	Sleep  float64
	Bytes  int
	Do     string // "fail", "die", "die once", "panic", "hang"
}

func keyOf(n int) store.Key {
	k, err := store.NewKey("square", 1, n)
	if err != nil {
		panic(err)
	}
	return k
}

var testWorks = []campaign.Work{campaign.NewWork("square", square)}

func square(ctx context.Context, at campaign.Site, s spec) error {
	if s.Folder != "" {
		file := filepath.Join(s.Folder, fmt.Sprintf("under-way-%d", s.N))
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			return err
		}
		defer os.Remove(file)
	}
	at.Running(uint64(s.N + 1))
	time.Sleep(time.Duration(s.Sleep * float64(time.Second)))
	switch s.Do {
	case "fail":
		fmt.Fprintln(os.Stderr, "some words of the program")
		return errors.New("no square:\nit is not liked")
	case "panic":
		panic("out of squares")
	case "hang":
		<-ctx.Done()
		return ctx.Err()
	case "die once":
		file := filepath.Join(s.Folder, fmt.Sprintf("died-%d", s.N))
		if _, err := os.Stat(file); err == nil {
			break
		}
		os.WriteFile(file, nil, 0o644)
		fallthrough
	case "die":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "forget":
		return nil
	}
	filler := make([]byte, s.Bytes)
	x := uint32(s.N + 1)
	for i := range filler {
		x = x*1664525 + 1013904223
		filler[i] = byte(x >> 24)
	}
	_ = at.Store.Save(keyOf(s.N), append([]byte{byte(s.N * s.N)}, filler...)) // the store tells
	return nil
}

// TestMain makes the test binary the worker of its own pools.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "work" {
		err := campaign.Serve(context.Background(), os.Stdin, os.Stdout, store.Open(os.Args[2]), testWorks)
		if err != nil && !errors.Is(err, context.Canceled) {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func here(t *testing.T, cores int, memory uint64) *Executor {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Here(exe, []string{"work"}, cores, memory)
}

func jobs(t *testing.T, n int, edit func(i int, s *spec, needs *campaign.Needs)) []campaign.Job {
	t.Helper()
	list := make([]campaign.Job, n)
	for i := range list {
		s, needs := spec{N: i}, campaign.Needs{Memory: 1 << 20}
		if edit != nil {
			edit(i, &s, &needs)
		}
		var err error
		if list[i], err = campaign.NewJob("square", fmt.Sprintf("square of %d", i), s, keyOf(i)); err != nil {
			t.Fatal(err)
		}
		list[i].Needs = needs
	}
	return list
}

func run(ctx context.Context, p *Executor, st *store.Store, list []campaign.Job, report progress.Func) (failed []campaign.Ended, err error) {
	r := campaign.Runner{On: p, Failed: func(e campaign.Ended) { failed = append(failed, e) }}
	err = r.Run(ctx, st, list, report)
	return failed, err
}

func checkSquares(t *testing.T, st *store.Store, numbers ...int) {
	t.Helper()
	for _, n := range numbers {
		var v []byte
		if err := st.Load(keyOf(n), &v); err != nil || v[0] != byte(n*n) {
			t.Errorf("square of %d: %v, %v", n, v, err)
		}
	}
}

// TestPool has jobs done of which some fail in every way there is.
func TestPool(t *testing.T) {
	st, folder := store.Open(t.TempDir()), t.TempDir()
	do := map[int]string{3: "fail", 4: "die", 5: "die once", 6: "panic", 7: "forget"}
	list := jobs(t, 12, func(i int, s *spec, _ *campaign.Needs) { s.Do, s.Folder = do[i], folder })
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
	checkSquares(t, st, 0, 1, 2, 5, 8, 9, 10, 11)
	if reports < 12 {
		t.Errorf("%d reports of progress", reports)
	}
	want := map[string]string{
		"square of 3": "no square:\nit is not liked",
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
			list := jobs(t, 8, func(_ int, s *spec, needs *campaign.Needs) { s.Folder, s.Sleep, *needs = folder, 0.15, c.needs })
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
	list := jobs(t, 6, func(i int, s *spec, _ *campaign.Needs) {
		s.Folder = folder
		if i == 4 {
			s.Do = "hang"
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
	checkSquares(t, st, 0, 1, 2, 3)
	if st.Has(keyOf(5)) {
		t.Error("a job after the one that hangs was done")
	}
	if out, err := exec.Command("pgrep", "-f", "work "+st.Dir()).Output(); err == nil {
		t.Errorf("workers are left: %s", out)
	}
	rest := jobs(t, 6, nil)
	started := time.Now()
	if failed, err := run(t.Context(), here(t, 2, 0), st, rest, nil); err != nil || len(failed) > 0 {
		t.Fatalf("%v, %+v", err, failed)
	}
	checkSquares(t, st, 4, 5)
	// Those that were there have not been done again.
	if info, err := os.Stat(st.Path(keyOf(0))); err != nil || info.ModTime().After(started) {
		t.Errorf("square of 0 was done again: %v", err)
	}
}

// TestNoWorker has a host that starts nothing.
func TestNoWorker(t *testing.T) {
	p := &Executor{Hosts: []Host{{Name: "broken", Cores: 1, Command: func(string) *exec.Cmd {
		return exec.Command("/bin/sh", "-c", "echo no such host >&2; exit 255")
	}}}}
	_, err := run(t.Context(), p, store.Open(t.TempDir()), jobs(t, 2, nil), nil)
	if err == nil || !strings.Contains(err.Error(), "broken: exit status 255: no such host") {
		t.Errorf("%v", err)
	}
	p.Hosts[0].Command = func(string) *exec.Cmd { return exec.Command("/no/such/file") }
	if _, err := run(t.Context(), p, store.Open(t.TempDir()), jobs(t, 2, nil), nil); err == nil || !strings.Contains(err.Error(), "/no/such/file") {
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
	list := jobs(t, 12, func(_ int, s *spec, _ *campaign.Needs) { s.Bytes = 1 << 20 })
	failed, err := run(t.Context(), here(t, 1, 0), st, list, nil)
	if !errors.Is(err, campaign.ErrFull) || len(failed) != 1 || !failed[0].Full {
		t.Fatalf("%v, failed %+v, want ErrFull and one", err, failed)
	}
	mount("-o", "remount,size=100m")
	if failed, err := run(t.Context(), here(t, 1, 0), st, list, nil); err != nil || len(failed) > 0 {
		t.Fatalf("%v, failed %+v", err, failed)
	}
	for i := range list {
		checkSquares(t, st, i)
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
	job := jobs(t, 1, func(_ int, s *spec, _ *campaign.Needs) { s.Do, s.Folder = "hang", folder })[0]
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
