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
			text := trap + "\necho $$ >\"$1/file\"\nmv \"$1/file\" \"$1/pid\"\ntouch \"$1/file\"\nwhile :; do sleep 0.01; done\n"
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
			if running(pid) {
				t.Error("the grandchild remains")
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			if _, err := os.Stat(filepath.Join(dir, "file")); errors.Is(err, os.ErrNotExist) != (name == "interrupted") {
				t.Errorf("its file: %v", err)
			}
		})
	}
}

// running reports whether a process is there and no zombie, after a moment in which
// one that was killed can go.
func running(pid int) bool {
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
