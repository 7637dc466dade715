package rv64

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"presage/perf/engine"
	"presage/perf/internal/oracle"
	"presage/perf/objfile"
)

func edges(t *testing.T) *objfile.File {
	t.Helper()
	p := program{name: "edges", tool: "riscv64-linux-gnu-gcc", args: []string{"-static", "-O1"}, after: []string{"testdata/c/edges.c"}}
	f, err := objfile.Open(p.build(t))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestTimersAndFiles runs a program that checks what the system calls do; timers
// must interrupt it at the same instruction in both modes.
func TestTimersAndFiles(t *testing.T) {
	f := edges(t)
	for _, what := range []string{"alarms", "timers", "folders", "quota", "gaps"} {
		t.Run(what, func(t *testing.T) {
			var executed []uint64
			for _, mode := range modes(t) {
				in, out := t.TempDir(), t.TempDir()
				if err := syscall.Mkfifo(filepath.Join(in, "pipe"), 0o644); err != nil {
					t.Skip(err)
				}
				opt := options{mode: mode, Request: engine.Request{Args: []string{what}, Grants: []engine.Grant{
					{Guest: "/out", Host: out, Write: true, Quota: 64 << 10}, {Guest: "/in", Host: in},
				}}}
				got, r, err := runGuest(t, f, opt)
				if err != nil || got != "ok\n" {
					t.Fatalf("mode %v: %q, %v", mode, got, err)
				}
				executed = append(executed, r.Instructions)
				if full := what == "quota" || what == "gaps"; full != slices.Equal(r.Full, []string{"/out"}) {
					t.Errorf("full: %v", r.Full)
				}
				if what == "folders" {
					checkRefused(t, r.Refused)
				}
			}
			if len(slices.Compact(executed)) != 1 {
				t.Errorf("%d instructions", executed)
			}
		})
	}
}

func checkRefused(t *testing.T, got []engine.RefusedFile) {
	t.Helper()
	want := []engine.RefusedFile{
		{Path: "/in/pipe", Reason: "it is a device, pipe or socket", Count: 2},
		{Path: "/etc/passwd", Reason: "no granted folder holds it", Count: 1},
	}
	if !slices.Equal(got, want) {
		t.Errorf("refused %v, want %v", got, want)
	}
}

// TestTimersInSnapshots stops a program while timers are armed, and resumes it.
func TestTimersInSnapshots(t *testing.T) {
	f := edges(t)
	for _, what := range []string{"alarms", "timers"} {
		whole, _, err := runGuest(t, f, options{Request: engine.Request{Args: []string{what}}})
		if err != nil {
			t.Fatal(err)
		}
		full, err := run(t.Context(), f, options{Request: engine.Request{Args: []string{what}}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(8) {
			at := full.Instructions * (i + 1) / 9
			var taken engine.Snapshot
			opt := options{Request: engine.Request{Args: []string{what}, SnapshotAt: []uint64{at}, Snapshot: func(s engine.Snapshot) error {
				taken = through(t, s.(*Snapshot))
				return nil
			}}}
			if _, err := run(t.Context(), f, opt); err != nil {
				t.Fatal(err)
			}
			got, r, err := runGuest(t, f, options{Request: engine.Request{Args: []string{what}, Resume: taken}})
			if err != nil || got != whole || r.Instructions != full.Instructions {
				t.Errorf("%s from %d: %q after %d instructions (%v), want %q after %d", what, at, got, r.Instructions, err, whole, full.Instructions)
			}
		}
	}
}

// TestStack runs programs that need more stack than there is by default.
func TestStack(t *testing.T) {
	f := edges(t)
	const mib = 1 << 20
	for _, test := range []struct {
		args  string
		stack uint64
		out   string
		fault bool
	}{
		{args: "limit", out: "8388608\nok\n"},
		{args: "limit", stack: 64 * mib, out: "67108864\nok\n"},
		{args: "deep 6000", out: "ok\n"},
		{args: "deep 12000", fault: true},
		{args: "deep 12000", stack: 64 * mib, out: "ok\n"},
		{args: "deep 1200", stack: 1 * mib, fault: true},
		{args: "large", fault: true},
		{args: "large", stack: 64 * mib, out: "ok\n"},
	} {
		opt := options{Request: engine.Request{Args: strings.Fields(test.args), Stack: test.stack}}
		out, _, err := runGuest(t, f, opt)
		var fault *engine.Fault
		if out != test.out || errors.As(err, &fault) != test.fault || test.fault && (fault.Stack == 0 || !strings.Contains(err.Error(), "stack overflow")) {
			t.Errorf("%s with a stack of %d: %q, %v", test.args, test.stack, out, err)
		}
	}
	if _, _, err := runGuest(t, f, options{Request: engine.Request{Args: []string{"null"}}}); err == nil || strings.Contains(err.Error(), "overflow") {
		t.Errorf("null pointer: %v", err)
	}
	for _, bad := range []uint64{1, 4096, 3 << 30} {
		if _, err := run(t.Context(), f, options{Request: engine.Request{Stack: bad}}); err == nil || !strings.Contains(err.Error(), "Stack is") {
			t.Errorf("stack of %d: %v", bad, err)
		}
	}
}

func TestOutputLimit(t *testing.T) {
	var n countWriter
	r, err := run(t.Context(), hostile(t), options{Request: engine.Request{Args: []string{"flood"}, Stdout: &n, OutputLimit: 100_000}})
	if !errors.Is(err, engine.ErrOutputLimit) || n != 100_000 || r == nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// TestCarrylessMultiply compares Zbc with qemu.
func TestCarrylessMultiply(t *testing.T) {
	oracle.Need(t, qemu)
	source := filepath.Join(t.TempDir(), "zbc.c")
	text := `#include <stdint.h>
#include <stdio.h>
int main(void)
{
	uint64_t a = 0x9e3779b97f4a7c15, b = 1, hash = 0;
	for (int i = 0; i < 3000; i++) {
		uint64_t l, h, r;
		asm("clmul %0, %1, %2" : "=r"(l) : "r"(a), "r"(b));
		asm("clmulh %0, %1, %2" : "=r"(h) : "r"(a), "r"(b));
		asm("clmulr %0, %1, %2" : "=r"(r) : "r"(a), "r"(b));
		hash = hash * 31 + l ^ h * 7 ^ r * 13;
		a = l ^ h << 1, b = b * 6364136223846793005 + r;
	}
	printf("%016lx\n", hash);
}
`
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	path := program{name: "zbc", tool: "riscv64-linux-gnu-gcc", args: []string{"-static", "-O1", "-march=rv64gc_zbc"}, after: []string{source}}.build(t)
	out, err := exec.Command(qemu, "-cpu", "rv64,zbc=true", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := string(out)
	f, err := objfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range modes(t) {
		if got, _, err := runGuest(t, f, options{mode: mode}); err != nil || got != want {
			t.Errorf("mode %v: %q, %v; qemu %q", mode, got, err, want)
		}
	}
}
