//go:build linux && amd64

package callpath

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"presage/perf/engine/native"
	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/subject"
	"presage/perf/trace"
)

// call is of one routine by another; the caller is empty for what the routine accesses by
// itself.
type call struct{ from, to string }

// callgrind returns the accesses that callgrind counts by routine and call, the latter
// with all that is called from there.
func callgrind(t *testing.T, program string, args ...string) map[call]uint64 {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	flags := []string{"--tool=callgrind", "--cache-sim=yes", "--compress-strings=no", "--compress-pos=no", "--callgrind-out-file=" + out, program}
	if log, err := exec.Command(oracle.Need(t, "valgrind"), append(flags, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	counts := make(map[call]uint64)
	routine, callee, called := "", "", false
	var events []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		key, value, keyed := strings.Cut(lines.Text(), "=")
		if list, ok := strings.CutPrefix(lines.Text(), "events: "); ok {
			events = strings.Fields(list)
		}
		switch {
		case keyed && key == "fn":
			routine, _, _ = strings.Cut(value, "'") // fib'2 is a fib in another
		case keyed && key == "cfn":
			callee = value
		case keyed && key == "calls":
			called = true
		case !keyed && routine != "" && lines.Text() != "" && strings.IndexByte("0123456789", lines.Text()[0]) >= 0:
			at := call{"", routine}
			if called {
				at, called = call{routine, callee}, false
			}
			for i, n := range strings.Fields(lines.Text())[1:] {
				if v, err := strconv.ParseUint(n, 10, 64); err == nil && (events[i] == "Dr" || events[i] == "Dw") {
					counts[at] += v
				}
			}
		}
	}
	return counts
}

// TestCallgrind: what the routines of a native program access by themselves, and with all
// that they call, by caller, is what valgrind counts: of calls, of calls by a pointer, of
// jumps and of recursion.
func TestCallgrind(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	prog := perftest.Link(t, oracle.Need(t, "gcc"), []string{"-g", "-O2", "-static", "-fno-tree-loop-distribute-patterns", filepath.Join("testdata", "tree.c")}, "tree")
	all, err := prog.Plan()
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCode(prog, all)
	if err != nil {
		t.Fatal(err)
	}
	in, err := prog.Inputs(subject.Point{"n": 2000}, subject.RunOptions{Args: "{n}"})
	if err != nil {
		t.Fatal(err)
	}
	found := newCounter(c)
	_, err = prog.Run(t.Context(), subject.Request{Inputs: in, Plan: c.plan, Collectors: []trace.Collector{found}})
	if errors.Is(err, native.ErrPtrace) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	graph, nodes := prog.Structure().Graph, found.walker.nodes
	got := make(map[call]uint64)
	for _, x := range found.found {
		name := func(n int32) string { return graph.Routines[nodes[n].Routine].Name }
		got[call{"", name(x.Node)}] += x.Accesses
		for n := x.Node; nodes[n].Parent > 0; n = nodes[n].Parent {
			got[call{name(nodes[n].Parent), name(n)}] += x.Accesses
		}
	}
	want := callgrind(t, prog.File.Path, "2000")
	for _, k := range []call{
		{"", "copy"},
		{"", "fill"},
		{"", "left"},
		{"", "right"},
		{"", "both"},
		{"", "fib"},
		{"", "main"},
		{"main", "both"},
		{"both", "left"},
		{"both", "right"},
		{"left", "fill"},
		{"left", "copy"},
		{"right", "copy"},
		{"main", "right"},
		{"last", "copy"},
		{"main", "fib"},
	} {
		if got[k] != want[k] || want[k] == 0 {
			t.Errorf("%+v: %d accesses, valgrind counts %d", k, got[k], want[k])
		}
	}
}
