package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"presage/perf"
	"presage/perf/engine"
	"presage/perf/store"
	"presage/perf/trace"
)

// Exit statuses of presage run beside the program's own.
const (
	statusEngine      = 125 // the engine failed, not the program
	statusTimeout     = 124 // --timeout passed, as timeout(1) has it
	statusInterrupted = 130 // 128 + SIGINT
)

// exitStatus is an error that ends presage with a status, without a message.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// guest holds the flags of presage run.
type guest struct {
	request engine.Request
	dirs    dirFlag
	execution
	trace    bool
	stats    bool
	snapshot string // file
	at       uint64
	resume   string // file
	timeout  time.Duration
	quota    uint64
	analysis time.Duration // taken by --trace to find what to record
}

func runCommand() *cobra.Command {
	g := new(guest)
	cmd := &cobra.Command{
		Use:   "run [flags] PROGRAM [ARGUMENT]...",
		Short: "Run a program for linux/riscv64, or for this x86-64 computer",
		Long: `run executes PROGRAM, a static linux/riscv64 executable or the folder of a Go
main package, on the embedded engine. Everything after PROGRAM is the program's.
It has the standard input and output, no environment except --env, and no files
except those in --dir folders, of which device files, pipes and sockets need :dev,
too. Its name, argv[0], is the last part of PROGRAM, wherever that lies. Clocks,
timers and random numbers depend on nothing outside, so runs are repeatable.

An x86-64 program, static or dynamically linked, runs on an x86-64 Linux computer
by itself, not emulated: WITH YOUR RIGHTS. It can read, change and delete your
files, use the network and start other programs. --engine confined keeps it from
that: it can read the system's programs and libraries, its executable, and folders
that --dir grants at their own paths (--dir /data=/data:dev), write to no file, and
reach no other process and no network. It takes none of --memory, --stack and
snapshots, and --dir only when it is confined.

The exit status is the program's, 128 + the number of the signal that killed it
(139 after a fault, which is reported with routine, line and callers), 130 or 143
when SIGINT or SIGTERM interrupted the run, 124 after --timeout, or 125 if Presage
failed or a limit was reached. When the program fails, the files that it was not
allowed to open are listed.`,
		Example: `  presage run --stats ./sweep3d -n 30
  presage run --dir /data=./input --dir /out=./results:rw ./solver -o /out/x
  presage run --stack 67108864 ./fortran-with-large-arrays
  presage run --snapshot-at 1000000000 --snapshot late.snap ./sweep3d -n 30
  presage run --resume late.snap --trace --stats ./sweep3d -n 30`,
		Args: func(cmd *cobra.Command, args []string) error {
			return g.failing(cmd, cobra.MinimumNArgs(1)(cmd, args))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.failing(cmd, g.run(cmd, args[0], args[1:]))
		},
	}
	cmd.SetFlagErrorFunc(g.failing)
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.BoolVar(&g.trace, "trace", false, "record every memory reference, and discard the records")
	f.BoolVar(&g.stats, "stats", false, "at the end, write a key=value line about the run to standard error")
	f.StringArrayVar(&g.request.Env, "env", nil, "environment of the program, NAME=value; repeat for more (default none)")
	f.Var(&g.dirs, "dir", "grant a folder: GUEST=HOST, GUEST=HOST:rw to write there, GUEST=HOST:dev for its devices; repeat for more, the first is the working directory")
	f.Uint64Var(&g.request.MaxInstructions, "max-instructions", 0, "stop after this many instructions; 0: no limit")
	f.Uint64Var(&g.request.Memory, "memory", 0, fmt.Sprintf("address space in bytes (default %d)", engine.DefaultMemory))
	f.Uint64Var(&g.request.MemoryLimit, "memory-limit", 0, "most memory that the program may use, in bytes (default all of --memory)")
	f.Uint64Var(&g.request.Stack, "stack", 0, fmt.Sprintf("size of the stack in bytes (default %d)", engine.DefaultStack))
	f.Uint64Var(&g.request.Stack, "stack-bytes", 0, "the same, by the name that commands have whose --stack is about what is recorded")
	f.Uint64Var(&g.request.OutputLimit, "output-limit", 0, "stop when the program has written more bytes than that to its output; 0: no limit")
	f.Uint64Var(&g.quota, "quota", engine.DefaultQuota, "most bytes that the program may write into each granted folder")
	f.DurationVar(&g.timeout, "timeout", 0, "stop after this long, such as 90s or 10m; 0: no limit")
	g.execution.register(cmd)
	f.Uint64Var(&g.request.Seed, "seed", 0, "seed of the program's random numbers")
	f.StringVar(&g.snapshot, "snapshot", "", "file for a snapshot of the program's state; the run continues after it")
	f.Uint64Var(&g.at, "snapshot-at", 0, "take the snapshot after this many instructions")
	f.StringVar(&g.resume, "resume", "", "continue from the snapshot in this file")
	return cmd
}

