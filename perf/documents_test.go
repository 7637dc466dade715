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
	blocks *regexp.Regexp // the text of a block in its first group
	given  string         // declarations of what no block of it declares
}

var (
	fenced   = regexp.MustCompile("(?s)```go\n(.*?)```")
	indented = regexp.MustCompile(`((?://\t.*\n)+)`)
)

var documents = []document{
	{"../README.md", fenced, "var ctx = context.Background(); var times dataframe.DataFrame"},
	{"doc.go", indented, `
		var ctx = context.Background()
		var times dataframe.DataFrame
		var overlay *iperf.Overlay
		var system *iperf.System
		var mine trace.Collector`},
	{"metasim/README.md", fenced, "var ctx = context.Background(); var file *objfile.File; var args []string"},
}

// TestDocumentsCompile compiles the examples of the documents against the
// packages as they are.
func TestDocumentsCompile(t *testing.T) {
	paths := map[string]string{
		"context": "context", "os": "os", "fmt": "fmt", "rand": "math/rand/v2", "time": "time",
		"dataframe": "github.com/go-gota/gota/dataframe",
	}
	for _, p := range goList(t, "./perf/...") {
		paths[path.Base(p.ImportPath)] = p.ImportPath
	}
	for _, d := range documents {
		text, err := os.ReadFile(d.path)
		if err != nil {
			t.Fatal(err)
		}
		var blocks []string
		for _, m := range d.blocks.FindAllStringSubmatch(string(text), -1) {
			blocks = append(blocks, strings.TrimPrefix(strings.ReplaceAll("\n"+m[1], "\n//\t", "\n"), "\n"))
		}
		if len(blocks) == 0 {
			t.Errorf("%s has no example", d.path)
			continue
		}
		if out, err := compile(t, program(blocks, d.given, paths)); err != nil {
			t.Errorf("%s: %v\n%s", d.path, err, out)
		}
	}
	if out, err := compile(t, program([]string{"prog := perf.Must(perf.Open())\n"}, "", paths)); err == nil || !strings.Contains(out, "not enough arguments") {
		t.Errorf("a call without its argument: %v, %s", err, out)
	}
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
// block before.
func program(blocks []string, given string, paths map[string]string) string {
	var body strings.Builder
	for _, b := range blocks {
		body.WriteString("{\n" + b)
		for _, m := range declared.FindAllStringSubmatch(b, -1) {
			for name := range strings.SplitSeq(m[1], ", ") {
				if name != "_" {
					fmt.Fprintf(&body, "_ = %s\n", name)
				}
			}
		}
	}
	body.WriteString(strings.Repeat("}", len(blocks)))
	var imports []string
	for _, m := range qualifier.FindAllStringSubmatch(given+"\n"+body.String(), -1) {
		if p, ok := paths[m[1]]; ok && !slices.Contains(imports, p) {
			imports = append(imports, p)
		}
	}
	return fmt.Sprintf("package document\n\nimport (\n\t\"%s\"\n)\n\n%s\n\nfunc examples() {\n%s}\n", strings.Join(imports, "\"\n\t\""), given, body.String())
}

// compile compiles a program as if it stood in a folder of this module.
func compile(t *testing.T, source string) (out string, err error) {
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
	text, err := exec.Command("go", "build", "-overlay", overlay, "./internal/document").CombinedOutput()
	return string(text), err
}
