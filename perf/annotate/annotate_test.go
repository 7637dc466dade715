package annotate_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"presage/perf/annotate"
	"presage/perf/callpath"
	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/misses"
	"presage/perf/store"
	"presage/perf/subject"
)

const n = 128

func annotated(t *testing.T, sources ...string) (*annotate.Annotation, *subject.Program, *store.Store) {
	t.Helper()
	prog := perftest.Link(t, oracle.Need(t, "riscv64-linux-gnu-gcc"), []string{
		"-O2", "-g", "-static", "-nostdlib", "-ffreestanding", "-fno-tree-loop-distribute-patterns", perftest.Path(t, "perf", "patterns", "testdata", "patterns.c"),
	}, "patterns")
	st := store.Open(t.TempDir())
	a, err := annotate.Simulate(t.Context(), prog, profiletest.Machine(t, "origin2000"), subject.Point{"n": n}, annotate.Options{
		RunOptions: subject.RunOptions{Store: st}, Sources: sources,
	})
	if err != nil {
		t.Fatal(err)
	}
	return a, prog, st
}

func sources(t *testing.T) string {
	return perftest.Path(t, "perf", "patterns", "testdata")
}

// lineOf returns the number of the first line of the source that holds a text.
func lineOf(t *testing.T, text string) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(sources(t), "patterns.c"))
	if err != nil {
		t.Fatal(err)
	}
	before, _, ok := strings.Cut(string(data), text)
	if !ok {
		t.Fatalf("no line has %q", text)
	}
	return 1 + strings.Count(before, "\n")
}

// TestCosts: executions and accesses of lines by theory, and misses that add up to
// those of misses.Simulate, over lines as over scopes.
func TestCosts(t *testing.T) {
	a, prog, st := annotated(t, sources(t))
	for text, want := range map[string]uint64{"s += a[i * n + j]": n * n, "b[i] = t": 4 * n * n, "s += x[i] * y[i]": 8 * n} {
		number, found := lineOf(t, text), false
		for _, l := range a.Lines {
			if l.Line != number || filepath.Base(l.File) != "patterns.c" {
				continue
			}
			found = true
			accesses := float64(want)
			if strings.Contains(text, "x[i]") {
				accesses *= 2
			}
			if l.Executions != want || l.Accesses != accesses {
				t.Errorf("%s: %d executions and %g accesses, want %d and %g", text, l.Executions, l.Accesses, want, accesses)
			}
		}
		if !found {
			t.Errorf("line %d, %s, is not there", number, text)
		}
	}
	rows, err := misses.Simulate(t.Context(), prog, profiletest.Machine(t, "origin2000"), []subject.Point{{"n": n}}, misses.SimulateOptions{RunOptions: subject.RunOptions{Store: st}})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		sum, own, wait := 0.0, 0.0, 0.0
		for _, l := range a.Lines {
			sum += l.Misses[i]
			wait += l.Wait
		}
		for _, s := range a.Scopes {
			own += s.Own.Misses[i]
		}
		if a.Levels[i] != r.Level || sum != r.Misses || own != r.Misses || a.Scopes[0].All.Misses[i] != r.Misses || r.Misses == 0 {
			t.Errorf("%s: lines have %g misses, scopes %g, the program %g; simulated %g", r.Level, sum, own, a.Scopes[0].All.Misses[i], r.Misses)
		}
		if math.Abs(wait-a.Scopes[0].All.Wait) > 1e-6*wait {
			t.Errorf("lines wait %g cycles, the program %g", wait, a.Scopes[0].All.Wait)
		}
	}
	inside := make(map[int]float64)
	for i := len(a.Scopes) - 1; i >= 0; i-- { // scopes are in preorder
		s := &a.Scopes[i]
		if all := s.Own.Wait + inside[s.Depth+1]; math.Abs(all-s.All.Wait) > 1e-6*all {
			t.Errorf("%s: %g cycles with what is inside, want %g", s.Name, s.All.Wait, all)
		}
		inside[s.Depth+1] = 0
		inside[s.Depth] += s.All.Wait
	}
}

// TestText: the source stands beside its costs with what carries its reuses; without
// the source, its lines are listed all the same.
func TestText(t *testing.T) {
	a, _, _ := annotated(t, sources(t))
	var text strings.Builder
	if err := a.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`16384  +16384 .* s \+= a\[i \* n \+ j\]`, `« b, after steps/.* in one iteration of steps/loop@patterns\.c`, `« first accesses to records`,
		`Reads one field of records`, `steps\n.* loop@patterns\.c`,
	} {
		if !regexp.MustCompile(want).MatchString(text.String()) {
			t.Errorf("nothing like %q in\n%s", want, &text)
		}
	}
	a, _, _ = annotated(t, t.TempDir())
	text.Reset()
	if err := a.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if got := text.String(); !strings.Contains(got, "no text:") || strings.Contains(got, "Reads one field") || !strings.Contains(got, "« first accesses to records") {
		t.Errorf("without the source:\n%s", got)
	}
}

// TestHTML: the fragment is well-formed, and text of the source is escaped.
func TestHTML(t *testing.T) {
	a, _, _ := annotated(t, sources(t))
	var text bytes.Buffer
	if err := a.WriteHTML(&text); err != nil {
		t.Fatal(err)
	}
	if got := text.String(); !strings.Contains(got, "i &lt; n") || !strings.Contains(got, "<title>steps: ") {
		t.Errorf("got\n%s", got)
	}
	d := xml.NewDecoder(strings.NewReader(strings.ReplaceAll(text.String(), "<br>", "<br/>")))
	depth := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v after %d bytes", err, d.InputOffset())
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
	}
	if depth != 0 {
		t.Errorf("%d elements are left open", depth)
	}
}

