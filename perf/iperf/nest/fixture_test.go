package nest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/internal/oracle"
	"presage/perf/iperf"
	"presage/perf/iperf/nest"
	"presage/perf/objfile"
)

const programs = "../../../datasets/programs/"

// subject is an analysed program.
type subject struct {
	exe    string
	access *access.Analysis
	scopes *cfg.ScopeTree
}

var (
	mu       sync.Mutex
	subjects = make(map[string]*subject)
)

// build compiles the kernels in a language with flags, once.
func build(t testing.TB, language, flags string) *subject {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	key := language + flags
	if s := subjects[key]; s != nil {
		return s
	}
	dir, err := os.MkdirTemp(tempRoot, "")
	if err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "iperf")
	switch language {
	case "go":
		run(t, "go", append(append([]string{"build", "-o", exe}, strings.Fields(flags)...), "./"+programs+"iperf")...)
	case "c":
		gcc := oracle.Need(t, "riscv64-linux-gnu-gcc")
		run(t, gcc, append([]string{"-g", "-static", "-o", exe, programs + "iperf-c/main.c", programs + "iperf-c/kernels.c"}, strings.Fields(flags)...)...)
	case "loops":
		gcc := oracle.Need(t, "riscv64-linux-gnu-gcc")
		run(t, gcc, append([]string{"-g", "-static", "-o", exe, "testdata/loops.c"}, strings.Fields(flags)...)...)
	case "fortran":
		gcc, gfortran := oracle.Need(t, "riscv64-linux-gnu-gcc"), oracle.Need(t, "riscv64-linux-gnu-gfortran")
		run(t, gcc, "-c", "-O2", "-o", exe+".o", programs+"iperf-c/main.c")
		run(t, gfortran, append([]string{"-g", "-static", "-o", exe, exe + ".o", programs + "iperf-fortran/kernels.f90"}, strings.Fields(flags)...)...)
	}
	s := analyse(t, exe)
	subjects[key] = s
	return s
}

func run(t testing.TB, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
}

func analyse(t testing.TB, exe string) *subject {
	t.Helper()
	f, err := objfile.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	p := cfg.Analyze(f)
	return &subject{exe: exe, access: access.Analyze(p), scopes: cfg.NewScopeTree(p)}
}

func (s *subject) routine(t testing.TB, name string) int {
	t.Helper()
	i := slices.IndexFunc(s.access.Program.Routines, func(r *cfg.Routine) bool { return r.Name == name })
	if i < 0 {
		t.Fatalf("no routine %s", name)
	}
	return i
}

// find finds the kernel of a routine with an overlay as text.
func (s *subject) find(t testing.TB, routine, overlay string) (*nest.Found, error) {
	t.Helper()
	o, err := iperf.ParseOverlay("overlay.yaml", []byte(overlay))
	if err != nil {
		t.Fatal(err)
	}
	return nest.Find(s.access, s.scopes, s.routine(t, routine), o)
}

var tempRoot string

func TestMain(m *testing.M) {
	var err error
	if tempRoot, err = os.MkdirTemp("", "presage-nest-"); err != nil {
		panic(err)
	}
	status := m.Run()
	os.RemoveAll(tempRoot)
	os.Exit(status)
}
