//go:build linux && amd64

package native

import (
	"errors"
	"strings"
	"testing"

	"presage/perf/engine"
)

// TestStackOverflow demands that a fault on a stack that is full is told apart from
// others, and how large the stack was.
func TestStackOverflow(t *testing.T) {
	f := compileAs(t, "deep.c", "-O1", "-fno-optimize-sibling-calls", "-pthread")
	const limit = 1 << 20
	for _, c := range []struct {
		args   string
		stack  bool
		status int // without a fault
	}{
		{args: "deep 100000", stack: true},
		{args: "calls 100000", stack: true},
		{args: "large 20000000", stack: true},
		{args: "handled 100000", stack: true}, // without a stack for the handler
		{args: "thread 100000", stack: true},
		{args: "elsewhere 100000", status: 3},
		{args: "deep 1000"},
		{args: "thread 1000"},
	} {
		for _, free := range []bool{false, true} {
			out, err := Engine{}.Run(t.Context(), f, engine.Request{Args: strings.Fields(c.args), FreeThreads: free})
			if !c.stack {
				if err != nil || out.ExitCode != c.status {
					t.Errorf("%s: %+v, error %v, want status %d", c.args, out, err, c.status)
				}
				continue
			}
			var fault *engine.Fault
			if !errors.As(err, &fault) || out.ExitCode != 139 || !strings.Contains(err.Error(), "native: stack overflow: store of ") {
				t.Fatalf("%s: %+v, error %v", c.args, out, err)
			}
			const head = 1 << 16 // of a thread's stack: data of its own
			thread := fault.StackLimit == "" && fault.Thread == 1 && fault.Stack > limit-head && fault.Stack <= limit
			first := fault.StackLimit == "ulimit -s" && fault.Thread == 0 && fault.Stack == limit
			if !thread && !first || thread != strings.HasPrefix(c.args, "thread") {
				t.Errorf("%s: a stack of %d bytes: %v", c.args, fault.Stack, err)
			}
		}
	}
	for _, args := range []string{"wild 8", "below 4000000"} {
		_, err := Engine{}.Run(t.Context(), f, engine.Request{Args: strings.Fields(args)})
		var fault *engine.Fault
		if !errors.As(err, &fault) || fault.Stack != 0 || strings.Contains(err.Error(), "stack") {
			t.Errorf("%s: %v, want another fault", args, err)
		}
	}
}
