package subject

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/internal/wire"
	"presage/perf/store"
	"presage/perf/trace"
)

// sized is perf/internal/perftest/testdata/sized.c, compiled by
// riscv64-linux-gnu-gcc 12 -O2 -g -static -nostdlib -ffreestanding.
const sized = "testdata/sized.elf"

func openKept(t *testing.T, st *store.Store) *Program {
	t.Helper()
	p, err := Open(sized)
	if err != nil {
		t.Fatal(err)
	}
	p.KeepAnalysis(st)
	return p
}

// TestAnalysisVersion fails when the analysis of an executable finds something
// else than it did, or is written otherwise: kept analyses are then stale. Raise
// analysisVersion, and put the digest that the test prints here.
func TestAnalysisVersion(t *testing.T) {
	const version, digest = 5, "f0e7b1569aab461a"
	p := openKept(t, nil)
	var w wire.Writer
	p.Outline().encode(&w)
	p.Structure().Graph.Encode(&w)
	sum := sha256.Sum256(w.Bytes())
	if got := hex.EncodeToString(sum[:8]); got != digest || analysisVersion != version {
		t.Errorf("version %d finds %s, and version %d found %s: raise analysisVersion if the digest differs", analysisVersion, got, version, digest)
	}
}

// TestKeptAnalysis: what a store holds of a program is what analysis finds.
func TestKeptAnalysis(t *testing.T) {
	st := store.Open(t.TempDir())
	fresh, first, again := openKept(t, nil), openKept(t, st), openKept(t, st)
	first.Outline()
	again.Outline()
	if again.known.structure != nil {
		t.Error("the program was taken apart although its outline is kept")
	}
	checkSame(t, fresh.Structure(), again.Structure())
	for ref := range fresh.References() {
		for _, by := range []Scope{ByRoutine, ByLoop, ByReference} {
			if a, b := fresh.ScopeOf(by, Ref(ref)), again.ScopeOf(by, Ref(ref)); a != b {
				t.Errorf("reference %d is in %s, was in %s", ref, b, a)
			}
		}
	}
	for _, plan := range []func(*Program) (*trace.Plan, error){(*Program).Plan, (*Program).DataPlan} {
		a, err := plan(fresh)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := plan(again); err != nil || a.Digest() != b.Digest() {
			t.Errorf("the plan differs once kept (%v)", err)
		}
	}
	for _, p := range []*Program{fresh, first, again} {
		if w := p.AnalysisWarning(); w != "" {
			t.Errorf("warning %q", w)
		}
	}
}

func checkSame(t *testing.T, want, got *Structure) {
	t.Helper()
	for what, pair := range map[string][2]any{
		"references": {want.Access.All, got.Access.All},
		"groups":     {want.Groups, got.Groups},
		"graphs":     {want.Graph.Routines, got.Graph.Routines},
		"routines":   {want.OfRoutine, got.OfRoutine},
		"scopes":     {want.Scopes.Scopes, got.Scopes.Scopes},
		"warnings":   {want.Warnings(), got.Warnings()},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("other %s are kept than analysis finds", what)
		}
	}
	if got.Scopes.Program != got.Graph || got.Access.Program != got.Graph {
		t.Error("the structure's parts are of several graphs")
	}
}

// TestDamagedAnalysis: an entry that cannot be used is made again, with a warning.
func TestDamagedAnalysis(t *testing.T) {
	for _, kind := range []string{outlineKind, graphsKind} {
		for name, damage := range map[string]func(st *store.Store, key store.Key, path string) error{
			"truncated":    func(_ *store.Store, _ store.Key, path string) error { return os.Truncate(path, 100) },
			"well-sealed":  func(st *store.Store, key store.Key, _ string) error { return st.Save(key, []byte{1, 2, 3}) },
			"another type": func(st *store.Store, key store.Key, _ string) error { return st.Save(key, "text") },
		} {
			st := store.Open(t.TempDir())
			p := openKept(t, st)
			want := p.Structure()
			key, err := p.analysisKey(kind, "")
			if err != nil {
				t.Fatal(err)
			}
			if err := damage(st, key, st.Path(key)); err != nil {
				t.Fatal(err)
			}
			again := openKept(t, st)
			checkSame(t, want, again.Structure())
			if w := again.AnalysisWarning(); !strings.Contains(w, "analysed again") {
				t.Errorf("%s, %s: warning %q", kind, name, w)
			}
			third := openKept(t, st)
			if third.Structure(); third.AnalysisWarning() != "" {
				t.Errorf("%s, %s: not repaired: %s", kind, name, third.AnalysisWarning())
			}
		}
	}
}

// TestAnalysisThatCannotBeKept is a warning.
func TestAnalysisThatCannotBeKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	p := openKept(t, store.Open(filepath.Join(file, "below")))
	if p.Outline(); !strings.Contains(p.AnalysisWarning(), "not kept") {
		t.Errorf("warning %q", p.AnalysisWarning())
	}
}

// TestCopiedAnalysis: a folder of profiles has the analysis beside the program.
func TestCopiedAnalysis(t *testing.T) {
	from, to := store.Open(t.TempDir()), store.Open(t.TempDir())
	p := openKept(t, from)
	p.Outline()
	p.CopyAnalysis(to)
	there := openKept(t, to)
	if there.Outline(); there.known.structure != nil {
		t.Error("the copy was not found")
	}
	if p.known.store != from {
		t.Error("the program keeps its analysis elsewhere now")
	}
}

// TestCompletedAnalysis: what a run showed is part of the key, how often is not.
func TestCompletedAnalysis(t *testing.T) {
	st := store.Open(t.TempDir())
	p := openKept(t, st)
	r := p.Structure().Graph.Routines[0]
	middle := trace.PC(r.Blocks[0].Insts[1].PC) // where nothing is known to arrive
	flow := func(n uint64) []*trace.Flow {
		return []*trace.Flow{{Arrivals: []trace.Arrival{{PC: middle, Count: n}}}}
	}
	want := cfg.Analyze(p.File).Complete(flow(1)[0])
	if reflect.DeepEqual(want.Routines, p.Structure().Graph.Routines) {
		t.Fatal("the flow shows nothing new")
	}
	for i, shown := range [][]*trace.Flow{flow(1), flow(7)} {
		q := openKept(t, st)
		got := q.Completed(shown)
		if !reflect.DeepEqual(got.Graph.Routines, want.Routines) {
			t.Errorf("completion %d gives other graphs", i)
		}
		if taken := q.known.structure != nil; taken != (i == 0) {
			t.Errorf("completion %d: analysed %t", i, taken)
		}
		if !reflect.DeepEqual(got.Access.All, access.Analyze(want).All) {
			t.Errorf("completion %d gives other references", i)
		}
	}
	if q := openKept(t, st); q.Completed(nil) != q.Structure() {
		t.Error("nothing shown is not the program's own structure")
	}
}
