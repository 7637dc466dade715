package rv64

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/engine"
	"presage/perf/internal/oracle"
	"presage/perf/objfile"
)

// program is a program of testdata with its compiler and flags.
type program struct {
	name  string
	tool  string
	args  []string // before -o
	after []string // after the output
	stdin string
	argv  []string
	pie   bool
}

func programs() []program {
	const text = "one two three two\nfour\n"
	var list []program
	list = append(list, program{name: "go", tool: "go", args: []string{"build"}, after: []string{"./testdata/gomix"}, stdin: text, argv: []string{"a", "b c"}})
	list = append(list, program{name: "go-rva22", tool: "go", args: []string{"build"}, after: []string{"./testdata/gomix"}, stdin: text})
	cross := func(lang, compiler, source, stdin string, flags ...string) {
		for _, level := range []string{"-O0", "-O3"} {
			for _, march := range []string{"rv64gc", "rv64gc_zba_zbb_zbs"} {
				list = append(list, program{
					name: lang + level + "-" + march, tool: "riscv64-linux-gnu-" + compiler,
					args: append([]string{"-static", level, "-march=" + march}, flags...), after: []string{source, "-lm"}, stdin: stdin, argv: []string{"x", "y z"},
				})
			}
		}
	}
	cross("c", "gcc", "testdata/c/mix.c", text, "-pthread")
	cross("cpp", "g++", "testdata/cpp/mix.cc", text, "-pthread")
	cross("fortran", "gfortran", "testdata/fortran/mix.f90", "1 2.5\n20 -3e2\n")
	// Debian's cross compiler has no start file for static PIE: bring our own.
	return append(list, program{
		name: "c-pie", tool: "riscv64-linux-gnu-gcc", args: []string{"-static-pie", "-Wl,--no-dynamic-linker", "-O2", "-nostdlib", "-nostartfiles"},
		after: []string{"testdata/c/pie.c"}, pie: true,
	})
}

// build compiles a program and returns the executable's path.
func (p program) build(t testing.TB) string {
	t.Helper()
	oracle.Need(t, p.tool)
	path := filepath.Join(t.TempDir(), p.name)
	cmd := exec.Command(p.tool, append(append(p.args[:len(p.args):len(p.args)], "-o", path), p.after...)...)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0")
	if strings.HasSuffix(p.name, "rva22") {
		cmd.Env = append(cmd.Env, "GORISCV64=rva22u64")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return path
}

// TestProgramsAgainstQemu compares output and exit status of whole programs.
func TestProgramsAgainstQemu(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			oracle.Need(t, qemu)
			path := p.build(t)
			cmd := exec.Command(qemu, append([]string{"-cpu", "rv64,zba=true,zbb=true,zbs=true", path}, p.argv...)...)
			cmd.Stdin = strings.NewReader(p.stdin)
			var want bytes.Buffer
			cmd.Stdout = &want
			_ = cmd.Run() // the status is compared below
			f, err := objfile.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			if f.PIE != p.pie {
				t.Errorf("PIE is %v, want %v", f.PIE, p.pie)
			}
			for name, mode := range modes(t) {
				var errors bytes.Buffer
				got, r, err := runGuest(t, f, options{Request: engine.Request{Args: p.argv, Stdin: strings.NewReader(p.stdin), Stderr: &errors}, mode: mode})
				if err != nil {
					t.Fatalf("%s: %v\n%s%s", name, err, got, errors.String())
				}
				if got != want.String() {
					t.Errorf("%s: output differs: got\n%s\nqemu has\n%s", name, got, want.String())
				}
				if r.ExitCode != cmd.ProcessState.ExitCode() || r.ExitCode == 0 {
					t.Errorf("%s: exit status %d, qemu has %d", name, r.ExitCode, cmd.ProcessState.ExitCode())
				}
				if len(r.UnknownSyscalls) > 0 {
					t.Errorf("%s: unknown system calls: %v", name, r.UnknownSyscalls)
				}
				t.Logf("%s: %d instructions, %d threads, %v", name, r.Instructions, r.Threads, r.Elapsed)
			}
		})
	}
}
