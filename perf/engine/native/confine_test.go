//go:build linux && amd64

package native

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"presage/perf/engine"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// TestConfined checks that a confined program finds no way out, by its first thread or
// another, and has what a computation needs. Programs that are not confined show that
// the ways are open otherwise.
func TestConfined(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("testdata", "escapes.c"))
	if err != nil {
		t.Fatal(err)
	}
	f := compile(t, string(source), "-O1", "-pthread")
	for _, c := range []struct {
		name   string
		first  bool // the first thread tries
		free   bool
		oldest bool // the first version of Landlock
	}{{name: "first thread", first: true}, {name: "another thread"}, {name: "free threads", free: true}, {name: "first Landlock", oldest: true}} {
		t.Run(c.name, func(t *testing.T) {
			r := engine.Request{FreeThreads: c.free}
			if c.first {
				r.Args = []string{"first"}
			}
			e := Engine{Confined: true}
			if c.oldest {
				e.landlock = 1
			}
			if text := tryToEscape(t, e, f, r); text != "" {
				t.Errorf("confined:\n%s", text)
			}
		})
	}
	// Some of what every user and every kernel can do.
	open := strings.Fields("inherited read write O_ACCMODE create truncate mkdir rename unlink chmod utimensat inotify socket socketpair kill prlimit64 flock fork clone execve splice")
	tried := strings.Fields(tryToEscape(t, Engine{}, f, engine.Request{}))
	for _, way := range open {
		if !slices.Contains(tried, way) {
			t.Errorf("not confined: no way by %s", way)
		}
	}
}

// tryToEscape returns what escapes.c writes.
func tryToEscape(t *testing.T, e Engine, f *objfile.File, r engine.Request) string {
	t.Helper()
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	other := exec.Command("sleep", "1000")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		other.Process.Kill()
		other.Wait() // it was killed
	}()
	inheritable(t, secret)
	var output bytes.Buffer
	r.Args = append([]string{secret, filepath.Join(dir, "new"), strconv.Itoa(other.Process.Pid)}, r.Args...)
	r.Stdout = &output
	out, err := e.Run(t.Context(), f, r)
	if errors.Is(err, ErrConfine) {
		t.Skip(err)
	}
	if err != nil || out.ExitCode != 0 {
		t.Fatalf("%+v, error %v", out, err)
	}
	return output.String()
}

// inheritable opens a file as a shell does that starts a program with 9<file.
func inheritable(t *testing.T, path string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()  // only read
	const atLeast = 100 // beyond the files of the engine
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD, atLeast)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
}

// TestConfinedSame checks that a program is recorded in the same way when it is
// confined.
func TestConfinedSame(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("testdata", "threads.c"))
	if err != nil {
		t.Fatal(err)
	}
	f := compile(t, string(source), "-O2", "-pthread")
	var runs []*observed
	for _, e := range []Engine{{}, {Confined: true}} {
		d, err := e.Discover(t.Context(), f, engine.Request{})
		if errors.Is(err, ErrConfine) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		o := new(observed)
		if _, err := e.Run(t.Context(), f, engine.Request{Plan: d.Plan, Sink: trace.NewDirect(o)}); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, o)
	}
	if !runs[0].equal(runs[1]) {
		t.Errorf("%d accesses, %d confined, or others", len(runs[0].accesses), len(runs[1].accesses))
	}
}
