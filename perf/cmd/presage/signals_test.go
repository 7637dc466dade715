package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"presage/perf/internal/child"
	"presage/perf/subject"
)

// asCommand makes the test binary run as the command. Its value is a file that appears
// once signals are heard.
const asCommand = "PRESAGE_TEST_AS_COMMAND"

// asPatient gives a command the time that it wants to end after a first signal.
const asPatient = "PRESAGE_TEST_AS_PATIENT"

// deaf is a command that heeds no cancellation and has started a program that heeds
// no interrupt.
const deaf = "deaf"

// orphan is deaf, too, and a worker that is told nothing more.
const orphan = "orphan"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "campaign" && os.Args[2] == "work" { // a pool's worker
		os.Exit(command(interruptible(context.Background(), patience)))
	}
	if ready := os.Getenv(asCommand); ready != "" {
		patience := patience
		if os.Getenv(asPatient) != "" {
			patience = time.Hour
		}
		ctx := interruptible(context.Background(), patience)
		if err := os.WriteFile(ready, nil, 0o644); err != nil {
			panic(err)
		}
		if len(os.Args) == 2 && os.Args[1] == deaf {
			os.Exit(hearNothing())
		}
		if len(os.Args) == 2 && os.Args[1] == orphan {
			_, _ = io.Copy(io.Discard, leashed(os.Stdin, nil, 50*time.Millisecond))
			os.Exit(hearNothing())
		}
		os.Exit(command(ctx))
	}
	os.Exit(m.Run())
}

func hearNothing() int {
	if err := child.Command(context.Background(), "sh", "-c", `trap "" INT TERM; while :; do sleep 0.01; done`).Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	select {}
}

// long holds a command line of every command that can work for long, with sizes or
// programs that make it. GUEST stands for an executable, PROFILES for stored profiles,
// OUT for a folder, and ; for a space.
var long = []string{
	"run GUEST spin",
	"profile GUEST --args spin;{n} --sweep n=1:50:1 -o OUT",
	"train GUEST --args spin;{n} --until n=1000 -o OUT",
	"predict PROFILES --machine origin2000 --at n=10:10009:1",
	"time PROFILES --machine origin2000 --at n=10:10009:1",
	"roofline PROFILES --machine origin2000 --at n=10:10009:1",
	"query PROFILES --machine origin2000 --level L2 --at n=10:10009:1",
	"simulate GUEST --args spin --machine zen4",
	"validate datasets/programs/bt --train n=12:40:4 --args -n;{n} --machine zen4 --at n=60",
	"report GUEST --args spin;{n} --sweep n=1:5:1 --machine zen4 -o OUT/page.html",
	"explore PROFILES --machine zen4",
	"explain PROFILES --machine origin2000 --at n=10:10009:1 -q",
	"advise GUEST --args spin;{n} --machine zen4 --at n=1",
	"analyze datasets/programs/bt",
	"check-strides GUEST spin",
	"annotate GUEST --args spin;{n} --machine zen4 --at n=1",
	"kernel datasets/programs/bt --routine main.main",
	"calibrate -o OUT/host.yaml",
	"measure perf/cmd/presage/testdata/guest --args spin;{n} --sweep n=1,2",
	"time-kernels datasets/iperf/builds.csv --sweep n=8:800:8",
	"simulate-kernels datasets/programs/iperf --variants datasets/iperf/variants.csv --sweep n=8:800:8",
	"simpoint GUEST --args spin",
	"metasim GUEST --args spin --machine zen4",
	"spmv costs datasets/programs/spmv",
	"spmv study --record OUT/study --matrices OUT --parts tuning",
	"spmv tune datasets/spmv/memplus.mtx.gz",
	"infer campaign --record OUT/campaign",
	"infer distances --data datasets/inferred",
	"infer baselines --data datasets/inferred --record OUT/baselines",
	"infer study --data datasets/inferred --record OUT/study",
	"infer predict GUEST --args spin --data datasets/inferred",
	"study GUEST --args spin;{n} --machine zen4 --train n=1:9:1 --at n=10 --curve n=1:9:1 --record OUT/study",
	"walltime datasets/native --machine datasets/native/host.yaml --record OUT/walltime",
	"judge datasets/suite/suite.yaml --machine zen4 --half open",
}

// short holds the other commands: they read or write some files and end.
var short = []string{
	"campaign attach", "campaign cancel", "campaign forecast", "campaign list", "campaign status", "headlines",
	"histogram", "kernel", "machines", "machines diff", "man", "parquet", "search-models", "spmv fetch", "store du", "store export", "store gc", "store import", "store ls", "store verify",
}

// TestEveryCommandIsInterrupted demands that a new command is added to one of the two.
func TestEveryCommandIsInterrupted(t *testing.T) {
	var missing func(c *cobra.Command)
	missing = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			missing(sub)
		}
		name := strings.TrimPrefix(c.CommandPath(), "presage ")
		begins := func(line string) bool { return strings.HasPrefix(line, name+" ") }
		if c.Runnable() && !c.Hidden && !slices.Contains(short, name) && !slices.ContainsFunc(long, begins) {
			t.Errorf("%s is neither among the commands that are interrupted nor among the short ones", name)
		}
	}
	missing(rootCommand())
}

