package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The program as it will be profiled, on another implementation of the machine:
// riscv64 code has fused multiply-adds where amd64 code has none, yet the output
// must be the same.
func TestRISCVPrintsTheSame(t *testing.T) {
	qemu, err := exec.LookPath("qemu-riscv64")
	if err != nil {
		if os.Getenv("PRESAGE_REQUIRE_TOOLS") == "1" {
			t.Fatal("qemu-riscv64 is missing (Debian package qemu-user)")
		}
		t.Skip("qemu-riscv64 is missing (Debian package qemu-user)")
	}
	exe := filepath.Join(t.TempDir(), "sweep3d")
	build := exec.Command("go", "build", "-o", exe, ".")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, args := range []string{"-n 2", "-n 7 -mk 3", "-n 20 -iterations 2", "-n 10 -sigt 3 -fixup=false"} {
		got, err := exec.Command(qemu, append([]string{exe}, strings.Fields(args)...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", args, err, got)
		}
		var want bytes.Buffer
		if status := run(strings.Fields(args), &want, &want); status != exitOK {
			t.Fatalf("%s: exit status %d here", args, status)
		}
		if string(got) != want.String() {
			t.Errorf("%s: riscv64 printed\n%shere\n%s", args, got, &want)
		}
	}
	// 6.6 MB, above the 4 MB heap at which the collector would start.
	quiet := exec.Command(qemu, exe, "-n", "40", "-iterations", "1", "-quiet")
	quiet.Env = append(os.Environ(), "GODEBUG=gctrace=1")
	if got, err := quiet.CombinedOutput(); err != nil || string(got) != "verification: successful\n" {
		t.Errorf("n 40 with gctrace=1 printed %q (%v): the collector must not run", got, err)
	}
	if err := exec.Command(qemu, exe, "-n", "1").Run(); fmt.Sprint(err) != "exit status 2" {
		t.Errorf("-n 1: %v, want exit status 2", err)
	}
}
