package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"presage/perf/internal/oracle"
)

const guestFolder = "testdata/guest"

// guestC compiles one of the engine's test programs.
func guestC(t *testing.T, name string, flags ...string) string {
	t.Helper()
	gcc := oracle.Need(t, "riscv64-linux-gnu-gcc")
	exe := filepath.Join(t.TempDir(), name)
	args := append(flags, "-static", "-o", exe, "../../engine/rv64/testdata/c/"+name+".c")
	if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe
}

// runStatus runs the command in this process and returns the status that it
// would exit with.
func runStatus(ctx context.Context, stdin io.Reader, args ...string) (stdout, stderr string, status int) {
	var out, errs bytes.Buffer
	cmd := rootCommand()
	cmd.SetArgs(args)
	cmd.SetIn(stdin)
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	err := cmd.ExecuteContext(ctx)
	var s exitStatus
	switch {
	case errors.As(err, &s):
		status = int(s)
	case errors.Is(err, context.Canceled):
		status = interruptStatus(ctx)
	case err != nil:
		status = 1
		fmt.Fprintln(&errs, "presage:", ofJobs.Replace(err.Error()))
	}
	return out.String(), errs.String(), status
}

func TestRun(t *testing.T) {
	t.Setenv("PRESAGE_STORE", t.TempDir())
	in, out := t.TempDir(), t.TempDir()
	if err := os.WriteFile(in+"/a", []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	edges, hostile, crash := guestC(t, "edges", "-O1", "-g"), guestC(t, "hostile", "-O1"), guestC(t, "crash", "-O1", "-g", "-fno-inline")
	for _, test := range []struct {
		args           []string
		stdin          string
		stdout, stderr string // regular expressions
		status         int
	}{
		{args: []string{guestFolder, "cat"}, stdin: "line\nanother", stdout: "line\nanother"},
		{args: []string{guestFolder, "args", "--stats", "-x", "--", "y"}, stdout: `\["args" "--stats" "-x" "--" "y"\] \[\]` + "\n", stderr: "to the error stream\n"},
		{args: []string{"--env", "A=1", "--env", "B=2", guestFolder, "args"}, stdout: `\["args"\] \["A=1" "B=2"\]` + "\n", stderr: "to the error stream\n"},
		{args: []string{guestFolder, "exit", "0"}},
		{args: []string{guestFolder, "exit", "77"}, status: 77},
		{args: []string{"--engine", "interp", "--trace", guestFolder, "exit", "3"}, status: 3},
		{args: []string{hostile, "k"}, status: 128 + 15},
		{
			args: []string{crash, "x"}, status: 139,
			stderr: `presage: rv64: store of 4 bytes at address 0x1230, which the program may not access: pc 0x[0-9a-f]+ \(sw .*\) in poke at .*crash.c:6` +
				"\n\tcalled from middle, pc 0x[0-9a-f]+\n\tcalled from main, pc 0x[0-9a-f]+\n(\tcalled from (__libc_start|_start).*\n)*",
		},
		{args: []string{guestFolder, "copy", "/in/a", "/out/b"}, stdout: "open /in/a: no such file or directory\n"},
		{args: []string{"--dir", "/in=" + in, "--dir", "/out=" + out, guestFolder, "copy", "a", "/out/b"}, stdout: "open /out/b: read-only file system\n"},
		{args: []string{"--dir", "/in=" + in, "--dir", "/out=" + out + ":rw", guestFolder, "copy", "a", "/out/b"}, stdout: "<nil>\n"},
		{args: []string{"--max-instructions", "100000000", guestFolder, "spin"}, status: 125, stderr: "presage: .* stopped after 1000.* instructions: instruction limit reached .--max-instructions.\n"},
		{args: []string{"--memory-limit", "100000000", hostile, "mmap"}, status: 125, stdout: "mmap 1\n", stderr: "presage: .*guest memory limit reached\n"},
		{args: []string{"--memory", "4097", guestFolder, "exit", "0"}, status: 125, stderr: "presage: rv64: --memory is 4097 bytes.*\n"},
		{args: []string{"--stack", "5000", guestFolder, "exit", "0"}, status: 125, stderr: "presage: rv64: --stack is 5000 bytes; it must be .* to half of --memory, .*\n"},
		{args: []string{"--timeout", "-1s", guestFolder, "spin"}, status: 125, stderr: "presage: --timeout -1s is negative; 0 stands for no limit\n"},
		{args: []string{"--nonesuch", guestFolder}, status: 125, stderr: "presage: unknown flag: --nonesuch\n"},
		{args: nil, status: 125, stderr: "presage: requires at least 1 arg.*\n"},
		{args: []string{"--timeout", "1s", guestFolder, "spin"}, status: 124, stderr: `presage: the program was stopped after 1s \(--timeout\)` + "\n"},
		{args: []string{"--output-limit", "5", guestFolder, "cat"}, stdin: "0123456789", stdout: "01234", status: 125, stderr: `presage: rv64: guest.* wrote more than 5 bytes \(--output-limit\): output limit reached` + "\n"},
		{args: []string{"--snapshot", out + "/s", "--snapshot-at", "1000000000000", guestFolder, "exit", "0"}, status: 125, stderr: "presage: no snapshot was taken: the program ended after .*\n"},
		{args: []string{edges, "deep", "12000"}, status: 139, stderr: `presage: rv64: stack overflow: store of .* below the stack of 8388608 bytes \(--stack\).*` + "\n(\tcalled from deep.*\n)+"},
		{args: []string{"--stack", "67108864", edges, "deep", "12000"}, stdout: "ok\n"},
		{args: []string{edges, "open", "/data/mesh"}, status: 1, stderr: "presage: /data/mesh could not be opened: no granted folder holds it .--dir.\n"},
		{args: []string{"--engine", "vm", guestFolder, "exit", "0"}, status: 125, stderr: `presage: --engine "vm": want auto, interp or jit, as the program is for riscv64` + "\n"},
		{args: []string{"--dir", "in=x", guestFolder}, status: 125, stderr: "presage: invalid argument .* want an absolute path .*\n"},
		{args: []string{"--snapshot", out + "/s", "--snapshot-at", "1000000000000", guestFolder, "exit", "7"}, status: 7, stderr: "presage: no snapshot was taken: the program ended after .*\n"},
		{args: []string{"--resume", "run.go", guestFolder, "exit", "0"}, status: 125, stderr: "presage: run.go: .*unusable snapshot\n"},
		{args: []string{"--snapshot", "x", guestFolder, "exit", "0"}, status: 125, stderr: "presage: --snapshot and --snapshot-at go together\n"},
		{args: []string{"run.go"}, status: 125, stderr: "presage: .*run.go.*\n"},
		{args: []string{"testdata/nothing"}, status: 125, stderr: "presage: stat testdata/nothing: no such file or directory\n"},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			stdout, stderr, status := runStatus(t.Context(), strings.NewReader(test.stdin), append([]string{"run"}, test.args...)...)
			if status != test.status {
				t.Errorf("status %d, want %d", status, test.status)
			}
			if !regexp.MustCompile("^(?:" + test.stdout + ")$").MatchString(stdout) {
				t.Errorf("stdout %q, want %s", stdout, test.stdout)
			}
			if !regexp.MustCompile("^(?:" + test.stderr + ")$").MatchString(stderr) {
				t.Errorf("stderr %q, want %s", stderr, test.stderr)
			}
		})
	}
	if data, err := os.ReadFile(out + "/b"); string(data) != "text" {
		t.Errorf("the copy on the host is %q (%v)", data, err)
	}
}

