package perf_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A document has examples that build on each other: a block may use what an
// earlier one declares, and what is given.
type document struct {
	path   string
	blocks *regexp.Regexp // in its groups: what marks a block as only compiled, or nothing; the block's text
	given  string         // declarations of what no block of it declares
	after  string         // the document whose blocks come first, or empty
	run    bool           // run the program, not only compile it
}

var (
	fenced   = regexp.MustCompile("(?s)(<!-- compiled only -->\n)?```go\n(?:%%\n)?(.*?)```")
	indented = regexp.MustCompile(`()((?://\t.*\n)+)`)
	shell    = regexp.MustCompile("(?s)```sh\n(.*?)```")
)

var documents = []document{
	{path: "../README.md", blocks: fenced, run: true},
	{path: "../notebooks/README.md", blocks: fenced, after: "../README.md", run: true, given: `
		var recorded = perf.Must(frame.ReadCSV(perf.Must(os.Open("../datasets/iperf/simulated.csv"))))
		var ultrasparc = perf.Must(frame.Where(perf.Must(frame.Where(recorded, "machine", "ultrasparc-2")), "level", "none"))
		var times = perf.Must(frame.Where(ultrasparc, "placement", "anywhere"))`},
	{path: "doc.go", blocks: indented, given: `
		var ctx = context.Background()
		var times dataframe.DataFrame
		var overlay *iperf.Overlay
		var system *iperf.System
		var mine trace.Collector`},
	{path: "metasim/README.md", blocks: fenced, given: "var ctx = context.Background(); var file *objfile.File; var args []string"},
}

// TestDocumentsRun compiles the examples of the documents against the packages as
// they are, and runs those of the documents that a newcomer pastes from, in the
// folder of the notebooks with an empty store.
func TestDocumentsRun(t *testing.T) {
	if testing.Short() {
		t.Skip("what it starts is built without the race detector")
	}
	paths := importPaths(t)
	for _, d := range documents {
		t.Run(d.path, func(t *testing.T) {
			t.Parallel()
			var blocks []block
			if d.after != "" {
				blocks = blocksOf(t, d.after, fenced)
			}
			own := blocksOf(t, d.path, d.blocks)
			if len(own) == 0 {
				t.Fatal("no example")
			}
			exe := filepath.Join(t.TempDir(), "examples")
			if out, err := build(t, program(append(blocks, own...), d.given, paths), exe); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if !d.run {
				return
			}
			cmd := exec.CommandContext(t.Context(), exe)
			cmd.Dir, cmd.Env = "../notebooks", append(os.Environ(), "PRESAGE_STORE="+t.TempDir())
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	bad := []block{{text: "prog := perf.Must(perf.Open())\n"}}
	if out, err := build(t, program(bad, "", paths), filepath.Join(t.TempDir(), "bad")); err == nil || !strings.Contains(out, "not enough arguments") {
		t.Errorf("a call without its argument: %v, %s", err, out)
	}
}

// TestReadmeShell runs the commands of README.md that follow the installation, in a
// folder that has the repository's datasets, with an empty store.
func TestReadmeShell(t *testing.T) {
	if testing.Short() {
		t.Skip("what it starts is built without the race detector")
	}
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const install = "go install ./perf/cmd/presage\n"
	var script string
	for _, m := range shell.FindAllStringSubmatch(string(text), -1) {
		if commands, ok := strings.CutPrefix(m[1], install); ok {
			script += commands
		}
	}
	if strings.Count(script, "\n") < 5 {
		t.Fatalf("README.md has no commands after %q: %q", install, script)
	}
	bin, dir := t.TempDir(), t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "./cmd/presage").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	datasets, err := filepath.Abs("../datasets")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(datasets, filepath.Join(dir, "datasets")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PRESAGE_STORE="+t.TempDir(), "PATH="+bin+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"pred_misses", "sim_misses", "rel_err", "trip"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the output has no %s:\n%s", want, out)
		}
	}
}

// importPaths returns the packages that examples may use, by name.
func importPaths(t *testing.T) map[string]string {
	paths := map[string]string{
		"context": "context", "os": "os", "fmt": "fmt", "rand": "math/rand/v2", "time": "time",
		"dataframe": "github.com/go-gota/gota/dataframe",
	}
	for _, p := range goList(t, "./perf/...") {
		paths[path.Base(p.ImportPath)] = p.ImportPath
	}
	return paths
}

