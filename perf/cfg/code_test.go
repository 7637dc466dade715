package cfg

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"presage/perf/engine"
	embedded "presage/perf/engine/rv64"
	"presage/perf/internal/wire"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// throwing is a C++ program whose run shows code that analysis does not find.
const throwing = `#include <cstdio>
#include <stdexcept>
int f(int i) { if (i % 3 == 0) throw std::runtime_error("x"); return i; }
int main() { int s = 0; for (int i = 0; i < 9; i++) try { s += f(i); } catch (std::exception &e) { s -= 1; } std::printf("%d\n", s); }
`

// coded are programs from several compilers, as their graphs and scopes.
func coded(t *testing.T) map[string]*Program {
	kernels, err := os.ReadFile(filepath.Join("testdata", "kernels.c"))
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]*Program)
	for name, flags := range map[string][]string{"O0": {"-O0", "-g"}, "O3": {"-O3", "-g"}, "stripped": {"-O2", "-s"}} {
		all["C "+name] = analyze(t, build(t, "riscv64-linux-gnu-gcc", "kernels.c", string(kernels), append(flags, "-lm")...))
	}
	p := analyze(t, build(t, "riscv64-linux-gnu-g++", "throwing.cc", throwing, "-O2", "-g"))
	all["C++"] = p
	counters := PlaceCounters(p)
	out, err := (embedded.Engine{}).Run(context.Background(), p.File, engine.Request{Plan: &trace.Plan{Flow: counters.Plan}})
	if err != nil {
		t.Fatal(err)
	}
	all["C++ completed"] = p.Complete(out.Flow)
	if reflect.DeepEqual(all["C++ completed"].Routines, p.Routines) {
		t.Error("the run completed nothing")
	}
	return all
}

// TestCode: what was written is read back.
func TestCode(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	programs := coded(t)
	t.Run("graphs", func(t *testing.T) { checkGraphs(t, programs) })
	t.Run("scopes", func(t *testing.T) { checkScopes(t, programs) })
}

// checkGraphs compares instruction by instruction.
func checkGraphs(t *testing.T, programs map[string]*Program) {
	for name, p := range programs {
		var w wire.Writer
		p.Encode(&w)
		r := wire.NewReader(w.Bytes())
		back := Decode(r, p.File, p.shown...)
		if err := r.End(); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(back.Routines) != len(p.Routines) {
			t.Errorf("%s: %d routines, were %d", name, len(back.Routines), len(p.Routines))
			continue
		}
		for i, want := range p.Routines {
			if !reflect.DeepEqual(want, back.Routines[i]) {
				t.Errorf("%s: %s is read back as\n%+v\nwas\n%+v", name, want.Name, back.Routines[i], want)
				break
			}
		}
		checkWarnings(t, name, p.Warnings, back.Warnings)
		if len(p.shown) > 0 && !reflect.DeepEqual(back.Complete(p.shown[0]).Routines, p.Routines) {
			t.Errorf("%s: the graphs read back forget what completed them", name)
		}
	}
}

func checkWarnings(t *testing.T, name string, want, got []error) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: warnings %v, were %v", name, got, want)
		return
	}
	for i := range want {
		if want[i].Error() != got[i].Error() {
			t.Errorf("%s: warning %q, was %q", name, got[i], want[i])
		}
		for _, k := range known {
			if errors.Is(want[i], k) != errors.Is(got[i], k) {
				t.Errorf("%s: warning %q wraps another error", name, got[i])
			}
		}
	}
}

// checkScopes also has executables align by trees that were read back as they do
// by those that were written.
func checkScopes(t *testing.T, programs map[string]*Program) {
	var trees, backs []*ScopeTree
	for name, p := range programs {
		tree := NewScopeTree(p)
		var w wire.Writer
		tree.Encode(&w)
		r := wire.NewReader(w.Bytes())
		back := DecodeScopes(r)
		if err := r.End(); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if back.Program != nil {
			t.Errorf("%s: a program, though none was written", name)
		}
		for i := range tree.Scopes {
			if !reflect.DeepEqual(tree.Scopes[i], back.Scopes[i]) {
				t.Errorf("%s: scope %+v, was %+v", name, back.Scopes[i], tree.Scopes[i])
				break
			}
		}
		if !reflect.DeepEqual(tree, back.For(p)) {
			t.Errorf("%s: the tree is read back otherwise", name)
		}
		trees, backs = append(trees, tree), append(backs, back)
	}
	if want, got := Align(trees...), Align(backs...); !reflect.DeepEqual(want.Scopes, got.Scopes) || !reflect.DeepEqual(want.Of, got.Of) {
		t.Error("trees that were read back align otherwise")
	}
}

// TestDamagedCode: each prefix of a record is refused.
func TestDamagedCode(t *testing.T) {
	p := assemble(t, routine("_start", "1: addi a0, a0, -1\n bnez a0, 1b\n li a7, 93\n ecall\n")).Program
	var graphs, scopes wire.Writer
	p.Encode(&graphs)
	NewScopeTree(p).Encode(&scopes)
	for n := range graphs.Bytes() {
		r := wire.NewReader(graphs.Bytes()[:n])
		if Decode(r, p.File); r.End() == nil {
			t.Errorf("%d of %d bytes of the graphs are read", n, len(graphs.Bytes()))
		}
	}
	for n := range scopes.Bytes() {
		r := wire.NewReader(scopes.Bytes()[:n])
		if DecodeScopes(r); r.End() == nil {
			t.Errorf("%d of %d bytes of the scopes are read", n, len(scopes.Bytes()))
		}
	}
}

// FuzzCode: bytes that no Encode wrote give an error or a program whose parts
// refer to each other, and no panic.
func FuzzCode(f *testing.F) {
	p := assemble(f, routine("_start", "1: addi a0, a0, -1\n bnez a0, 1b\n li a7, 93\n ecall\n")).Program
	var graphs, scopes wire.Writer
	p.Encode(&graphs)
	NewScopeTree(p).Encode(&scopes)
	f.Add(graphs.Bytes())
	f.Add(scopes.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		r := wire.NewReader(data)
		if back := Decode(r, p.File); r.End() == nil {
			for _, routine := range back.Routines {
				checkRead(t, p.File, routine)
			}
		}
		r = wire.NewReader(data)
		if tree := DecodeScopes(r); r.End() == nil {
			Align(tree, tree)
		}
	})
}

func checkRead(t *testing.T, f *objfile.File, r *Routine) {
	t.Helper()
	for b := range r.Blocks {
		if block := &r.Blocks[b]; len(block.Insts) == 0 || f.Bytes(block.PC(), 1) == nil || block.Loop >= len(r.Loops) {
			t.Errorf("block %d: %+v", b, block)
		}
	}
	for _, e := range r.Edges {
		if e.From >= len(r.Blocks) || e.To >= len(r.Blocks) {
			t.Errorf("edge %+v of %d blocks", e, len(r.Blocks))
		}
	}
}
