package child

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestCommand(t *testing.T) {
	out, err := Command(context.Background(), "sh", "-c", "echo $1; exit 3", "sh", "hello").Output()
	if string(out) != "hello\n" || err == nil || err.Error() != "exit status 3" {
		t.Errorf("%q, %v", out, err)
	}
}

// TestCancelled ends a shell, which waits for a grandchild that holds the output open.
// Neither may remain, even if the grandchild ignores the interrupt; one that does not
// can tidy up.
func TestCancelled(t *testing.T) {
	for name, trap := range map[string]string{
		"interrupted": `trap 'rm "$1/file"; exit' INT`,
		"stubborn":    `trap "" INT`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			script := filepath.Join(dir, "script")
			text := trap + "\necho $$ >\"$1/number\"\nmv \"$1/number\" \"$1/pid\"\ntouch \"$1/file\"\nwhile :; do sleep 0.01; done\n"
			if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			cmd := Command(ctx, "sh", "-c", `sh "$1/script" "$1"; true`, "sh", dir)
			var out bytes.Buffer
			cmd.Stdout = &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for range 1000 {
				if _, err := os.Stat(filepath.Join(dir, "file")); err == nil {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			cancel()
			if err := cmd.Wait(); err == nil {
				t.Error("no error")
			}
			line, err := os.ReadFile(filepath.Join(dir, "pid"))
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(line)))
			if err != nil {
				t.Fatal(err)
			}
			if alive(pid) {
				t.Error("the grandchild remains")
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			if _, err := os.Stat(filepath.Join(dir, "file")); errors.Is(err, os.ErrNotExist) != (name == "interrupted") {
				t.Errorf("its file: %v", err)
			}
		})
	}
}

// alive reports whether a process is there and no zombie, after a moment in which
// one that was killed can go.
func alive(pid int) bool {
	for range 200 {
		state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			time.Sleep(10 * time.Millisecond) // no /proc
			continue
		}
		if err != nil || bytes.Contains(state, []byte(") Z ")) {
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true
}

// asParent makes the test binary start a command whose processes ignore interrupts and
// leave their numbers as files of the folder that it names, and exit without awaiting them.
const asParent = "PRESAGE_TEST_AS_PARENT"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asParent); dir != "" {
		os.Exit(parent(dir))
	}
	os.Exit(m.Run())
}

func parent(dir string) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cmd := Command(ctx, "sh", "-c", `trap "" INT; touch "$0/$$"; sh -c 'touch "$0/$$"; while :; do sleep 0.01; done' "$0"; true`, dir)
	if err := cmd.Start(); err != nil {
		return 1
	}
	for entries := []os.DirEntry(nil); len(entries) < 2; time.Sleep(10 * time.Millisecond) {
		entries, _ = os.ReadDir(dir)
	}
	cancel() // in vain
	KillAll()
	if err := Command(context.Background(), "true").Run(); !errors.Is(err, errKilled) {
		return 2
	}
	return 0
}

// TestKillAll exits while a command runs whose processes do not heed interrupts. None
// of them remains.
func TestKillAll(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := Command(t.Context(), exe)
	cmd.Env = append(os.Environ(), asParent+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%d shells, %v", len(entries), err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if alive(pid) {
			t.Errorf("process %d remains", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// TestNothingIsKept: a command that has ended is forgotten, whatever way it ended.
func TestNothingIsKept(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for _, err := range []error{
		Command(t.Context(), "true").Run(), Command(t.Context(), "false").Run(),
		Command(t.Context(), "/no/such/program").Run(), Command(ctx, "sleep", "60").Run(),
	} {
		t.Log(err)
	}
	if n := len(running.groups); n > 0 {
		t.Errorf("%d groups are taken to run", n)
	}
}