// dirFlag is the repeated --dir flag.
type dirFlag struct {
	grants []engine.Grant
	text   []string
}

var _ pflag.Value = (*dirFlag)(nil)

func (d *dirFlag) String() string { return strings.Join(d.text, " ") }

func (d *dirFlag) Type() string { return "guest=host[:rw][:dev]" }

// Set implements pflag.Value.
func (d *dirFlag) Set(text string) error {
	g, err := readGrant(text)
	if err != nil {
		return err
	}
	d.grants, d.text = append(d.grants, g), append(d.text, text)
	return nil
}

// readGrant reads GUEST=HOST, :rw and :dev behind it or not.
func readGrant(text string) (engine.Grant, error) {
	inside, host, ok := strings.Cut(text, "=")
	host, devices := strings.CutSuffix(host, ":dev")
	host, write := strings.CutSuffix(host, ":rw")
	if !ok || host == "" || !path.IsAbs(inside) {
		return engine.Grant{}, errors.New("want an absolute path for the program, = and a folder, such as /data=./input")
	}
	return engine.Grant{Guest: inside, Host: host, Write: write, Devices: devices}, nil
}

func (g *guest) run(cmd *cobra.Command, path string, args []string) error {
	if g.timeout < 0 {
		return fmt.Errorf("--timeout %v is negative; 0 stands for no limit", g.timeout)
	}
	prog, err := openProgram(cmd.Context(), path)
	if err != nil {
		return err
	}
	e, err := g.choice().Engine(prog.File)
	if err != nil {
		return err
	}
	if g.trace {
		start := time.Now()
		if g.request.Plan, err = prog.Plan(); err != nil {
			return err
		}
		g.analysis = time.Since(start)
		g.request.Sink = trace.NewDirect()
	}
	if err := g.snapshots(e); err != nil {
		return err
	}
	if g.request.FreeThreads, err = g.free(); err != nil {
		return err
	}
	g.request.Args, g.request.Grants = args, g.dirs.grants
	for i := range g.request.Grants {
		g.request.Grants[i].Quota = g.quota
	}
	g.request.Stdin, g.request.Stdout, g.request.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	ctx := cmd.Context()
	if g.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, g.timeout)
		defer cancel()
	}
	res, err := execute(ctx, e, prog, g.request)
	if g.stats && res != nil {
		g.printStats(cmd.ErrOrStderr(), res)
	}
	return g.ending(cmd, res, err)
}

// execute runs the program. The engine cannot be interrupted while it reads the
// standard input; in that case its goroutine is abandoned.
func execute(ctx context.Context, e engine.Engine, prog *perf.Program, request engine.Request) (*engine.Outcome, error) {
	done := make(chan struct{})
	var out *engine.Outcome
	var err error
	go func() {
		defer close(done)
		out, err = e.Run(ctx, prog.File, request)
	}()
	select {
	case <-done:
		return out, err
	case <-ctx.Done():
	}
	select {
	case <-done:
		return out, err
	case <-time.After(time.Second):
		return nil, ctx.Err()
	}
}

