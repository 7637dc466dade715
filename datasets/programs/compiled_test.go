package programs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A compiled program is one in C or Fortran that does what a Go program does.
type compiled struct {
	folder, sources, original string
	compilers                 []string       // native, riscv64
	options                   []string       // last on the command line
	lines                     []string       // to run; the last is refused
	less                      *regexp.Regexp // what only the original prints, or nil
}

// compiledPrograms are all of them. The last line but one of lu's is a NAS class
// that takes seconds in the engine and minutes in qemu.
var compiledPrograms = []compiled{
	{
		folder: "cg-c", sources: "*.c", original: "cg",
		compilers: []string{"gcc", "riscv64-linux-gnu-gcc"}, options: []string{"-lm"},
		lines: []string{"-n 2", "-n 7", "-n 12 -iterations 300", "-n 33", "-n 5 -quiet", "-n 1"},
	},
	{
		folder: "sweep3d-c", sources: "*.c", original: "sweep3d",
		compilers: []string{"gcc", "riscv64-linux-gnu-gcc"}, options: []string{"-lm"},
		lines: []string{
			"-n 2", "-n 7 -iterations 3", "-n 20 -iterations 2", "-n 13 -mk 4 -mmi 4", "-n 24 -iterations 1 -mk 24 -mmi 6",
			"-n 9 -fixup=false -sigt 0.7 -scattering 0.9 -anisotropy 0.3", "-n 5 -quiet", "-n 1",
		},
	},
	{
		folder: "lu-fortran", sources: "*.f90", original: "lu",
		compilers: []string{"gfortran", "riscv64-linux-gnu-gfortran"},
		lines:     []string{"-n 10", "-class S", "-n 13 -iterations 3 -dt 0.01 -max 20", "-n 11 -quiet", "-class W", "-n 9"},
		less:      regexp.MustCompile(`(?m)^(faces|residual|sweeps|residual norms|error norms): .*\n|^NAS class: none.*\n|, dt .*, order .*$`),
	},
}

// compile returns the program that a compiler makes, with the command that
// README.md gives. Without the compiler the test is skipped, or fails if tools
// are required.
func (c compiled) compile(t *testing.T, compiler string) string {
	t.Helper()
	if _, err := exec.LookPath(compiler); err != nil {
		if os.Getenv("PRESAGE_REQUIRE_TOOLS") == "1" {
			t.Fatalf("%s is missing (Debian package of the same name without version)", compiler)
		}
		t.Skipf("skipped: %s is not installed", compiler)
	}
	sources, err := filepath.Glob(filepath.Join(c.folder, c.sources))
	if err != nil || len(sources) == 0 {
		t.Fatalf("no %s in %s (%v)", c.sources, c.folder, err)
	}
	dir := t.TempDir()
	exe := filepath.Join(dir, c.folder)
	args := []string{"-O2", "-static", "-o", exe}
	if strings.HasSuffix(c.sources, "f90") {
		args = append(args, "-J", dir) // where modules go
	}
	args = append(append(args, sources...), c.options...)
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", compiler, strings.Join(args, " "), err, out)
	}
	return exe
}

// TestCompiledPrograms holds the programs in C and Fortran against the Go program
// of the same algorithm, natively and in the engine.
func TestCompiledPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, c := range compiledPrograms {
		t.Run(c.folder, func(t *testing.T) {
			wants := c.wants(t)
			for _, compiler := range c.compilers {
				t.Run(compiler, func(t *testing.T) {
					exe := c.compile(t, compiler)
					run := command(exe)
					if strings.HasPrefix(compiler, "riscv64") {
						run = engine(t, exe)
					}
					for i, line := range c.lines {
						if testing.Short() && strings.Contains(line, "-class W") {
							continue
						}
						got, status, err := run(strings.Fields(line))
						refused := i == len(c.lines)-1
						if err != nil || refused != (status == 2) || !refused && !c.same(got, wants[i]) {
							t.Errorf("%s: status %d (%v)\n%sthe Go program:\n%s", line, status, err, got, wants[i])
						}
						if strings.Contains(line, "-class") && !strings.Contains(got, "norms and integral agree") {
							t.Errorf("%s: not verified as a class\n%s", line, got)
						}
					}
				})
			}
		})
	}
}

// wants returns what the Go program prints for each line, the last of which it
// refuses.
func (c compiled) wants(t *testing.T) []string {
	run := command(build(t, c.original))
	var wants []string
	for i, line := range c.lines {
		got, status, err := run(strings.Fields(line))
		if err != nil || (status == 2) != (i == len(c.lines)-1) {
			t.Fatalf("%s %s: status %d (%v)\n%s", c.original, line, status, err, got)
		}
		wants = append(wants, got)
	}
	return wants
}

// same says whether got is want but for what only the original prints, and for
// exponents, which have a capital E in Fortran.
func (c compiled) same(got, want string) bool {
	if c.less != nil {
		want = c.less.ReplaceAllString(want, "")
	}
	return strings.EqualFold(got, want)
}