// TestRunStats checks that the line written by --stats is consistent with itself
// and with an untraced run.
func TestRunStats(t *testing.T) {
	t.Setenv("PRESAGE_STORE", t.TempDir())
	stats := func(args ...string) map[string]float64 {
		_, stderr, status := runStatus(t.Context(), nil, append([]string{"run", "--stats"}, args...)...)
		if status != 5 || strings.Count(stderr, "\n") != 1 {
			t.Fatalf("status %d, stderr %q", status, stderr)
		}
		values := make(map[string]float64)
		for _, field := range strings.Fields(stderr) {
			key, value, _ := strings.Cut(field, "=")
			if v, err := strconv.ParseBool(value); err == nil && key == "traced" {
				value = map[bool]string{true: "1", false: "0"}[v]
			}
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatalf("field %q of %q", field, stderr)
			}
			values[key] = v
		}
		return values
	}
	off, on := stats(guestFolder, "exit", "5"), stats("--trace", guestFolder, "exit", "5")
	if off["instructions"] < 1e5 || off["instructions"] != on["instructions"] {
		t.Errorf("%v instructions untraced, %v traced", off["instructions"], on["instructions"])
	}
	if off["references"] != 0 || off["traced"] != 0 || on["references"] < on["instructions"]/10 || on["references"] > on["instructions"] || on["traced"] != 1 {
		t.Errorf("untraced %v, traced %v", off, on)
	}
	for _, v := range []map[string]float64{off, on} {
		if mips := v["instructions"] / v["seconds"] / 1e6; math.Abs(mips-v["mips"]) > 0.02*mips+0.05 { // printed to a tenth
			t.Errorf("%v instructions in %v s are not %v MIPS", v["instructions"], v["seconds"], v["mips"])
		}
		if v["status"] != 5 || v["signal"] != 0 || v["threads"] < 1 || v["memory_bytes"] < 1<<20 {
			t.Errorf("stats %v", v)
		}
	}
}