// snapshots sets the options for --snapshot and --resume.
func (g *guest) snapshots(e engine.Engine) error {
	if (g.snapshot == "") != (g.at == 0) {
		return errors.New("--snapshot and --snapshot-at go together")
	}
	if g.snapshot != "" {
		g.request.SnapshotAt = []uint64{g.at}
		g.request.Snapshot = func(s engine.Snapshot) error {
			return store.WriteTo(g.snapshot, func(w io.Writer) error {
				_, err := s.WriteTo(w)
				return err
			})
		}
	}
	if g.resume == "" {
		return nil
	}
	reader, ok := e.(engine.Snapshotter)
	if !ok {
		return fmt.Errorf("--resume: the engine %v has no snapshots", e.Identity())
	}
	f, err := os.Open(g.resume)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	if g.request.Resume, err = reader.ReadSnapshot(f); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(g.resume), err)
	}
	return nil
}

// printStats writes one line about the run. The seconds are host time; those of the
// static analysis are apart.
func (g *guest) printStats(w io.Writer, r *engine.Outcome) {
	seconds := r.Elapsed.Seconds()
	executed := r.Instructions
	if g.request.Resume != nil {
		executed -= g.request.Resume.Instructions()
	}
	fmt.Fprintf(w, "instructions=%d references=%d traced=%t analysis_seconds=%.6f seconds=%.6f mips=%.1f mrefs=%.1f threads=%d unrecorded_processes=%d memory_bytes=%d status=%d signal=%d\n",
		r.Instructions, r.Accesses, g.trace, g.analysis.Seconds(), seconds, float64(executed)/seconds/1e6, float64(r.Accesses)/seconds/1e6,
		r.Threads, r.Processes, r.MemoryPeak, r.ExitCode, r.Signal)
}

// failing prints what kept Presage from running the program, and returns the status
// 125, so that a program's own status 1 is not mistaken for it.
func (g *guest) failing(cmd *cobra.Command, err error) error {
	if status := exitStatus(0); err == nil || errors.As(err, &status) || errors.Is(err, context.Canceled) {
		return err
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "presage:", ofRun.Replace(err.Error()))
	return exitStatus(statusEngine)
}

// ending reports how a run ended on standard error, and returns presage's exit status
// as an error, or nil for status 0.
func (g *guest) ending(cmd *cobra.Command, r *engine.Outcome, err error) error {
	w := cmd.ErrOrStderr()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		fmt.Fprintf(w, "presage: the program was stopped after %v (--timeout)\n", g.timeout)
		return exitStatus(statusTimeout)
	case errors.Is(err, context.Canceled):
		return exitStatus(interruptStatus(cmd.Context()))
	case r == nil:
		return err
	}
	for _, s := range r.UnknownSyscalls {
		fmt.Fprintln(w, "presage:", s)
	}
	late := g.snapshotTaken(r)
	if err == nil && r.ExitCode == 0 {
		return late
	}
	if late != nil {
		fmt.Fprintln(w, "presage:", late) // the program's own status counts
	}
	for _, f := range r.Refused {
		if r.ExitCode == 0 {
			break // the program did not fail by itself
		}
		fmt.Fprintln(w, "presage:", ofRun.Replace(f.String()))
	}
	for _, folder := range r.Full {
		fmt.Fprintf(w, "presage: the program may write no more into %s (--quota)\n", folder)
	}
	if err == nil {
		return exitStatus(r.ExitCode)
	}
	fmt.Fprintln(w, "presage:", ofRun.Replace(err.Error()))
	var fault *engine.Fault
	if !errors.As(err, &fault) {
		return exitStatus(statusEngine)
	}
	for _, f := range fault.Backtrace {
		fmt.Fprintf(w, "\t%v\n", f)
	}
	return exitStatus(r.ExitCode)
}

// snapshotTaken returns an error if the program ended before its snapshot.
func (g *guest) snapshotTaken(r *engine.Outcome) error {
	if g.snapshot == "" || r.Instructions >= g.at {
		return nil
	}
	return fmt.Errorf("no snapshot was taken: the program ended after %d instructions, --snapshot-at is %d", r.Instructions, g.at)
}
