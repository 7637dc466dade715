//go:build linux && amd64

package native

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"presage/perf/engine"
	"presage/perf/internal/oracle"
	"presage/perf/trace"
)

// TestCachegrind compares counts of instructions and references with valgrind's.
// They differ in the start of the C library, some 30,000 instructions that ask which
// processor it is, and wherever the library then takes other routines.
func TestCachegrind(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the traced processes, their engine and its threads run in other tests, too")
	}
	const tolerance = 0.001
	tool := oracle.Need(t, "valgrind")
	for name, argument := range map[string]string{"gather.c": "700000", "matmul.c": "190", "stencil.c": "75", "calls.c": "31"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(filepath.Join("testdata", "bench", name))
			if err != nil {
				t.Fatal(err)
			}
			f := compile(t, string(source), "-O2", "-static")
			log, err := exec.Command(tool, "--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null", f.Path, argument).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, log)
			}
			r := engine.Request{Args: []string{argument}}
			d, err := Engine{}.Discover(t.Context(), f, r)
			if err != nil {
				t.Fatal(err)
			}
			r.Plan, r.Sink = d.Plan, trace.NewDirect()
			out, err := Engine{}.Run(t.Context(), f, r)
			if err != nil {
				t.Fatal(err)
			}
			for what, got := range map[string]uint64{"I": out.Instructions, "D": out.Accesses} {
				want := total(t, string(log), what)
				if diff := math.Abs(float64(got)-want) / want; diff > tolerance {
					t.Errorf("%d %s refs, valgrind counts %.0f: %.2f%% apart", got, what, want, 100*diff)
				}
			}
		})
	}
}

// total returns a total that cachegrind printed.
func total(t *testing.T, log, what string) float64 {
	t.Helper()
	m := regexp.MustCompile(what + ` +refs: +([0-9,]+)`).FindStringSubmatch(log)
	if m == nil {
		t.Fatalf("no %s refs in\n%s", what, log)
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
