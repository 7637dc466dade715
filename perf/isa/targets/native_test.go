//go:build linux && amd64

package targets_test

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/cpu"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/internal/oracle"
	"presage/perf/isa"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// native compiles a source for this machine.
func native(t *testing.T, source string, flags ...string) string {
	t.Helper()
	compiler := map[string]string{".c": "gcc", ".cc": "g++", ".f90": "gfortran"}[filepath.Ext(source)]
	dir := t.TempDir()
	exe := filepath.Join(dir, "program")
	args := []string{"-g", "-w", "-o", exe}
	if compiler == "gfortran" {
		args = append(args, "-J", dir)
	}
	args = append(append(args, flags...), source, "-lm")
	if out, err := exec.Command(oracle.Need(t, compiler), args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", compiler, args, err, out)
	}
	return exe
}

func analysis(t *testing.T, exe string) *access.Analysis {
	t.Helper()
	f, err := objfile.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	return access.Analyze(cfg.Analyze(f))
}

// course follows a run along the control-flow graphs: it demands that every
// transfer is one that they have, and feeds a collector.
type course struct {
	t       *testing.T
	program *cfg.Program
	checker *access.Checker
	ids     map[uint64]trace.BlockID // by address of a block

	last       *isa.Inst
	lastBlock  int
	routine    *cfg.Routine
	batch      trace.Batch
	unknown    string // a routine whose jumps are not resolved
	transfers  int
	failures   int
	executions map[uint64]uint64 // by address of a block
}

func newCourse(t *testing.T, a *access.Analysis) *course {
	c := &course{t: t, program: a.Program, checker: access.NewChecker(a), ids: make(map[uint64]trace.BlockID), executions: make(map[uint64]uint64)}
	for i, b := range c.checker.Plan().Blocks {
		c.ids[uint64(b.PC)] = trace.BlockID(i)
	}
	return c
}

func (c *course) fail(format string, args ...any) {
	if c.failures++; c.failures <= 10 {
		c.t.Errorf(format, args...)
	}
}

func (c *course) visit(s *step) bool {
	r := c.routine
	if r == nil || s.pc < r.Addr || s.pc >= r.Addr+r.Size {
		r = c.program.RoutineAt(s.pc)
	}
	if r == nil {
		c.fail("%#x is in no routine", s.pc)
		return false
	}
	if c.last != nil && c.last.PC == s.pc && strings.HasPrefix(c.last.Op, "movs") || c.last != nil && c.last.PC == s.pc && strings.HasPrefix(c.last.Op, "stos") {
		return true // the next repetition
	}
	if r.Name == c.unknown {
		c.last = nil
		return true
	}
	b, i := r.BlockAt(s.pc)
	if b < 0 {
		c.fail("%#x in %s is in no block", s.pc, r.Name)
		c.last = nil
		return c.failures < 20
	}
	c.follow(r, b, i, s.pc)
	in := &r.Blocks[b].Insts[i]
	if i == 0 {
		c.batch.Blocks, c.batch.Counts = append(c.batch.Blocks, c.ids[s.pc]), append(c.batch.Counts, 0)
		c.executions[s.pc]++
	}
	for _, m := range in.Mems() {
		c.batch.Accesses = append(c.batch.Accesses, trace.Access(address(&m, &s.regs)&(trace.AddrLimit-1)))
	}
	if k := len(c.batch.Counts); k > 0 {
		c.batch.Counts[k-1] += uint32(len(in.Mems()))
	}
	c.tag(r, b, i)
	if len(c.batch.Blocks) > 0 && i == len(r.Blocks[b].Insts)-1 && len(c.batch.Accesses) > 4096 {
		c.checker.Observe(&c.batch)
		c.batch = trace.Batch{}
	}
	c.last, c.lastBlock, c.routine = in, b, r
	return true
}

// tag numbers the accesses that were just added.
func (c *course) tag(r *cfg.Routine, b, i int) {
	n := len(r.Blocks[b].Insts[i].Mems())
	if n == 0 {
		return
	}
	first := 0
	for k := range i {
		first += len(r.Blocks[b].Insts[k].Mems())
	}
	id := c.ids[r.Blocks[b].PC()]
	ref := c.firstRef(id)
	for k := range n {
		at := len(c.batch.Accesses) - n + k
		c.batch.Accesses[at] |= trace.Tag(ref+trace.RefID(first+k), 8)
	}
}

// firstRef returns the first reference of a block.
func (c *course) firstRef(id trace.BlockID) trace.RefID {
	plan := c.checker.Plan()
	at, _ := slices.BinarySearchFunc(plan.Refs, plan.Blocks[id].PC, func(r trace.Ref, pc trace.PC) int { return cmp.Compare(r.PC, pc) })
	return trace.RefID(at)
}

