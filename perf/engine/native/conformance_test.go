//go:build linux && amd64

package native

import (
	"os"
	"os/exec"
	"testing"

	"presage/perf/engine"
	"presage/perf/engine/enginetest"
)

// TestConformance tests the engine against the contract on a static and on a
// dynamic program, with plans that it discovers.
func TestConformance(t *testing.T) {
	source, err := os.ReadFile("testdata/work.c")
	if err != nil {
		t.Fatal(err)
	}
	trap := compile(t, "int main(void) { return *(volatile int *)8; }", "-O1", "-static")
	for name, flags := range map[string][]string{"static": {"-O2", "-static"}, "dynamic": {"-O2"}} {
		t.Run(name, func(t *testing.T) {
			f := compile(t, string(source), flags...)
			args := []string{"3000"}
			output, err := exec.Command(f.Path, args...).Output()
			if err != nil {
				t.Fatal(err)
			}
			enginetest.Test(t, Engine{}, enginetest.Subject{
				File: f, Input: engine.Request{Args: args}, Output: string(output), Threads: 1,
				Failing: []string{"-1"}, FailingStatus: 3, Trap: trap,
			})
		})
	}
}
