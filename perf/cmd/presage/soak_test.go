package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"presage/perf"
	"presage/perf/machine"
	"presage/perf/store"
)

var soakTime = flag.Duration("soak", 3*time.Second, "how long TestSoak works; make soak: an hour")

// soakTask is a command whose output is the same bytes whenever it ends.
type soakTask struct {
	name string
	args []string
}

const soakProgram = "../../testdata/stored/program"

// soakTasks returns commands of many kinds: some need what others leave in the store
// and in the folder of profiles, and make it themselves if it is not there.
func soakTasks(profiles string) []soakTask {
	sweep := []string{"--args", "{n} 2", "--sweep", "n=12,16,20,25,30"}
	at := []string{"--args", "{n} 2", "--at", "n=40"}
	profile := func(name, folder string, more ...string) soakTask {
		return soakTask{name: name, args: slices.Concat([]string{"profile", soakProgram, "-o", filepath.Join(profiles, folder)}, sweep, more)}
	}
	return []soakTask{
		profile("profile", "whole"),
		profile("profile, sampled", "sampled", "--sample", "4"),
		{name: "predict", args: []string{"predict", filepath.Join(profiles, "whole"), "--machine", "origin2000", "--at", "n=40,60"}},
		{name: "histogram", args: []string{"histogram", filepath.Join(profiles, "whole"), "--hottest", "5"}},
		{name: "simulate", args: slices.Concat([]string{"simulate", soakProgram, "--machine", "zen4", "--args", "40 2"})},
		{name: "validate", args: slices.Concat([]string{"validate", soakProgram, "--machine", "origin2000", "--train", "n=12,16,20,25,30"}, at)},
		{name: "analyze", args: []string{"analyze", soakProgram}},
		{name: "analyze, built", args: []string{"analyze", "../../../datasets/programs/shortest"}},
		{name: "simpoint", args: []string{"simpoint", soakProgram, "--args", "30 4", "--interval", "50000"}},
		{name: "run", args: []string{"run", soakProgram, "60", "3"}},
		{name: "run, traced", args: []string{"run", "--trace", soakProgram, "60", "1"}},
	}
}

// soak is the work of TestSoak, and what was seen of it.
type soak struct {
	t      *testing.T
	store  string
	tasks  []soakTask
	want   [][]byte
	end    time.Time
	mutex  sync.Mutex
	done   int
	killed int
	memory map[string][]int64 // most resident bytes of each process, by task, in turn; at least this process's, which it began as
}

// command returns the process of a task, on the shared store or one of its own.
func (s *soak) command(task soakTask, st string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], task.args...)
	cmd.Env = append(os.Environ(), asCommand+"="+os.DevNull, "PRESAGE_STORE="+st)
	return cmd
}

// reference runs every task once, alone, in a store of its own.
func (s *soak) reference() {
	s.t.Helper()
	fresh := s.t.TempDir()
	for _, task := range soakTasks(filepath.Join(fresh, "profiles")) {
		cmd := s.command(task, filepath.Join(fresh, "store"))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			s.t.Fatalf("%s: %v\n%s", task.name, err, &stderr)
		}
		s.want = append(s.want, out)
	}
}

// complaints are what no command may write to standard error whose processes were
// killed at any time: that something in a store was of no use.
var complaints = []string{"checksum", "not an entry", "profile again", "computed again", "was not kept", "panic", "fatal error", "DATA RACE"}

// worker runs tasks at random, and kills one in three.
func (s *soak) worker(rng *rand.Rand) {
	for time.Now().Before(s.end) && !s.t.Failed() {
		i := rng.IntN(len(s.tasks))
		// What reads profiles cannot be done before they are there.
		if i > 1 && rng.IntN(4) == 0 {
			i = rng.IntN(2)
		}
		kill := time.Duration(0)
		if rng.IntN(3) == 0 {
			kill = time.Duration(rng.IntN(400)) * time.Millisecond
		}
		s.once(i, kill, rng.IntN(2) == 0)
	}
}

// once runs a task to its end, or kills it after a while, hard or by a signal.
func (s *soak) once(i int, kill time.Duration, hard bool) {
	task := s.tasks[i]
	cmd := s.command(task, s.store)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 10 * time.Second // children that hold the output after a kill
	if err := cmd.Start(); err != nil {
		s.t.Error(err)
		return
	}
	if kill > 0 {
		timer := time.AfterFunc(kill, func() {
			if hard {
				_ = cmd.Process.Kill()
			} else {
				_ = cmd.Process.Signal(syscall.SIGTERM)
			}
		})
		defer timer.Stop()
	}
	err := cmd.Wait()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	status := cmd.ProcessState.ExitCode()
	if err == nil && bytes.Equal(stdout.Bytes(), s.want[i]) {
		s.done++
		usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		if ok && kill == 0 {
			s.memory[task.name] = append(s.memory[task.name], usage.Maxrss<<10)
		}
	} else if kill > 0 && (status == -1 || status == 143) {
		s.killed++
	} else if strings.Contains(stderr.String(), "holds no profiles") {
		return // a sweep was not finished yet
	} else {
		s.t.Errorf("%s: status %d, %v\n%s\noutput\n%s\nwant\n%s", task.name, status, err, &stderr, &stdout, s.want[i])
	}
	for _, c := range complaints {
		if strings.Contains(stderr.String(), c) {
			s.t.Errorf("%s says %q:\n%s", task.name, c, &stderr)
		}
	}
}

// process is what a process holds.
type process struct {
	heap, resident, files, mappings, goroutines int
}

