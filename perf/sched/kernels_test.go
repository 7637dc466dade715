package sched

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/internal/oracle"
	"presage/perf/objfile"
)

// kernelSource has one innermost loop a function.
const kernelSource = `
void daxpy(long n, double a, double *restrict x, double *restrict y) { for (long i = 0; i < n; i++) y[i] += a * x[i]; }
void stencil3(long n, double *restrict x, double *restrict y) { for (long i = 1; i < n - 1; i++) y[i] = (x[i-1] + x[i] + x[i+1]) * 0.25; }
double dot(long n, double *x, double *y) { double s = 0; for (long i = 0; i < n; i++) s += x[i] * y[i]; return s; }
double spmv(long n, double *v, int *c, double *x) { double s = 0; for (long i = 0; i < n; i++) s += v[i] * x[c[i]]; return s; }
double sum(long n, double *x) { double s = 0; for (long i = 0; i < n; i++) s += x[i]; return s; }
long isum(long n, long *x) { long s = 0; for (long i = 0; i < n; i++) s += x[i]; return s; }
double divides(long n, double *x, double y) { for (long i = 0; i < n; i++) y = x[i] / y; return y; }
void scale(long n, double *restrict x, double *restrict y) { for (long i = 0; i < n; i++) y[i] = 3.0 * x[i]; }
void prefix(long n, double *x) { for (long i = 1; i < n; i++) x[i] = x[i-1] + x[i]; }
void through(long n, volatile double *x) { for (long i = 1; i < n; i++) x[i] = x[i-1] + 1; }
void add(long n, double *x, double *y) { for (long i = 0; i < n; i++) x[i] += y[i]; }
void _start(void) {}
`

// kernels are functions of C, compiled with gcc -O2.
type kernels struct {
	text     string // assembly
	analysis *access.Analysis
}

var compiled struct {
	sync.Mutex
	of map[string]*kernels
}

// compile compiles a source once.
func compile(t testing.TB, source string) *kernels {
	t.Helper()
	gcc := oracle.Need(t, "riscv64-linux-gnu-gcc")
	compiled.Lock()
	defer compiled.Unlock()
	if k := compiled.of[source]; k != nil {
		return k
	}
	dir, err := os.MkdirTemp("", "sched")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	c, s, exe := filepath.Join(dir, "k.c"), filepath.Join(dir, "k.s"), filepath.Join(dir, "k")
	if err := os.WriteFile(c, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-O2", "-g", "-march=rv64gc", "-S", "-o", s, c}, {"-static", "-nostdlib", "-march=rv64gc", "-Wl,--no-relax", "-o", exe, s}} {
		if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	text, err := os.ReadFile(s)
	if err != nil {
		t.Fatal(err)
	}
	f, err := objfile.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	k := &kernels{text: string(text), analysis: access.Analyze(cfg.Analyze(f))}
	if compiled.of == nil {
		compiled.of = make(map[string]*kernels)
	}
	compiled.of[source] = k
	return k
}

// loop returns the dependences of an innermost loop's only block.
func (k *kernels) loop(t testing.TB, name string, opt access.DependenceOptions) *access.Dependences {
	t.Helper()
	for i, r := range k.analysis.Program.Routines {
		if r.Name != name {
			continue
		}
		if len(r.Loops) != 1 || len(r.Loops[0].Blocks) != 1 {
			t.Fatalf("%s: loops %+v, want one of one block", name, r.Loops)
		}
		return k.analysis.Dependences(i, 0, r.Loops[0].Blocks, opt)
	}
	t.Fatalf("no routine %s", name)
	return nil
}

// body returns the assembly of the loop of a function: from the label that its
// last branch leads back to, to that branch.
func (k *kernels) body(t testing.TB, name string) string {
	t.Helper()
	_, text, _ := strings.Cut(k.text, "\n"+name+":\n")
	text, _, ok := strings.Cut(text, ".size\t"+name+",")
	if !ok {
		t.Fatalf("no function %s in the assembly", name)
	}
	var insts, from []string
	labels := make(map[string]int)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if label, ok := strings.CutSuffix(line, ":"); ok {
			labels[label] = len(insts)
			continue
		}
		if line == "" || line[0] == '.' || line[0] == '#' {
			continue
		}
		insts = append(insts, line)
		if at := strings.LastIndexByte(line, ','); line[0] == 'b' && at >= 0 {
			if first, ok := labels[strings.TrimSpace(line[at+1:])]; ok {
				from = insts[first:]
			}
		}
	}
	if from == nil {
		t.Fatalf("no loop in %s:\n%s", name, text)
	}
	for i, line := range from {
		if line[0] == 'b' {
			from = from[:i+1]
			break
		}
	}
	return strings.Join(from, "\n") + "\n"
}

// TestThroughMemory demands that a value that every iteration stores and the next
// one loads is a recurrence of store 1, load 4 and add 4; and so, with the
// pessimistic option, is one that only may be.
func TestThroughMemory(t *testing.T) {
	k := compile(t, kernelSource)
	for _, c := range []struct {
		name        string
		pessimistic bool
		want        float64
		says        string
	}{
		{"through", false, 9, "fld (k.c:11), through memory, 1 iteration later"},
		{"add", false, 1.75, "7 instructions"},
		{"add", true, 9, "through memory as is assumed, 1 iteration later"},
	} {
		for _, reschedule := range []bool{false, true} {
			s, err := New(wide(), Options{Reschedule: reschedule})
			if err != nil {
				t.Fatal(err)
			}
			g := s.ScheduleLoop(k.loop(t, c.name, access.DependenceOptions{Pessimistic: c.pessimistic}))
			text := g.Explain(k.analysis.Program)
			if g.Cycles != c.want || !strings.Contains(text, c.says) {
				t.Errorf("%s, pessimistic %v, rescheduled %v: want %v cycles, %s:\n%s", c.name, c.pessimistic, reschedule, c.want, c.says, text)
			}
			if g.Pairs == 0 || (g.Unknown > 0) != (c.name == "add") {
				t.Errorf("%s: %d of %d pairs of references unknown", c.name, g.Unknown, g.Pairs)
			}
		}
	}
}
