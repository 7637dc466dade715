package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/engine/rv64"
	"presage/perf/objfile"
)

// build compiles the program for the machine that it is profiled on.
func build(t *testing.T) (exe string) {
	t.Helper()
	exe = filepath.Join(t.TempDir(), "cg")
	cmd := exec.Command("go", "build", "-o", exe, ".")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return exe
}

// runs are command lines that the machines must agree on. riscv64 code has fused
// multiply-adds where amd64 code has none, yet the output must be the same. The
// last but one is beyond the 4 MB heap at which the collector would start: gctrace
// would show that.
var runs = []string{"-n 2", "-n 7", "-n 12 -iterations 300", "-n 33", "-n 5 -quiet", "-n 40 -iterations 2", "-n 1"}

// here returns what this machine prints, and the status.
func here(args string) (string, int) {
	var out bytes.Buffer
	status := run(strings.Fields(args), &out, &out)
	return out.String(), status
}

func TestEnginePrintsTheSame(t *testing.T) {
	f, err := objfile.Open(build(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range runs {
		var got bytes.Buffer
		res, err := rv64.Run(t.Context(), f, rv64.Options{
			Args: strings.Fields(args), Stdout: &got, Stderr: &got, Env: []string{"GODEBUG=gctrace=1"},
		})
		if err != nil {
			t.Fatalf("%s: %v\n%s", args, err, &got)
		}
		if want, status := here(args); got.String() != want || res.ExitCode != status {
			t.Errorf("%s: the engine printed\n%sstatus %d, here\n%sstatus %d", args, &got, res.ExitCode, want, status)
		}
	}
}

func TestQemuPrintsTheSame(t *testing.T) {
	qemu, err := exec.LookPath("qemu-riscv64")
	if err != nil {
		if os.Getenv("PRESAGE_REQUIRE_TOOLS") == "1" {
			t.Fatal("qemu-riscv64 is missing (Debian package qemu-user)")
		}
		t.Skip("qemu-riscv64 is missing (Debian package qemu-user)")
	}
	exe := build(t)
	for _, args := range runs {
		cmd := exec.Command(qemu, append([]string{exe}, strings.Fields(args)...)...)
		cmd.Env = append(os.Environ(), "GODEBUG=gctrace=1")
		got, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		if want, status := here(args); string(got) != want || cmd.ProcessState.ExitCode() != status {
			t.Errorf("%s: qemu printed\n%sstatus %d, here\n%sstatus %d", args, got, cmd.ProcessState.ExitCode(), want, status)
		}
	}
}
