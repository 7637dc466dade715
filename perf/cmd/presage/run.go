package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"presage/perf"
	"presage/perf/engine"
	"presage/perf/engine/engines"
	"presage/perf/store"
	"presage/perf/trace"
)

// Exit statuses of presage run beside the program's own.
const (
	statusEngine      = 125 // the engine failed, not the program
	statusInterrupted = 130 // 128 + SIGINT
)

// exitStatus is an error that ends presage with a status, without a message.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// guest holds the flags of presage run.
type guest struct {
	request  engine.Request
	dirs     dirFlag
	engine   string // name
	trace    bool
	stats    bool
	snapshot string // file
	at       uint64
	resume   string // file
}

func runCommand() *cobra.Command {
	g := new(guest)
	cmd := &cobra.Command{
		Use:   "run [flags] PROGRAM [ARGUMENT]...",
		Short: "Run a linux/riscv64 program as if it were native",
		Long: `run executes PROGRAM, a static linux/riscv64 executable or the folder of a Go
main package, on the embedded engine. Everything after PROGRAM is the program's.
It has the standard input and output, no environment except --env, and no files
except those in --dir folders. Clocks and random numbers depend on nothing
outside, so runs are repeatable.

The exit status is the program's, 128 + the number of the signal that killed it
(139 after a fault, which is reported with routine, line and callers), 130 when
interrupted, or 125 if the engine failed or a limit was reached.`,
		Example: `  presage run --stats ./sweep3d -n 30
  presage run --dir /data=./input --dir /out=./results:rw ./solver -o /out/x
  presage run --snapshot-at 1000000000 --snapshot late.snap ./sweep3d -n 30
  presage run --resume late.snap --trace --stats ./sweep3d -n 30`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.run(cmd, args[0], args[1:])
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.StringVar(&g.engine, "engine", "auto", "how to execute: auto, interp (interpreter) or jit (just-in-time compiler)")
	f.BoolVar(&g.trace, "trace", false, "record every memory reference, and discard the records")
	f.BoolVar(&g.stats, "stats", false, "at the end, write a key=value line about the run to standard error")
	f.StringArrayVar(&g.request.Env, "env", nil, "environment of the program, NAME=value; repeat for more (default none)")
	f.Var(&g.dirs, "dir", "grant a folder: GUEST=HOST, or GUEST=HOST:rw to write there; repeat for more, the first is the working directory")
	f.Uint64Var(&g.request.MaxInstructions, "max-instructions", 0, "stop after this many instructions; 0: no limit")
	f.Uint64Var(&g.request.Memory, "memory", 0, fmt.Sprintf("address space in bytes (default %d)", engine.DefaultMemory))
	f.Uint64Var(&g.request.MemoryLimit, "memory-limit", 0, "most memory that the program may use, in bytes (default all of --memory)")
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

func (d *dirFlag) Type() string { return "guest=host[:rw]" }

// Set implements pflag.Value.
func (d *dirFlag) Set(text string) error {
	inside, host, ok := strings.Cut(text, "=")
	host, write := strings.CutSuffix(host, ":rw")
	if !ok || host == "" || !strings.HasPrefix(inside, "/") {
		return errors.New("want an absolute path for the program, = and a folder, such as /data=./input or /out=./results:rw")
	}
	d.grants = append(d.grants, engine.Grant{Guest: inside, Host: host, Write: write})
	d.text = append(d.text, text)
	return nil
}

func (g *guest) run(cmd *cobra.Command, path string, args []string) error {
	prog, err := openProgram(cmd.Context(), path)
	if err != nil {
		return err
	}
	e, err := engines.Named(prog.File, g.engine)
	if unknown := new(engines.UnknownError); errors.As(err, &unknown) {
		return fmt.Errorf("--%w", unknown) // begins with the flag's name
	}
	if err != nil {
		return err
	}
	if g.trace {
		if g.request.Plan, err = prog.Plan(); err != nil {
			return err
		}
		g.request.Sink = trace.NewDirect()
	}
	if err := g.snapshots(e); err != nil {
		return err
	}
	g.request.Args, g.request.Grants = args, g.dirs.grants
	g.request.Stdin, g.request.Stdout, g.request.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	res, err := execute(cmd.Context(), e, prog, g.request)
	if g.stats && res != nil {
		g.printStats(cmd.ErrOrStderr(), res)
	}
	return g.ending(cmd.ErrOrStderr(), res, err)
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

// printStats writes one line about the run. The seconds are host time.
func (g *guest) printStats(w io.Writer, r *engine.Outcome) {
	seconds := r.Elapsed.Seconds()
	executed := r.Instructions
	if g.request.Resume != nil {
		executed -= g.request.Resume.Instructions()
	}
	fmt.Fprintf(w, "instructions=%d references=%d traced=%t seconds=%.6f mips=%.1f mrefs=%.1f threads=%d memory_bytes=%d status=%d signal=%d\n",
		r.Instructions, r.Accesses, g.trace, seconds, float64(executed)/seconds/1e6, float64(r.Accesses)/seconds/1e6,
		r.Threads, r.MemoryPeak, r.ExitCode, r.Signal)
}

// ending reports how a run ended on w, and returns presage's exit status as an
// error, or nil for status 0.
func (g *guest) ending(w io.Writer, r *engine.Outcome, err error) error {
	if errors.Is(err, context.Canceled) {
		return exitStatus(statusInterrupted)
	}
	if r == nil {
		if err != nil {
			fmt.Fprintln(w, "presage:", err)
		}
		return exitStatus(statusEngine)
	}
	for _, s := range r.UnknownSyscalls {
		fmt.Fprintln(w, "presage:", s)
	}
	if err == nil && r.ExitCode == 0 {
		return nil
	}
	if err == nil {
		return exitStatus(r.ExitCode)
	}
	fmt.Fprintln(w, "presage:", err)
	var fault *engine.Fault
	if !errors.As(err, &fault) {
		return exitStatus(statusEngine)
	}
	for _, f := range fault.Backtrace {
		fmt.Fprintf(w, "\tcalled from %s, pc %#x\n", f.Routine, f.PC)
	}
	return exitStatus(r.ExitCode)
}
