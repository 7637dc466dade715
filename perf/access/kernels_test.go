package access

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/cfg"
	"presage/perf/engine"
	embedded "presage/perf/engine/rv64"
	"presage/perf/internal/oracle"
	"presage/perf/trace"
)

// compile compiles a file of testdata, or a folder of a Go program, for riscv64,
// or skips the test if the compiler is missing.
func compile(t testing.TB, source string, flags ...string) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "a.exe")
	var cmd *exec.Cmd
	if ext := filepath.Ext(source); ext == ".go" || ext == "" {
		cmd = exec.Command("go", append(append([]string{"build", "-o", exe}, flags...), source)...)
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0", "GOFLAGS=")
	} else {
		compiler := map[string]string{".c": "gcc", ".cc": "g++", ".f90": "gfortran"}[filepath.Ext(source)]
		path := oracle.Need(t, "riscv64-linux-gnu-"+compiler)
		args := append([]string{"-g", "-static", "-J", filepath.Dir(exe), "-o", exe}, flags...)
		if compiler != "gfortran" {
			args = append([]string{"-g", "-static", "-o", exe}, flags...)
		}
		cmd = exec.Command(path, append(args, source)...)
	}
	cmd.Dir = "testdata"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe
}

func analyze(t testing.TB, exe string) *Analysis {
	t.Helper()
	return Analyze(cfg.Analyze(open(t, exe)))
}

// run executes a program with a checker.
func run(t testing.TB, a *Analysis, args ...string) *StrideCheck {
	t.Helper()
	c := NewChecker(a)
	if err := c.Plan().Check(); err != nil {
		t.Fatal(err)
	}
	opt := engine.Request{Args: args, Plan: c.Plan(), Sink: trace.NewDirect(c)}
	if r, err := (embedded.Engine{}).Run(context.Background(), a.Program.File, opt); err != nil || r.ExitCode != 0 {
		t.Fatalf("exit code %d, error %v", r.ExitCode, err)
	}
	return c.Result()
}

// The goals for executed references: that their strides agree with the run, and
// on dense kernels that they are neither irregular nor indirect.
const (
	minAgree      = 0.99
	minDenseClean = 0.90

	// The kernels satisfy the optimistic assumptions of the analysis, but the
	// libraries linked into them may not.
	minKernelsAgree = 0.99999
)

// kernels are the programs of testdata, and those of their routines that are
// dense: all their references are regular for all loops.
var kernels = []struct {
	source string
	flags  []string
	dense  string
}{
	{"kernels.c", []string{"-O0", "-O1", "-O2", "-O3"}, "matmul stencil triad transpose strided downward triangle count unrolled structs globals bubble calling factor convolve"},
	{"kernels.f90", []string{"-O0", "-O1", "-O2", "-O3 -fno-inline -fno-ipa-cp"}, "__kernels_MOD_multiply __kernels_MOD_assumed __kernels_MOD_steps __kernels_MOD_cube __kernels_MOD_ofmodule __kernels_MOD_triangle"},
	{"kernels.cc", []string{"-O1", "-O2", "-O3"}, "_Z8multiplyR6matrixS0_S0_ _Z9iteratorsRKSt6vectorIdSaIdEE"},
	{"kernels.go", []string{"", "-gcflags=-N"}, "main.flat main.stencil main.slices main.structs main.downward main.arrays"},
}

// TestStridesAgainstRuns compares the formulas of programs from four compilers
// with what the programs do.
func TestStridesAgainstRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, k := range kernels {
		for _, flag := range k.flags {
			t.Run(k.source+flag, func(t *testing.T) {
				t.Parallel()
				a := analyze(t, compile(t, k.source, strings.Fields(flag)...))
				s := run(t, a)
				if got := s.AgreeShare(); got < minKernelsAgree || s.Agree < 10_000 {
					t.Errorf("%d of %d comparisons agree\n%s", s.Agree, s.Agree+s.Disagree, worst(a, s, 5))
				}
				for _, name := range strings.Fields(k.dense) {
					clean, all := routineShare(a, s, name)
					if all == 0 || share(clean, all) < minDenseClean {
						t.Errorf("%s: %d of %d accesses in loops are regular\n%s", name, clean, all, unclean(a, s, name))
					}
				}
				t.Logf("%d comparisons, %.6f agree; %d accesses in loops, %.4f regular", s.Agree+s.Disagree, s.AgreeShare(), s.InLoops, s.CleanShare())
			})
		}
	}
}

// TestSweep3D checks the project's subject: agreement, and the share of executed
// references in loops that are regular for all of them.
func TestSweep3D(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	t.Parallel()
	a := analyze(t, compile(t, "../../../datasets/programs/sweep3d"))
	s := run(t, a, "-n", "12", "-iterations", "1", "-quiet")
	if s.AgreeShare() < minAgree || s.CleanShare() < minDenseClean || s.Agree < 1_000_000 {
		t.Errorf("%d of %d comparisons agree, %.4f of the accesses in loops are regular\n%s", s.Agree, s.Agree+s.Disagree, s.CleanShare(), worst(a, s, 5))
	}
	t.Logf("%d comparisons, %.6f agree; %d accesses in loops, %.4f regular", s.Agree+s.Disagree, s.AgreeShare(), s.InLoops, s.CleanShare())
}

// routineShare returns how many accesses in loops of a routine are regular for
// all loops, and how many there are.
func routineShare(a *Analysis, s *StrideCheck, name string) (clean, all uint64) {
	for _, r := range s.References {
		if ref := &a.All[r.Index]; ref.Routine == name && len(ref.Strides) > 0 {
			all += r.Executions
			if r.Clean {
				clean += r.Executions
			}
		}
	}
	return clean, all
}

func worst(a *Analysis, s *StrideCheck, n int) string {
	var b strings.Builder
	for _, r := range s.References[:min(n, len(s.References))] {
		fmt.Fprintf(&b, "%s: disagree %d\n", describe(&a.All[r.Index]), r.Disagree)
	}
	return b.String()
}

func unclean(a *Analysis, s *StrideCheck, routine string) string {
	var b strings.Builder
	for _, r := range s.References {
		if ref := &a.All[r.Index]; ref.Routine == routine && !r.Clean {
			fmt.Fprintf(&b, "%s, %d times\n", describe(ref), r.Executions)
		}
	}
	return b.String()
}

// describe writes a reference with its formulas: ! is irregular, * indirect.
func describe(r *Reference) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: first %v, strides", r, r.First)
	for _, s := range r.Strides {
		b.WriteByte(' ')
		b.WriteString(s.String())
	}
	return b.String()
}
