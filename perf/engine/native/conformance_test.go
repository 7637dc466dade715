//go:build linux && amd64

package native

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"presage/perf/engine"
	"presage/perf/engine/enginetest"
)

// TestConformance tests the engine against the contract on a static program, a
// dynamic one and one with threads, with plans that it discovers.
func TestConformance(t *testing.T) {
	trap := compile(t, "int main(void) { return *(volatile int *)8; }", "-O1", "-static")
	for name, c := range map[string]struct {
		file    string
		flags   []string
		threads int
		failing []string
	}{
		"static":  {"work.c", []string{"-O2", "-static"}, 1, []string{"-1"}},
		"dynamic": {"work.c", []string{"-O2"}, 1, []string{"-1"}},
		"threads": {"threads.c", []string{"-O2", "-pthread"}, 5, nil},
	} {
		t.Run(name, func(t *testing.T) {
			source, err := os.ReadFile(filepath.Join("testdata", c.file))
			if err != nil {
				t.Fatal(err)
			}
			f := compile(t, string(source), c.flags...)
			args := []string{"3000"}
			output, err := exec.Command(f.Path, args...).Output()
			if err != nil {
				t.Fatal(err)
			}
			enginetest.Test(t, Engine{}, enginetest.Subject{
				File: f, Input: engine.Request{Args: args}, Output: string(output), Threads: c.threads,
				Failing: c.failing, FailingStatus: 3, Trap: trap,
			})
		})
	}
}
