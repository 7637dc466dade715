package access

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"presage/perf/cfg"
	"presage/perf/internal/wire"
)

// TestCode: references and groups are read back as they were written, and answer
// the same questions once they have their graphs.
func TestCode(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for name, exe := range map[string]string{
		"C -O0":       compile(t, "kernels.c", "-O0"),
		"C -O3":       compile(t, "kernels.c", "-O3", "-funroll-loops"),
		"C++":         compile(t, "kernels.cc", "-O2"),
		"Fortran":     compile(t, "kernels.f90", "-O2"),
		"Go stripped": compile(t, "kernels.go", "-ldflags=-s -w"),
	} {
		a := analyze(t, exe)
		tree := cfg.NewScopeTree(a.Program)
		same := func(routine, loop, other int) bool { // loops of one header's scope
			r := a.Program.Routines[routine]
			return tree.Of(routine, r.Loops[loop].Header) == tree.Of(routine, r.Loops[other].Header)
		}
		groups := a.Groups(same)
		var w wire.Writer
		a.Encode(&w)
		groups.Encode(&w)
		r := wire.NewReader(w.Bytes())
		back := Decode(r, a.Program.File)
		backGroups := DecodeGroups(r, len(back.All))
		if err := r.End(); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkReferences(t, name, a, back)
		if !reflect.DeepEqual(groups, backGroups) {
			t.Errorf("%s: the groups are read back otherwise", name)
		}
		checkTrips(t, name, a, back.For(a.Program))
		t.Logf("%s: %d references in %d bytes", name, len(a.All), len(w.Bytes()))
	}
}

func checkReferences(t *testing.T, name string, want, got *Analysis) {
	t.Helper()
	if len(got.All) != len(want.All) || got.Instructions != want.Instructions || got.global != want.global || len(got.Warnings) != len(want.Warnings) {
		t.Errorf("%s: %d references, %d instructions, %v; were %d, %d, %v", name,
			len(got.All), got.Instructions, got.global, len(want.All), want.Instructions, want.global)
		return
	}
	for i := range want.All {
		if !reflect.DeepEqual(want.All[i], got.All[i]) {
			t.Errorf("%s: reference %d is read back as\n%+v, was\n%+v", name, i, got.All[i], want.All[i])
			return
		}
	}
	for i := range want.Warnings {
		if want.Warnings[i].Error() != got.Warnings[i].Error() {
			t.Errorf("%s: warning %q, was %q", name, got.Warnings[i], want.Warnings[i])
		}
	}
}

func checkTrips(t *testing.T, name string, want, got *Analysis) {
	t.Helper()
	found := false
	for i, r := range want.Program.Routines {
		if len(r.Loops) == 0 || i%7 != 0 && r.Name != "main" && len(want.Program.Routines) > 100 {
			continue // a part of the library's
		}
		trips := want.TripCounts(i)
		for _, c := range trips {
			found = found || c != nil
		}
		if !reflect.DeepEqual(trips, got.TripCounts(i)) {
			t.Errorf("%s: other trip counts of %s once read back", name, r.Name)
		}
	}
	if !found {
		t.Errorf("%s: no trip count was compared", name)
	}
}

func FuzzCode(f *testing.F) {
	source := filepath.Join(f.TempDir(), "bare.c")
	if err := os.WriteFile(source, []byte("int a[64], b[64]; void _start(void) { for (int i = 0; i < 64; i++) a[b[i]] += b[i]; for (;;); }\n"), 0o666); err != nil {
		f.Fatal(err)
	}
	a := analyze(f, compile(f, source, "-O1", "-nostdlib", "-ffreestanding"))
	var w wire.Writer
	a.Encode(&w)
	a.Groups(nil).Encode(&w)
	f.Add(w.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		r := wire.NewReader(data)
		back := Decode(r, a.Program.File)
		groups := DecodeGroups(r, len(back.All))
		if r.End() != nil {
			return
		}
		if _, err := groups.Plan(back, PlanOptions{Stack: true}); err != nil {
			t.Error(err)
		}
		for i := range back.All {
			_ = back.All[i].String() + back.All[i].First.String()
		}
	})
}