// TestSignals interrupts commands, half of them with SIGINT and half with SIGTERM: once
// and, for the others, twice.
func TestSignals(t *testing.T) {
	profiles := filepath.Join(t.TempDir(), "profiles")
	must(t, "profile", "../../../datasets/programs/sweep3d", "--args", "-n {n} -iterations 1 -quiet", "--sweep", "n=5:10:1", "--machine", "zen4,origin2000,itanium2", "--carriers", "-q", "-o", profiles)
	guest := filepath.Join(t.TempDir(), "guest") // built here: a build would take the signal in place of the work
	if err := (subject.GoBuild{Dir: guestFolder, Target: subject.Guest}).Run(t.Context(), guest); err != nil {
		t.Fatal(err)
	}
	signals := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}
	for i, line := range append([]string{deaf}, long...) {
		if testing.Short() && i%6 != 0 {
			continue // slow to start under the race detector
		}
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			line := strings.NewReplacer("PROFILES", profiles, "GUEST", guest).Replace(line)
			if line != deaf {
				interrupt(t, line, signals[i%2])
			}
			interruptTwice(t, line, signals[1-i%2])
		})
	}
}

// interrupt interrupts a command, which must end soon, with the status that a shell
// expects, and leave no child behind.
func interrupt(t *testing.T, line string, sig syscall.Signal) {
	c := begin(t, line, "", nil)
	start := time.Now()
	c.signal(t, sig)
	c.wait(t, 128+int(sig))
	if d := time.Since(start); d > 20*time.Second { // a second, and a machine under load
		t.Errorf("ended after %v", d)
	}
	c.noHeirs(t)
}

// interruptTwice interrupts a command that has all the time to end in good order. Once
// a second signal comes it must end at once nevertheless, with all that it has started.
func interruptTwice(t *testing.T, line string, second syscall.Signal) {
	const (
		atOnce = 500 * time.Millisecond
		tries  = 5 // where the machine is busy
	)
	took := time.Duration(math.MaxInt64)
	for try := 0; try < tries && took > atOnce; try++ {
		c := begin(t, line, asPatient+"=1", nil)
		c.signal(t, syscall.SIGINT)
		start := time.Now()
		stop := c.repeat(second)
		c.wait(t, 130, 128+int(second)) // of the second, or of the first if that has ended the command
		took = time.Since(start)
		stop()
		c.noHeirs(t)
	}
	if took > atOnce {
		t.Errorf("%d times it took more than %v, the last time %v", tries, atOnce, took)
	}
}

// TestOrphanedWorker ends the standard input of a worker whose job heeds nothing. It
// ends, with what it has started; while its input goes on it works.
func TestOrphanedWorker(t *testing.T) {
	input, err := os.Open("/dev/zero")
	if err != nil {
		t.Skip(err)
	}
	defer input.Close()
	working := begin(t, orphan, "", input)
	if err := working.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("a worker ended though its input had not: %v", err)
	}
	alone := begin(t, orphan, "", nil)
	alone.wait(t, statusInterrupted)
	alone.noHeirs(t)
}

// interruptee is a command that runs and gets signals.
type interruptee struct {
	*exec.Cmd
	temp string // a folder of its own, which its environment names
	out  bytes.Buffer
}

// begin starts a command line, with more in its environment and on its standard input,
// and waits until it works.
func begin(t *testing.T, line, env string, input io.Reader) *interruptee {
	t.Helper()
	c := &interruptee{temp: t.TempDir()}
	var args []string
	for _, w := range strings.Fields(strings.ReplaceAll(line, "OUT", c.temp)) {
		args = append(args, strings.ReplaceAll(w, ";", " "))
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c.Cmd = exec.Command(exe, args...)
	c.Dir = "../../.."
	ready := filepath.Join(c.temp, "ready")
	c.Env = append(os.Environ(), asCommand+"="+ready, "PRESAGE_STORE="+filepath.Join(c.temp, "store"), "TMPDIR="+c.temp, env)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Stdin, c.Stdout, c.Stderr = input, &c.out, &c.out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(ready); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the command does not start")
		}
	}
	time.Sleep(500 * time.Millisecond) // until it works
	return c
}

func (c *interruptee) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := c.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
}

// repeat sends a signal until it is stopped: of two that come before the command has
// the processor, it hears one.
func (c *interruptee) repeat(sig syscall.Signal) (stop func()) {
	ended := make(chan struct{})
	go func() {
		for tick := time.Tick(30 * time.Millisecond); ; {
			select {
			case <-ended:
				return
			case <-tick:
				_ = c.Process.Signal(sig) // it may have ended
			}
		}
	}()
	return func() { close(ended) }
}

// wait waits until nobody holds the command's output any more, and demands one of
// some statuses.
func (c *interruptee) wait(t *testing.T, statuses ...int) {
	t.Helper()
	err := c.Wait()
	if status := c.ProcessState.ExitCode(); !slices.Contains(statuses, status) {
		t.Errorf("status %d, want %d: %v\n%s", status, statuses, err, c.out.String())
	}
}

// noHeirs demands that what the command has started ends.
func (c *interruptee) noHeirs(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); heirs(c.temp) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d processes remain", heirs(c.temp))
		}
	}
}

// heirs returns the number of processes with a text in their environment, which they
// inherited. Without /proc there are none to be seen.
func heirs(text string) int {
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		panic(err)
	}
	n := 0
	for _, f := range files {
		if environ, err := os.ReadFile(f); err == nil && bytes.Contains(environ, []byte(text)) {
			n++
		}
	}
	return n
}
