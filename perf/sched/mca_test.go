package sched

import (
	"math"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"presage/perf/access"
	"presage/perf/internal/oracle"
)

// mca returns the cycles an iteration that llvm-mca predicts in the long run.
func mca(t testing.TB, body string, flags ...string) float64 {
	t.Helper()
	tool := oracle.Need(t, "llvm-mca-14")
	total := func(iterations int) float64 {
		cmd := exec.Command(tool, append(flags, "-iterations="+strconv.Itoa(iterations))...)
		cmd.Stdin = strings.NewReader(body)
		out, err := cmd.CombinedOutput()
		m := regexp.MustCompile(`Total Cycles:\s+(\d+)`).FindSubmatch(out)
		if err != nil || m == nil {
			t.Fatalf("%v\n%s\n%s", err, body, out)
		}
		n, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	const few, many = 100, 300
	return (total(many) - total(few)) / (many - few)
}

// mcaTolerance is how far times may be from llvm-mca's: the project's goal.
const mcaTolerance = 0.10

// TestAgainstMCA compares the loops of C kernels, compiled by gcc -O2, with
// llvm-mca on the same assembly, and both with what the core would do if a
// short instruction's result could overtake a long one's:
//
//	          llvm-mca  ordered   free
//	daxpy        11       11      11    2 loads on one pipe, load 2 → fma 7 → store
//	stencil3     22       22      22    fp 7 → 7 → 7 → store, all in program order
//	dot           9        9       7    fma 7; the next load (2) may not be written before it: + 2
//	spmv         17       17      12    load 3 → shift 3 → add 3 → load 2, and likewise
//	sum           8        8       7    fp add 7
//	isum          5        5       4    load 3 → add, in step
//	divides      58       58      58    fp divide 56 on pipe B, too; then the branch there, load 2
//	scale        10       10      10    load 2 → multiply 7 → store
//	prefix       10       10      10    load 2 → add 7 → store, next load; the value stays in a register
func TestAgainstMCA(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	k := compile(t, kernelSource)
	ordered, err := New(described(t, "sifive-u74-llvm14"), Options{OrderedWrites: true})
	if err != nil {
		t.Fatal(err)
	}
	free, err := New(described(t, "sifive-u74-llvm14"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, overtaking := range map[string]float64{
		"daxpy": 11, "stencil3": 22, "dot": 7, "spmv": 12, "sum": 7, "isum": 4, "divides": 58, "scale": 10, "prefix": 10,
	} {
		want := mca(t, k.body(t, name), mcaU74...)
		d := k.loop(t, name, access.DependenceOptions{})
		got := ordered.ScheduleLoop(d)
		other := free.ScheduleLoop(d)
		t.Logf("%-10s llvm-mca %6.2f  ordered %6.2f (%+.1f%%)  free %6.2f %v", name, want, got.Cycles, 100*(got.Cycles/want-1), other.Cycles, other.Limit)
		if math.Abs(got.Cycles/want-1) > mcaTolerance {
			t.Errorf("%s: %.2f cycles, llvm-mca %.2f", name, got.Cycles, want)
		}
		if other.Cycles != overtaking {
			t.Errorf("%s: %.2f cycles if results may overtake, want %g", name, other.Cycles, overtaking)
		}
	}
}