// TestPprof: go tool pprof reads the profile, and its sums are those of the lines.
func TestPprof(t *testing.T) {
	a, _, _ := annotated(t, sources(t))
	path := filepath.Join(t.TempDir(), "patterns.pb.gz")
	var data bytes.Buffer
	if err := a.WritePprof(&data); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseData(data.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for _, l := range a.Lines {
		total += l.Misses[0]
	}
	sum := int64(0)
	for _, s := range p.Sample {
		sum += s.Value[1]
	}
	if p.SampleType[1].Type != "L1 misses" || float64(sum) != total {
		t.Errorf("%d %s, want %g", sum, p.SampleType[1].Type, total)
	}
	out, err := exec.Command("go", "tool", "pprof", "-top", "-cum", "-unit=count", "-nodefraction=0", "-sample_index=L1 misses", path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// flat flat% sum% cum cum% name
	m := regexp.MustCompile(`(?m)^\s*\S+\s+\S+\s+\S+\s+(\d+)\s+\S+\s+steps$`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("no row of steps in\n%s", out)
	}
	for _, s := range a.Scopes {
		if s.Name == "steps" {
			if got, _ := strconv.ParseFloat(string(m[1]), 64); got != s.All.Misses[0] || got == 0 {
				t.Errorf("pprof has %g misses in steps, want %g", got, s.All.Misses[0])
			}
		}
	}
}

// TestCallStacks: with call paths, the stacks of a profile are those paths, with their
// misses, and go tool pprof charges memcpy to its callers.
func TestCallStacks(t *testing.T) {
	prog := perftest.Link(t, oracle.Need(t, "riscv64-linux-gnu-gcc"), []string{
		"-O2", "-g", "-static", "-fno-builtin", perftest.Path(t, "perf", "callpath", "testdata", "copies.c"),
	}, "copies")
	run, point := subject.RunOptions{Args: "{n}", Store: store.Open(t.TempDir())}, subject.Point{"n": 500}
	m := profiletest.Machine(t, "origin2000")
	a, err := annotate.Simulate(t.Context(), prog, m, point, annotate.Options{RunOptions: run, CallPaths: true})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := callpath.Simulate(t.Context(), prog, m, []subject.Point{point}, callpath.SimulateOptions{RunOptions: run})
	if err != nil {
		t.Fatal(err)
	}
	var data bytes.Buffer
	if err := a.WritePprof(&data); err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseData(data.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	got, total := make(map[string]float64), 0.0
	for _, s := range p.Sample {
		stack := prog.Name
		for i := len(s.Location) - 1; i >= 0; i-- {
			for k := len(s.Location[i].Line) - 1; k >= 0; k-- {
				stack += callpath.Separator + s.Location[i].Line[k].Function.Name
			}
		}
		got[stack] += float64(s.Value[1])
		total += float64(s.Value[1])
	}
	cum := make(map[string]float64)
	for _, r := range rows {
		if r.Level != "L1" {
			continue
		}
		if r.Depth == 0 && total != r.AllMisses {
			t.Errorf("stacks have %g misses, the run %g", total, r.AllMisses)
		}
		if strings.Contains(r.Path.Path, "memcpy") && got[r.Path.Path] != r.Misses {
			t.Errorf("%s: the stacks have %g misses, want %g", r.Path.Path, got[r.Path.Path], r.Misses)
		}
		if r.Depth > 0 && r.Scope == "stream" || r.Scope == "window" || r.Scope == "rounds" {
			cum[r.Scope] = r.AllMisses
		}
	}
	path := filepath.Join(t.TempDir(), "copies.pb.gz")
	if err := os.WriteFile(path, data.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	pprof := func(args ...string) string {
		args = append([]string{"tool", "pprof", "-unit=count", "-nodefraction=0", "-edgefraction=0", "-sample_index=L1 misses"}, args...)
		out, err := exec.Command("go", append(args, path)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	top := pprof("-top", "-cum")
	for caller, want := range cum {
		m := regexp.MustCompile(`(?m)^\s*\S+\s+\S+\s+\S+\s+(\d+)\s+\S+\s+` + caller + `$`).FindStringSubmatch(top)
		if m == nil || m[1] != strconv.FormatFloat(want, 'f', -1, 64) || want == 0 {
			t.Errorf("%s: want %g misses in\n%s", caller, want, top)
		}
	}
	if tree := pprof("-tree", "-focus=stream"); len(cum) != 3 || !strings.Contains(tree, "memcpy") || strings.Contains(tree, "window") {
		t.Errorf("below stream:\n%s", tree)
	}
}

// TestSourcesStayInTheirFolders: no recorded path leads out of the folders that are
// named, by dots or by links.
func TestSourcesStayInTheirFolders(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(sources(t), "patterns.c"), filepath.Join(dir, "patterns.c")); err != nil {
		t.Skip(err)
	}
	a, _, _ := annotated(t, dir)
	var text strings.Builder
	if err := a.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "Reads one field") {
		t.Error("a link led out of the folder")
	}
}