// TestRunInterrupted cancels a program that spins, and one that waits for
// input that never comes.
func TestRunInterrupted(t *testing.T) {
	t.Setenv("PRESAGE_STORE", t.TempDir())
	never, feed := io.Pipe()
	defer feed.Close()
	for _, mode := range []string{"spin", "cat"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		time.AfterFunc(time.Second, cancel)
		if _, stderr, status := runStatus(ctx, never, "run", guestFolder, mode); status != 130 || stderr != "" {
			t.Errorf("%s: status %d, stderr %q", mode, status, stderr)
		}
	}
}

// TestRunSnapshot cuts a run in two.
func TestRunSnapshot(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	file := filepath.Join(t.TempDir(), "s")
	run := func(args ...string) (string, string) {
		stdout, stderr, status := runStatus(t.Context(), nil, append(append([]string{"run", "--stats"}, args...), guestFolder, "count")...)
		if status != 0 {
			t.Fatalf("status %d: %s", status, stderr)
		}
		return stdout, strings.Fields(stderr)[0]
	}
	whole, instructions := run()
	if out, _ := run("--snapshot", file, "--snapshot-at", "5000000"); out != whole {
		t.Errorf("with a snapshot the output is %q", out)
	}
	rest, resumed := run("--resume", file)
	if !strings.HasSuffix(whole, rest) || len(rest) == 0 || len(rest) >= len(whole) || resumed != instructions {
		t.Errorf("resumed: %d of %d bytes of output, %s, whole run %s", len(rest), len(whole), resumed, instructions)
	}
	if _, stderr, status := runStatus(t.Context(), nil, "run", "--resume", file, guestFolder, "exit", "0"); status != 125 || !strings.Contains(stderr, "taken with arguments") {
		t.Errorf("other arguments: status %d, %s", status, stderr)
	}
}

// TestFailureOfSimulation demands that commands which record a run say why it failed,
// and name their own flags.
func TestFailureOfSimulation(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	edges, hostile := guestC(t, "edges", "-O1", "-g"), guestC(t, "hostile", "-O1")
	dir := t.TempDir()
	socket, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close() // nobody writes to it
	for _, test := range []struct {
		exe, args, flag, want string // want is a regular expression
	}{
		{edges, "open /data/mesh", "", `ended with exit status 1; a failed run is not profiled\n\t/data/mesh could not be opened: no granted folder holds it \(--dir\)\n`},
		{edges, "open /data/socket", "--dir=/data=" + dir, `/data/socket could not be opened: it is a device, pipe or socket \(--dir GUEST=HOST:dev\)\n`},
		{edges, "deep 12000", "", `below the stack of 8388608 bytes \(--stack-bytes\): .* in deep .*\n(\tcalled from deep, pc 0x[0-9a-f]+\n){12}$`},
		{edges, "limit", "--stack-bytes=5000", "--stack-bytes is 5000 bytes; .* to half of --memory, "},
		{edges, "limit", "--memory=4097", "--memory is 4097 bytes"},
		{edges, "limit", "--max-instructions=1000", "instruction limit reached \\(--max-instructions\\)"},
		{hostile, "mmap", "--memory=100003840", `its address space is 100003840 bytes \(--memory\): guest memory limit reached`},
	} {
		args := []string{"simulate", test.exe, "--args", test.args, "--machine", "zen4", "-q", "--on", "here", test.flag}
		if test.flag == "" {
			args = args[:len(args)-1]
		}
		_, stderr, status := runStatus(t.Context(), nil, args...)
		if status != 1 || !regexp.MustCompile(test.want).MatchString(stderr) {
			t.Errorf("%s %s: status %d, %s", test.args, test.flag, status, stderr)
		}
	}
}

// TestStackOfSimulation simulates a program with an array of 16 MB on the stack.
func TestStackOfSimulation(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	args := []string{"simulate", guestC(t, "edges", "-O1"), "--args", "large", "--machine", "zen4", "-q"}
	if _, stderr, status := runStatus(t.Context(), nil, args...); status == 0 || !strings.Contains(stderr, "stack overflow") {
		t.Errorf("status %d, %s", status, stderr)
	}
	if stdout, stderr, status := runStatus(t.Context(), nil, append(args, "--stack-bytes", "67108864")...); status != 0 || !strings.Contains(stdout, "zen4") {
		t.Errorf("with a larger stack: status %d, %s", status, stderr)
	}
}
