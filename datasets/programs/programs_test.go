// Package programs_test runs the programs below this folder on the machine that
// they are profiled on, and on this one.
package programs_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	contract "presage/perf/engine"
	"presage/perf/engine/rv64"
	"presage/perf/objfile"
)

// runs are command lines that the machines must agree on: riscv64 code has fused
// multiply-adds where amd64 code has none, yet the output must be the same. The
// last is refused; the one before it uses more than the 4 MB of heap at which
// the garbage collector would start, which gctrace would show (ep never does).
var runs = map[string][]string{
	"compressor": {"-n 1", "-n 40 -block 16", "-n 100", "-n 20 -quiet", "-n 300", "-n 0"},
	"bt":         {"-n 6", "-n 7 -max 9 -structure 2.3", "-n 13 -iterations 2", "-class S -quiet", "-n 24 -iterations 1 -structure 2.3", "-n 5"},
	"cg":         {"-n 2", "-n 7", "-n 12 -iterations 300", "-n 33", "-n 5 -quiet", "-n 40 -iterations 2", "-n 1"},
	"ep":         {"-n 8", "-n 17", "-n 10 -quiet", "-n 7"},
	"ft":         {"-n 4", "-n 32 -ny 8 -nz 2 -iterations 3", "-n 2 -ny 64", "-n 8 -quiet", "-n 64 -ny 32 -iterations 1", "-n 3"},
	"iperf":      {"-n 1", "-n 13 -variant optimised", "-n 33 -variant interchanged", "-n 20 -quiet", "-n 800", "-variant best"},
	"is":         {"-n 8", "-n 12 -keys 4 -iterations 15", "-class S", "-n 10 -quiet", "-n 19 -iterations 2", "-n 7"},
	"lu":         {"-n 10", "-class S", "-class S -order hyperplane -max 15", "-n 13 -iterations 3 -dt 0.01", "-n 11 -quiet", "-n 40 -iterations 2 -order hyperplane", "-n 9"},
	"matmul":     {"-n 1", "-n 7 -block 3", "-n 33 -repeat 2", "-n 80", "-n 7 -quiet", "-n 500 -repeat 1 -block 64", "-n 0"},
	"mg":         {"-n 4", "-n 8 -iterations 20", "-class S", "-n 16 -quiet", "-n 64 -iterations 1", "-n 24"},
	"npbcg":      {"-n 100", "-n 500 -nonzer 2 -iterations 40", "-n 1000 -shift 20", "-n 200 -quiet", "-n 4000 -iterations 1", "-n 99"},
	"planted":    {"-n 1", "-n 100", "-n 70 -mend 2", "-n 33 -mend 4", "-n 20 -quiet", "-n 800 -mend 3", "-mend 5"},
	"sp":         {"-n 6", "-n 7 -max 9 -structure 2.3", "-n 13 -iterations 2", "-class S -quiet", "-n 32 -iterations 1 -structure 2.3", "-n 5"},
	"sweep3d":    {"-n 2", "-n 7 -mk 3", "-n 20 -iterations 2", "-n 10 -sigt 3 -fixup=false", "-n 40 -iterations 1 -quiet", "-n 1"},
	"spmv":       {"-n 1", "-n 50 -r 3 -c 5", "-n 700 -r 8 -c 8 -repeat 3", "-n 9 -r 1 -c 1 -quiet", "-n 20000 -r 6 -c 3", "-n 4 -r 9"},
	"alphabeta":  {"-depth 2 -moves 3", "-depth 4 -moves 9 -opening 20", "-depth 3 -moves 60 -opening 40 -table 4", "-depth 2 -moves 2 -quiet", "-depth 2 -moves 1 -table 19", "-depth 0"},
	"blocksort":  {"-n 2", "-n 5000 -input noise", "-n 20000 -blocks 1 -input runs", "-n 3000 -quiet", "-n 400000 -blocks 1", "-n 1"},
	"events":     {"-n 1 -stations 1 -jobs 1", "-n 20000 -network ring", "-n 20000 -network star -stations 9", "-n 5000 -quiet", "-n 100 -jobs 400000", "-n 0"},
	"sources":    {"-n 1", "-input json -n 5", "-input expressions -n 50", "-input json -n 1 -quiet", "-input go -n 4", "-input xml"},
	"shortest":   {"-n 4", "-n 40 -map open -greedy 0", "-n 70 -map maze -searches 9", "-n 30 -quiet", "-n 400 -searches 1", "-n 3"},
}

const gctrace = "GODEBUG=gctrace=1"

// machine runs a program with arguments and returns all that it printed.
type machine func(args []string) (output string, status int, err error)

func build(t *testing.T, program string, env ...string) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), program)
	cmd := exec.Command("go", "build", "-o", exe, "./"+program)
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return exe
}

func command(name string, first ...string) machine {
	return func(args []string) (string, int, error) {
		cmd := exec.Command(name, append(first, args...)...)
		cmd.Env = append(os.Environ(), gctrace)
		out, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			return string(out), exit.ExitCode(), nil
		}
		return string(out), 0, err
	}
}

func engine(t *testing.T, exe string) machine {
	f, err := objfile.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	return func(args []string) (string, int, error) {
		var out bytes.Buffer
		res, err := rv64.Engine{}.Run(t.Context(), f, contract.Request{Args: args, Stdout: &out, Stderr: &out, Env: []string{gctrace}})
		if err != nil {
			return out.String(), 0, err
		}
		return out.String(), res.ExitCode, nil
	}
}

func TestMachinesPrintTheSame(t *testing.T) {
	qemu, err := exec.LookPath("qemu-riscv64")
	if err != nil && os.Getenv("PRESAGE_REQUIRE_TOOLS") == "1" {
		t.Fatal("qemu-riscv64 is missing (Debian package qemu-user)")
	}
	for _, program := range folders(t) {
		t.Run(program, func(t *testing.T) {
			lines := runs[program]
			if len(lines) == 0 {
				t.Fatal("no runs are listed for this program")
			}
			if testing.Short() {
				lines = append(lines[:1:1], lines[len(lines)-1])
			}
			here := command(build(t, program))
			exe := build(t, program, "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0")
			others := map[string]machine{"the engine": engine(t, exe)}
			if qemu != "" {
				others["qemu"] = command(qemu, exe)
			}
			for i, line := range lines {
				args := strings.Fields(line)
				want, status, err := here(args)
				if err != nil {
					t.Fatal(err)
				}
				if refused := i == len(lines)-1; (status == 2) != refused || !refused && !strings.HasSuffix(want, "verification: successful\n") {
					t.Errorf("%s: status %d\n%s", line, status, want)
				}
				for name, run := range others {
					if got, s, err := run(args); err != nil || got != want || s != status {
						t.Errorf("%s: %s printed\n%sstatus %d (%v), here\n%sstatus %d", line, name, got, s, err, want, status)
					}
				}
			}
		})
	}
}

// folders returns the names of the programs.
func folders(t *testing.T) []string {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		mains, err := filepath.Glob(filepath.Join(e.Name(), "*.go")) // none in internal, nor for other languages
		if err != nil {
			t.Fatal(err)
		}
		if len(mains) > 0 {
			names = append(names, e.Name())
		}
	}
	return names
}
