package engines

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"presage/perf/engine"
	"presage/perf/isa"
	"presage/perf/isa/amd64"
	"presage/perf/isa/rv64"
	"presage/perf/objfile"
)

// stub is an engine for executables at one entry address.
type stub struct {
	name  string
	entry uint64
}

func (s stub) Identity() engine.Identity       { return engine.Identity{Name: s.name, Version: 1} }
func (stub) Capabilities() engine.Capabilities { return 0 }

func (s stub) Accepts(f *objfile.File) error {
	if f.Entry != s.entry {
		return errors.New(s.name + " wants another entry")
	}
	return nil
}

func (stub) Run(context.Context, *objfile.File, engine.Request) (*engine.Outcome, error) {
	return nil, errors.New("a stub")
}

// moded is a stub with two modes.
type moded struct{ stub }

func (moded) Modes() []string { return []string{"slow", "fast"} }

func (m moded) InMode(name string) (engine.Engine, error) {
	return stub{m.name + "/" + name, m.entry}, nil
}

// choosing is a stub with two processors.
type choosing struct{ stub }

func (choosing) CPUs() []string { return []string{"old", "new"} }

func (c choosing) OnCPU(name string) (engine.Engine, error) {
	return stub{c.name + "-" + name, c.entry}, nil
}

func TestCPU(t *testing.T) {
	list := []engine.Engine{stub{"a", 1}, choosing{stub{"b", 2}}}
	for _, c := range []struct {
		entry     uint64
		cpu, want string // name of the engine, or the error
	}{
		{1, "", "a"},
		{1, "old", `processor "old": the engine a@1 has one processor only`},
		{2, "", "b"},
		{2, "old", "b-old"},
		{2, "older", `processor "older": want old or new`},
	} {
		e, err := Choice{CPU: c.cpu}.of(list, &objfile.File{Entry: c.entry})
		got := ""
		if err == nil {
			got = e.Identity().Name
		} else {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("processor %q for entry %d: %s, want %s", c.cpu, c.entry, got, c.want)
		}
	}
}

func TestNamed(t *testing.T) {
	list := []engine.Engine{stub{"a", 1}, moded{stub{"b", 2}}, stub{"c", 2}}
	for _, c := range []struct {
		entry      uint64
		name, want string // name of the engine, or a part of the error
	}{
		{1, "", "a"},
		{1, "auto", "a"},
		{1, "a", "a"},
		{1, "b", `engine "b": want auto`},
		{2, "auto", "b"},
		{2, "fast", "b/fast"},
		{2, "b", "b"},
		{2, "c", "c"},
		{2, "vm", `engine "vm": want auto, slow, fast or c`},
		{3, "auto", "b wants another entry"},
		{3, "a", "no engine runs this executable"},
	} {
		e, err := named(list, &objfile.File{Entry: c.entry}, c.name)
		got := ""
		if err == nil {
			got = e.Identity().Name
		} else {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%q for entry %d: %s, want %s", c.name, c.entry, got, c.want)
		}
	}
}

// TestAll checks that the engines have the properties that other packages rely on.
func TestAll(t *testing.T) {
	f := &objfile.File{Target: rv64.Target(), Segments: []objfile.Segment{{MemSize: 1}}}
	e, err := For(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", Auto, "interp", "jit", e.Identity().Name} {
		got, err := Choice{Name: name}.Engine(f)
		if err != nil || got.Identity() != e.Identity() {
			t.Errorf("engine %q: %v, %v", name, got, err)
		}
		least, err := Choice{Name: name}.Least(f)
		if want := map[string]string{"interp": "interp", "jit": "jit"}[name]; err != nil || least.Name != want {
			t.Errorf("engine %q is %q in short, error %v; want %q", name, least.Name, err, want)
		}
	}
	if got := strings.Join(append(Names(), CPUs()...), " "); got != "auto interp jit confined x86-64-v2 x86-64-v3 x86-64-v4" {
		t.Errorf("names of engines and processors: %s", got)
	}
	names := make(map[string]bool)
	numbered := 0
	for _, e := range all() {
		id := e.Identity()
		if names[id.Name] {
			t.Errorf("two engines are called %s", id.Name)
		}
		names[id.Name] = true
		if id.Numbered {
			numbered++
		}
	}
	if numbered != 1 {
		t.Errorf("%d engines have keys of bare numbers: one wrote profiles before engines had names", numbered)
	}
	if _, err := For(&objfile.File{Target: rv64.Target()}); err == nil {
		t.Error("an executable without segments: no error")
	}
	foreign := &objfile.File{Target: &isa.Target{Name: "none"}, Segments: f.Segments}
	if _, err := For(foreign); err == nil || !strings.Contains(err.Error(), "is for none, not riscv64") {
		t.Errorf("an executable for another instruction set: %v", err)
	}
}

// TestMachines checks which engine runs the executables of an instruction set.
func TestMachines(t *testing.T) {
	segments := []objfile.Segment{{Addr: 1 << 16}}
	if e, err := For(&objfile.File{Path: "a.out", Segments: segments, Target: rv64.Target()}); err != nil || e.Identity().Name != "rv64" {
		t.Errorf("for riscv64: %v, error %v", e, err)
	}
	e, err := For(&objfile.File{Path: "a.out", Segments: segments, Target: amd64.Target()})
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		if err != nil || e.Identity().Name != "native" {
			t.Errorf("for amd64: %v, error %v", e, err)
		}
	} else if !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("for amd64 elsewhere: error %v", err)
	}
}