// A block is the text of an example.
type block struct {
	text     string
	compiled bool // only
}

// blocksOf returns the examples of a document in order.
func blocksOf(t *testing.T, path string, blocks *regexp.Regexp) []block {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []block
	for _, m := range blocks.FindAllStringSubmatch(string(text), -1) {
		body := strings.TrimPrefix(strings.ReplaceAll("\n"+m[2], "\n//\t", "\n"), "\n")
		out = append(out, block{text: body, compiled: m[1] != ""})
	}
	return out
}

// TestReadmeNamesPackages: the tables of README.md name every package that is not
// below another, which may speak for it, and nothing that is no package.
func TestReadmeNamesPackages(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	tables, _, ok := strings.Cut(string(text), "\n## Where to add what")
	if !ok {
		t.Fatal("README.md does not say where to add what")
	}
	var named []string
	for line := range strings.Lines(tables) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 {
			continue
		}
		for i, part := range strings.Split(cells[1], "`") {
			if i%2 == 1 {
				named = append(named, part)
			}
		}
	}
	for _, l := range layers {
		name := strings.Replace(l.pkg, ".", "perf", 1)
		if i := slices.Index(named, name); i >= 0 {
			named = slices.Delete(named, i, i+1)
		} else if !strings.Contains(name, "/") {
			t.Errorf("README.md has no row for %s: say what goes in and what comes out", name)
		}
	}
	if len(named) > 0 {
		t.Errorf("README.md names %v, which are no packages or named twice", named)
	}
}

var (
	declared  = regexp.MustCompile(`(?m)^(\w+(?:, \w+)*)\s*:=`)
	qualifier = regexp.MustCompile(`\b([a-z]\w*)\.[A-Z]`)
)

// program returns the blocks as a program, each in a scope within that of the
// block before. Those that are only compiled have a scope of their own that is
// never entered.
func program(blocks []block, given string, paths map[string]string) string {
	var body strings.Builder
	open := 0
	for _, b := range blocks {
		if b.compiled {
			body.WriteString("if len(os.Args) > 1 {\n")
		} else {
			body.WriteString("{\n")
			open++
		}
		body.WriteString(b.text)
		for _, m := range declared.FindAllStringSubmatch(b.text, -1) {
			for name := range strings.SplitSeq(m[1], ", ") {
				if name != "_" {
					fmt.Fprintf(&body, "_ = %s\n", name)
				}
			}
		}
		if b.compiled {
			body.WriteString("}\n")
		}
	}
	body.WriteString(strings.Repeat("}", open))
	var imports []string
	for _, m := range qualifier.FindAllStringSubmatch(given+"\n"+body.String(), -1) {
		if p, ok := paths[m[1]]; ok && !slices.Contains(imports, p) {
			imports = append(imports, p)
		}
	}
	return fmt.Sprintf("package main\n\nimport (\n\t\"%s\"\n)\n\n%s\n\nfunc main() {\n%s}\n", strings.Join(imports, "\"\n\t\""), given, body.String())
}

// build builds a program as if it stood in a folder of this module.
func build(t *testing.T, source, exe string) (out string, err error) {
	t.Helper()
	dir := t.TempDir()
	file, overlay := filepath.Join(dir, "examples.go"), filepath.Join(dir, "overlay.json")
	place, err := filepath.Abs("internal/document/examples.go")
	if err != nil {
		t.Fatal(err)
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{place: file}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{file: []byte(source), overlay: replace} {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := exec.Command("go", "build", "-overlay", overlay, "-o", exe, "./internal/document").CombinedOutput()
	return string(text), err
}

// TestTablesAreWhole: a line between the rows of a table ends it, and what follows is
// shown as text.
func TestTablesAreWhole(t *testing.T) {
	var paths []string
	for _, pattern := range []string{"../*.md", "../*/*.md", "*/*.md", "*/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	tables := 0
	rule := regexp.MustCompile(`^\|(?: ?:?-+:? ?\|)+$`)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := append(strings.Split(string(text), "\n"), "", "")
		for i, line := range lines {
			if strings.HasPrefix(line, "|") && (i == 0 || !strings.HasPrefix(lines[i-1], "|")) {
				if tables++; !rule.MatchString(lines[i+1]) {
					t.Errorf("%s:%d: a row without a table: %.60s", path, i+1, line)
				}
			}
		}
	}
	if tables == 0 {
		t.Error("no tables")
	}
}
