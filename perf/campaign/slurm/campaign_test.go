package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"presage/perf/campaign"
	"presage/perf/campaign/internal/squares"
	"presage/perf/store"
)

// TestMain makes the test binary the worker of its own campaigns, and a process that
// submits one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "work" {
		os.Exit(work(os.Args[2:]))
	}
	if dir := os.Getenv("PRESAGE_TEST_SUBMIT"); dir != "" {
		c, err := campaign.Load(store.Open(dir), os.Getenv("PRESAGE_TEST_CAMPAIGN"))
		if err == nil {
			err = executor().Execute(context.Background(), c, func(campaign.Event) {})
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	shared.stop()
	os.Exit(status)
}

func work(args []string) int {
	flags := make(map[string]string)
	for i := 0; i+1 < len(args); i += 2 {
		flags[args[i]] = args[i+1]
	}
	task, _ := strconv.Atoi(flags["--task"])
	limit, _ := time.ParseDuration(flags["--limit"])
	err := RunTask(context.Background(), store.Open(flags["--store"]), squares.Works(os.Stderr), flags["--array"], task, limit)
	switch {
	case errors.Is(err, campaign.ErrFull):
		return ExitFull
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func executor() *Executor {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return &Executor{Exe: exe, Args: []string{"work"}, Poll: 300 * time.Millisecond, Config: Config{Memory: 100}}
}

// jobs returns n jobs, each made by edit.
func jobs(t testing.TB, n int, edit func(i int, s *squares.Spec)) []campaign.Job {
	t.Helper()
	return squares.Jobs(t, n, func(i int, s *squares.Spec, needs *campaign.Needs) {
		needs.Memory = 100 << 20
		if edit != nil {
			edit(i, s)
		}
	})
}

// run runs a campaign and returns how its jobs failed.
func run(t testing.TB, s *Executor, st *store.Store, list []campaign.Job) ([]campaign.Ended, error) {
	t.Helper()
	told := s.Notice
	s.Notice = func(text string) {
		t.Log(text)
		if told != nil {
			told(text)
		}
	}
	var failed []campaign.Ended
	r := campaign.Runner{On: s, Failed: func(e campaign.Ended) { failed = append(failed, e) }}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	return failed, r.Run(ctx, st, list, nil)
}

// TestCampaign has more jobs than probes done, one of which fails and one of which dies
// each time.
func TestCampaign(t *testing.T) {
	needCluster(t)
	st := store.Open(t.TempDir())
	list := jobs(t, 40, func(i int, s *squares.Spec) {
		s.Sleep = 0.05
		switch i {
		case 11:
			s.Do = squares.Fail
		case 12:
			s.Do = squares.Die
		case 13:
			s.Do, s.Folder = squares.DieOnce, t.TempDir()
		}
	})
	failed, err := run(t, executor(), st, list)
	if err != nil {
		t.Fatal(err)
	}
	if nodes := squares.Check(t, st, squares.Below(40, 11, 12)...); nodes["n1"] == 0 || nodes["n2"] == 0 {
		t.Errorf("done by nodes: %v", nodes)
	}
	if len(failed) != 2 {
		t.Fatalf("failed: %+v", failed)
	}
	if failed[0].Label != "square of 11" {
		failed[0], failed[1] = failed[1], failed[0]
	}
	if text, err := os.ReadFile(failed[0].Log); err != nil || failed[0].Error != "no square of 11:\nit is not liked" || !strings.Contains(string(text), failed[0].Error) {
		t.Errorf("%+v, its log %s, %v", failed[0], text, err)
	}
	if f := failed[1]; f.Label != "square of 12" || !f.Killed || !strings.Contains(f.Error, "died 3 times") || !strings.Contains(f.Error, "FAILED") && !strings.Contains(f.Error, "OUT_OF_MEMORY") {
		t.Errorf("%+v", f)
	}
	arrays, err := filepath.Glob(filepath.Join(st.Dir(), campaign.Folder, "*", "arrays", "*", "task-*"))
	if err != nil || len(arrays) < probes+1 || len(arrays) > 25 { // probes, the rest, and those of which jobs died
		t.Errorf("%d tasks for 40 short jobs, %v", len(arrays), err)
	}
	id, _ := campaign.IDOf(list)
	s, err := campaign.StatusOf(st, id)
	if err != nil || s.Done != 38 || len(s.Failed) < 1 || s.On != "slurm" || s.Total != 40 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestKilledNode kills a node with all that runs on it: Slurm notices, and what was lost
// is done by the other.
func TestKilledNode(t *testing.T) {
	if testing.Short() {
		t.Skip("slow to start under the race detector; other tests run the same daemons and tasks")
	}
	c := needCluster(t)
	st := store.Open(t.TempDir())
	open, began := filepath.Join(t.TempDir(), "open"), t.TempDir()
	list := jobs(t, 4, func(i int, s *squares.Spec) { s.Until, s.Folder = open, began })
	s := executor()
	lost := 0 // jobs; read once done tells
	s.Notice = func(text string) {
		if strings.Contains(text, "NODE_FAIL on n2") {
			lost++
		}
	}
	done := make(chan error, 1)
	go func() {
		_, err := run(t, s, st, list)
		done <- err
	}()
	// There is a core for each: two are on n2. A task that was killed before its job began
	// would have lost none.
	err := c.await("four jobs under way", func() bool {
		names, err := os.ReadDir(began)
		return err == nil && len(names) == 4
	})
	if err != nil {
		t.Fatal(err)
	}
	c.kill("n2")
	if err := os.WriteFile(open, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err = <-done // not before the node is given up: no job of n2 had a chance to end
	if back := c.node("n2"); back != nil {
		t.Error(back)
	}
	if err != nil {
		t.Fatal(err)
	}
	if nodes := squares.Check(t, st, squares.Below(4)...); nodes["n1"] != 4 || lost == 0 {
		t.Errorf("done by nodes: %v; %d jobs were lost", nodes, lost)
	}
	arrays, err := filepath.Glob(filepath.Join(st.Dir(), campaign.Folder, "*", "arrays", "*"))
	if err != nil || len(arrays) < 2 {
		t.Errorf("arrays %v (%v): want a second one, of what the node lost", arrays, err)
	}
}

// TestSubmitterDies kills the process that submitted a campaign: its tasks go on, and
// another process follows them without submitting them again.
func TestSubmitterDies(t *testing.T) {
	if testing.Short() {
		t.Skip("slow to start under the race detector; other tests run the same daemons and tasks")
	}
	c := needCluster(t)
	st := store.Open(t.TempDir())
	open := filepath.Join(t.TempDir(), "open")
	list := jobs(t, 3, func(i int, s *squares.Spec) { s.Until = open })
	id, err := campaign.IDOf(list)
	if err != nil {
		t.Fatal(err)
	}
	first := campaign.Campaign{ID: id, Dir: filepath.Join(st.Dir(), campaign.Folder, id), Store: st, Jobs: list, Total: len(list)}
	if err := errors.Join(first.SaveJobs(), first.Describe("slurm", "", "")); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	submitter := exec.Command(exe)
	submitter.Env = append(os.Environ(), "PRESAGE_TEST_SUBMIT="+st.Dir(), "PRESAGE_TEST_CAMPAIGN="+id)
	if err := submitter.Start(); err != nil {
		t.Fatal(err)
	}
	if err := c.await("tasks", func() bool { return c.queued(t, id) == 3 }); err != nil {
		t.Fatal(err)
	}
	// At the worst moment: sbatch has taken the array, and its ID is not noted.
	note := filepath.Join(first.Dir, "arrays", "0001", idFile)
	if err := c.await("note", func() bool { _, err := os.Stat(note); return err == nil }); err != nil {
		t.Fatal(err)
	}
	submitter.Process.Kill()
	submitter.Wait()
	if err := os.Remove(note); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(time.Second, func() { os.WriteFile(open, nil, 0o644) })
	if failed, err := run(t, executor(), st, list); err != nil || len(failed) > 0 {
		t.Fatalf("%v, failed %+v", err, failed)
	}
	squares.Check(t, st, squares.Below(3)...)
	if arrays, err := filepath.Glob(filepath.Join(first.Dir, "arrays", "*")); err != nil || len(arrays) != 1 {
		t.Errorf("arrays %v (%v): want the first alone", arrays, err)
	}
}

// TestCancel cancels a campaign, which can go on later.
func TestCancel(t *testing.T) {
	c := needCluster(t)
	st := store.Open(t.TempDir())
	open := filepath.Join(t.TempDir(), "open")
	list := jobs(t, 3, func(i int, s *squares.Spec) { s.Until = open })
	id, err := campaign.IDOf(list)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if c.await("tasks", func() bool { return c.queued(t, id) > 0 }) == nil {
			Cancel(context.Background(), id)
		}
	}()
	if _, err := run(t, executor(), st, list); !errors.Is(err, ErrCancelled) {
		t.Fatalf("%v, want ErrCancelled", err)
	}
	if err := os.WriteFile(open, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if failed, err := run(t, executor(), st, list); err != nil || len(failed) > 0 {
		t.Fatalf("%v, failed %+v", err, failed)
	}
	squares.Check(t, st, squares.Below(3)...)
}

// TestFullStore lets results fill the disk of the store: the campaign stops, and goes on
// once there is room.
func TestFullStore(t *testing.T) {
	if testing.Short() {
		t.Skip("slow to start under the race detector; other tests run the same daemons and tasks")
	}
	needCluster(t)
	dir := t.TempDir()
	mount := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("mount", append(args, "tmpfs", dir)...).CombinedOutput(); err != nil {
			t.Skipf("skipped: no file system of a given size can be mounted here: %v: %s", err, out)
		}
	}
	size := func(mib int) string { return fmt.Sprintf("size=%dm", mib) }
	info, err := os.Stat(executor().Exe)
	if err != nil {
		t.Fatal(err)
	}
	worker := int(info.Size() >> 20)
	mount("-t", "tmpfs", "-o", size(worker+4))
	defer func() {
		if out, err := exec.Command("umount", "--lazy", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	}()
	st := store.Open(dir)
	list := jobs(t, 12, func(_ int, s *squares.Spec) { s.Bytes = 1 << 20 })
	if _, err := run(t, executor(), st, list); !errors.Is(err, campaign.ErrFull) {
		t.Fatalf("%v, want ErrFull", err)
	}
	mount("-o", "remount,"+size(worker+100))
	if failed, err := run(t, executor(), st, list); err != nil || len(failed) > 0 {
		t.Fatalf("%v, failed %+v", err, failed)
	}
	squares.Check(t, st, squares.Below(12)...)
	if left, err := filepath.Glob(filepath.Join(dir, ".unfinished", "*")); err != nil || len(left) > 0 {
		t.Errorf("half-written files are left: %v, %v", left, err)
	}
}