// follow demands that control may come from the last instruction to this one.
func (c *course) follow(r *cfg.Routine, b, i int, pc uint64) {
	if c.last == nil || c.last.Class == isa.Call || c.last.Class == isa.Return || c.last.Class == isa.SystemCall || r != c.routine {
		return // a library may have run in between
	}
	c.transfers++
	switch {
	case i > 0:
		if c.last.Next() != pc {
			c.fail("control comes from %#x into the middle of a block of %s at %#x", c.last.PC, r.Name, pc)
		}
	case !slices.ContainsFunc(r.Blocks[c.lastBlock].Succs, func(e int) bool { return r.Edges[e].To == b }):
		c.fail("%s: no edge from %#x to %#x", r.Name, c.last.PC, pc)
	}
}

func address(m *isa.Mem, r *syscall.PtraceRegs) uint64 {
	regs := [...]uint64{r.Rax, r.Rcx, r.Rdx, r.Rbx, r.Rsp, r.Rbp, r.Rsi, r.Rdi, r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15, 0, r.Fs_base, r.Gs_base}
	at := uint64(m.Disp)
	if int(m.Base) < len(regs) {
		at += regs[m.Base]
	}
	if int(m.Index) < len(regs) {
		at += regs[m.Index] * uint64(m.Scale)
	}
	return at
}

func (c *course) result() *access.StrideCheck {
	c.checker.Observe(&c.batch)
	c.batch = trace.Batch{}
	return c.checker.Result()
}

// The goals are those that RISC-V's programs have to reach.
const (
	minAgree = 0.999
	minClean = 0.90
)

// vectors returns flags for the longest vectors that this processor executes.
func vectors() string {
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ {
		return "-O3 -march=x86-64-v4 -mprefer-vector-width=512"
	}
	return "-O3 -march=x86-64-v3 -mprefer-vector-width=256"
}

const kernelSources = "../../access/testdata/"

// nativeKernels are the kernels of package access, and those of their routines
// all of whose references are regular for all loops.
var nativeKernels = []struct {
	source, args string
	flags        []string
	dense        string
}{
	{
		"kernels.c", "10",
		[]string{"-O2", "-O1 -fno-pie -no-pie"},
		"matmul stencil triad transpose strided downward triangle count unrolled structs globals bubble calling factor convolve",
	},
	{ // the vectors' remainders begin where the vectors end, if there were any
		"kernels.c", "10",
		[]string{vectors()},
		"triad strided downward count structs globals",
	},
	{"kernels.f90", "", []string{"-O2"}, "__kernels_MOD_multiply __kernels_MOD_assumed __kernels_MOD_steps __kernels_MOD_cube __kernels_MOD_ofmodule __kernels_MOD_triangle"},
	// Of multiply, shrink-wrapping leaves two loops with one header.
	{"kernels.cc", "", []string{"-O1"}, "_Z9iteratorsRKSt6vectorIdSaIdEE"},
}

// steps bounds the instructions that a test of strides follows.
const steps = 40_000

// TestNativeStrides compares the control flow and the formulas of programs with
// what they do.
func TestNativeStrides(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, k := range nativeKernels {
		for _, flags := range k.flags {
			t.Run(k.source+" "+flags, func(t *testing.T) {
				exe := native(t, kernelSources+k.source, strings.Fields(flags)...)
				a := analysis(t, exe)
				c := newCourse(t, a)
				n := 0
				walk(t, exe, strings.Fields(k.args), func(s *step) bool { n++; return c.visit(s) && n < steps })
				r := c.result()
				if got := r.AgreeShare(); got < minAgree || r.Agree < 1000 {
					t.Errorf("%d of %d comparisons agree\n%s", r.Agree, r.Agree+r.Disagree, worst(a, r, 6))
				}
				for _, name := range strings.Fields(k.dense) {
					clean, all := regular(a, r, name)
					if all > 0 && float64(clean) < minClean*float64(all) {
						t.Errorf("%s: %d of %d accesses in loops are regular\n%s", name, clean, all, unclean(a, r, name))
					}
				}
				t.Logf("%d instructions, %d transfers; %d comparisons, %.6f agree; %d accesses in loops, %.4f regular; unaligned %d", n, c.transfers, r.Agree+r.Disagree, r.AgreeShare(), r.InLoops, r.CleanShare(), r.Unaligned)
			})
		}
	}
}

func regular(a *access.Analysis, r *access.StrideCheck, name string) (clean, all uint64) {
	for _, ref := range r.References {
		if at := &a.All[ref.Index]; at.Routine == name && len(at.Strides) > 0 {
			all += ref.Executions
			if ref.Clean {
				clean += ref.Executions
			}
		}
	}
	return clean, all
}

func worst(a *access.Analysis, r *access.StrideCheck, n int) string {
	text := ""
	for _, ref := range r.References[:min(n, len(r.References))] {
		text += fmt.Sprintf("%v: disagree %v\n", describe(&a.All[ref.Index]), ref.Disagree)
	}
	return text
}

func unclean(a *access.Analysis, r *access.StrideCheck, name string) string {
	text := ""
	for _, ref := range r.References {
		if at := &a.All[ref.Index]; at.Routine == name && !ref.Clean {
			text += fmt.Sprintf("%s, %d times\n", describe(at), ref.Executions)
		}
	}
	return text
}

func describe(r *access.Reference) string {
	text := fmt.Sprintf("%v: first %v, strides", r, r.First)
	for _, s := range r.Strides {
		text += " " + s.String()
	}
	return text
}