func holds() process {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	p := process{heap: int(m.HeapAlloc), goroutines: runtime.NumGoroutine()}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		p.files = len(files)
	}
	if maps, err := os.ReadFile("/proc/self/maps"); err == nil {
		p.mappings = bytes.Count(maps, []byte("\n"))
	}
	var pages int
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if _, err := fmt.Sscan(strings.Fields(string(text))[1], &pages); err == nil {
			p.resident = pages * os.Getpagesize()
		}
	}
	return p
}

// notebook predicts again and again in this process, as a notebook does, some of the
// time with a store that has forgotten everything. It returns what the process held
// after each round.
func (s *soak) notebook(ctx context.Context) ([]process, error) {
	var after []process
	var want string
	m, err := perf.FindMachine("origin2000")
	if err != nil {
		return nil, err
	}
	for round := 0; (round < 3 || time.Now().Before(s.end)) && !s.t.Failed(); round++ {
		dir := s.store
		if round%2 == 0 {
			if dir, err = os.MkdirTemp("", "presage-soak-"); err != nil {
				return nil, err
			}
		}
		got, err := predictOnce(ctx, store.Open(dir), m)
		if dir != s.store {
			err = errors.Join(err, os.RemoveAll(dir))
		}
		if err != nil {
			return nil, err
		}
		if want == "" {
			want = got
		}
		if got != want {
			return nil, fmt.Errorf("round %d predicts\n%s\nbefore\n%s", round, got, want)
		}
		after = append(after, holds())
	}
	return after, nil
}

// predictOnce goes from the executable to predicted and simulated misses.
func predictOnce(ctx context.Context, st *store.Store, m *machine.Machine) (string, error) {
	prog, err := perf.Open(soakProgram)
	if err != nil {
		return "", err
	}
	run := perf.RunOptions{Args: "{n} 2", Store: st}
	runs, err := perf.Profile(ctx, prog, perf.Sweep("n", 12, 16, 20, 25, 30), perf.ProfileOptions{RunOptions: run, BlockBytes: m.BlockBytes()})
	if err != nil {
		return "", err
	}
	model, err := perf.FitScaling(ctx, runs, perf.FitOptions{Store: st})
	if err != nil {
		return "", err
	}
	predicted, err := perf.PredictMisses(ctx, model, m, perf.Sweep("n", 50), perf.PredictOptions{})
	if err != nil {
		return "", err
	}
	simulated, err := perf.SimulateMisses(ctx, prog, m, perf.Sweep("n", 50), perf.SimulateOptions{RunOptions: run})
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	if err := errors.Join(predicted.WriteCSV(&text), simulated.WriteCSV(&text)); err != nil {
		return "", err
	}
	return text.String(), nil
}

// TestSoak predicts for a while in three ways at once on one store: two loops of
// commands that are killed at any moment and begun again, and one in this process.
// Every result must be the same bytes as alone, no command may find anything damaged,
// and neither the commands nor this process may need more memory, files, mappings or
// goroutines at the end than at the beginning.
//
//	make soak SOAK=1h
func TestSoak(t *testing.T) {
	base := t.TempDir()
	s := &soak{
		t: t, store: filepath.Join(base, "store"), tasks: soakTasks(filepath.Join(base, "profiles")),
		memory: make(map[string][]int64),
	}
	t.Setenv("PRESAGE_STORE", s.store)
	s.reference()
	s.end = time.Now().Add(*soakTime)
	var all sync.WaitGroup
	for seed := range uint64(2) {
		all.Go(func() { s.worker(rand.New(rand.NewPCG(seed, 25))) })
	}
	after, err := s.notebook(t.Context())
	all.Wait()
	if err != nil {
		t.Fatal(err)
	}
	rounds := len(after)
	t.Logf("%d commands done, %d killed, %d rounds in this process", s.done, s.killed, rounds)
	if s.done == 0 && *soakTime >= time.Minute {
		t.Error("no command was done")
	}
	first, last := highest(after[:(rounds+1)/2]), highest(after[rounds/2:])
	t.Logf("held in the first half %+v, in the second %+v", first, last)
	if rounds < 40 {
		return // too few to tell growth from warming up
	}
	for what, pair := range map[string][2]int{
		"bytes of heap": {first.heap, last.heap}, "resident bytes": {first.resident, last.resident},
		"files": {first.files, last.files}, "mappings": {first.mappings, last.mappings}, "goroutines": {first.goroutines, last.goroutines},
	} {
		if float64(pair[1]) > slack*float64(pair[0])+8 {
			t.Errorf("%s grow: %d in the first half, %d in the second", what, pair[0], pair[1])
		}
	}
	for task, bytes := range s.memory {
		half := len(bytes) / 2
		if half < 10 {
			continue
		}
		a, b := slices.Max(bytes[:half]), slices.Max(bytes[half:])
		t.Logf("%s: %d and %d MiB in %d processes", task, a>>20, b>>20, len(bytes))
		if float64(b) > slack*float64(a) {
			t.Errorf("%s needs more and more memory: at most %d bytes in the first half, %d in the second", task, a, b)
		}
	}
}

// slack is how much more the second half may hold than the first: collections of
// garbage begin at other moments each time.
const slack = 1.25

// highest returns the most that was held of each.
func highest(all []process) process {
	var most process
	for _, p := range all {
		most = process{
			max(most.heap, p.heap), max(most.resident, p.resident), max(most.files, p.files),
			max(most.mappings, p.mappings), max(most.goroutines, p.goroutines),
		}
	}
	return most
}
