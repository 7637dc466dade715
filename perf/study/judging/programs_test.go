package judging

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/subject"
	"presage/perf/trace"
)

// TestProgramsVerify builds every program of the suite, and every fresh one, natively and for
// linux/riscv64, at a small size, and runs it here and in the engine: a program ends with
// status 0 only if its result is right, and with 2 if it is given no size.
func TestProgramsVerify(t *testing.T) {
	if testing.Short() {
		t.Skip("what it builds and runs is without the race detector")
	}
	for _, s := range []*Suite{suite(t), suiteOf(t, freshPath), suiteOf(t, secondPath), suiteOf(t, thirdPath)} {
		verify(t, s)
	}
}

func verify(t *testing.T, s *Suite) {
	for i := range s.Programs {
		p := &s.Programs[i]
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			in := t.TempDir()
			if err := writeSizes(in, []int{p.Test}); err != nil {
				t.Fatal(err)
			}
			t.Run("native", func(t *testing.T) {
				exe := compiled(t, s.Dir, p, "")
				if status, out := ended(exe, arguments(p, in)...); status != 0 {
					t.Errorf("status %d\n%s", status, out)
				}
				if p.Size == FromCompiler {
					return
				}
				if status, out := ended(exe); status != 2 {
					t.Errorf("without a size: status %d, want 2\n%s", status, out)
				}
			})
			t.Run("riscv64", func(t *testing.T) { runsInEngine(t, s, p, in) })
		})
	}
}

// runsInEngine runs a program for linux/riscv64 with the file of its size in a folder, and
// demands status 0.
func runsInEngine(t *testing.T, s *Suite, p *Program, in string) {
	prog, err := subject.Open(compiled(t, s.Dir, p, guestPrefix))
	if err != nil {
		t.Fatal(err)
	}
	request := subject.Request{Plan: &trace.Plan{}}
	run := subject.RunOptions{Folders: []subject.Folder{{Guest: "/in", Host: in}}}
	if request.Inputs, err = prog.InputsOf(arguments(p, "/in"), run); err != nil {
		t.Fatal(err)
	}
	if _, err := prog.Run(t.Context(), request); err != nil {
		t.Error(err)
	}
}

// TestPracticeRuns builds the practice programs, which do not verify themselves, and runs
// them to their ends.
func TestPracticeRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("what it builds and runs is without the race detector")
	}
	s := suiteOf(t, practicePath)
	for i := range s.Programs {
		t.Run(s.Programs[i].Name, func(t *testing.T) {
			t.Parallel()
			runsInEngine(t, s, &s.Programs[i], t.TempDir())
		})
	}
}

// arguments are those of a run at the size for tests, with the file of the size in a
// folder.
func arguments(p *Program, folder string) []string {
	switch n := strconv.Itoa(p.Test); p.Size {
	case FromArgument:
		return []string{n}
	case FromFile:
		return []string{filepath.Join(folder, n+".txt")}
	}
	return nil
}

func compiled(t *testing.T, dir string, p *Program, prefix string) string {
	t.Helper()
	compiler := oracle.Need(t, p.Compiler(prefix))
	exe := filepath.Join(t.TempDir(), p.Name)
	if err := p.Compile(t.Context(), compiler, dir, exe, p.Test); err != nil {
		t.Fatal(err)
	}
	return exe
}

// ended runs a program and returns its exit status, -1 if it has none, and its output.
func ended(exe string, args ...string) (status int, out string) {
	text, err := exec.Command(exe, args...).CombinedOutput()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return exit.ExitCode(), string(text)
	}
	if err != nil {
		return -1, err.Error()
	}
	return 0, string(text)
}

// TestWrongResultsAreSeen plants an error into programs and expects them to end with
// status 1.
func TestWrongResultsAreSeen(t *testing.T) {
	s := suite(t)
	for name, planted := range map[string][2]string{
		"cholesky": {"a[i][i] = sqrt(sum)", "a[i][i] = 1.001 * sqrt(sum)"},
		"align":    {"score[i][j] = max(score[i - 1][j - 1] + pair(i - 1, j - 1), ", "score[i][j] = max(score[i - 1][j - 1] + pair(i - 1, j - 1) - 1, "},
		"gemmtile": {"kk < n; kk += TILE", "kk < n - TILE; kk += TILE"},
		"bfs":      {"level[w] = level[v] + 1;", "level[w] = level[v] + 1 + (w == 7);"},
		"sweep":    {"faceY[k] = psi;", "faceY[k] = in;"},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := s.Named(name)
			if err != nil {
				t.Fatal(err)
			}
			p := all[0]
			text, err := os.ReadFile(filepath.Join(s.Dir, p.Source))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			wrong := replaceOnce(t, string(text), planted[0], planted[1])
			if err := os.WriteFile(filepath.Join(dir, p.Source), []byte(wrong), 0o666); err != nil {
				t.Fatal(err)
			}
			if status, out := ended(compiled(t, dir, &p, ""), arguments(&p, dir)...); status != 1 {
				t.Errorf("status %d, want 1\n%s", status, out)
			}
		})
	}
}
