package perf_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	perfPath     = "presage/perf"
	programsPath = "presage/datasets/programs"
)

// A layer is a package below perf/ ("." is perf itself) and the packages that
// its code may import. "*" stands for every package above it in the table.
type layer struct{ pkg, may string }

// layers is the order of the design, top to bottom of the data flow. A package
// may name only packages above its own line, so there can be no cycle, and
// what is not named may not be imported: fit knows no instruction set,
// collectors know no machine, the engine knows no collector, and nothing but
// the facade knows which engine runs. What only tests import is exempt.
var layers = []layer{
	// A binary, taken apart.
	{"internal/wire", ""},
	{"internal/child", ""},
	{"trace", ""},
	{"trace/affine", "trace"},
	{"isa", ""},
	{"isa/amd64", "isa"},
	{"isa/rv64", "isa"},
	{"isa/targets", "isa isa/rv64 isa/amd64"}, // the only one that names instruction sets
	{"objfile", "isa isa/targets"},            // a File carries its isa.Target
	{"cfg", "internal/wire trace objfile isa"},
	{"access", "internal/wire trace objfile isa cfg"},

	// Running it.
	{"engine", "trace objfile"},
	{"engine/rv64/softfloat", ""},
	{"engine/rv64/amd64asm", ""},
	{"engine/rv64", "trace objfile isa isa/rv64 engine engine/rv64/softfloat engine/rv64/amd64asm"},
	{"engine/native", "trace objfile isa/amd64 engine"},
	{"engine/engines", "objfile engine engine/rv64 engine/native"}, // the only one that names an engine

	// Collectors.
	{"reuse", "trace trace/affine"},
	{"cache", "trace trace/affine"},
	{"ptmalloc", ""},
	{"replay", "trace objfile isa cfg access ptmalloc"},
	{"bbv", "trace"},
	{"shard", "trace isa reuse"},
	{"internal/partition", "reuse"},
	{"pipeline", "trace isa cache"},

	// Models.
	{"internal/order", ""},
	{"internal/yamlfile", ""},
	{"internal/num", ""},
	{"internal/wasmcache", ""}, // imports syscall alone, and says why
	{"leastsquares", ""},
	{"fit", "leastsquares"},
	{"scaling", "internal/wire reuse fit"},

	{"progress", ""},

	// Machines and predictions.
	{"machine", "isa cache pipeline internal/yamlfile"},
	{"host", "internal/child internal/order isa cache machine progress"},
	{"sched", "trace isa cfg access machine"},
	{"synth", "trace isa cfg pipeline sched"},
	{"predict", "cache fit scaling machine"},

	// What studies are made of.
	{"iperf", "trace leastsquares fit machine internal/order internal/yamlfile"},
	{"iperf/nest", "cfg access fit iperf"}, // a binary's loops as a kernel: the factors themselves know no binary
	{"iperf/target", "trace fit iperf"},
	{"simpoint", "bbv"},
	{"metasim", "trace isa cfg engine bbv cache machine predict simpoint"},
	{"infer", "internal/order leastsquares"},
	{"spmv/simd", ""},
	{"spmv", "internal/order trace cache infer spmv/simd"},

	// What results are kept in and seen as.
	{"store", ""},
	{"frame", "internal/num internal/order"},
	{"figure", "frame"},
	{"figure/graph", ""},
	{"figure/diagram", "figure/graph internal/wasmcache"}, // brings Graphviz: nothing that cells link unasked imports it

	// Who does the work.
	{"campaign", "progress store"},
	{"campaign/pool", "campaign"},
	{"campaign/ssh", "internal/yamlfile campaign campaign/pool"},
	{"campaign/slurm", "internal/yamlfile campaign store"},

	// A program, taken apart, run, modelled, and put on a machine.
	{"machine/catalog", "isa machine predict"},
	{"subject", "internal/child internal/num internal/wire trace objfile cfg access engine engine/engines campaign progress store"},
	{"anatomy", "trace cfg access fit scaling campaign subject progress store figure/graph internal/num"},
	{"allocation", "trace objfile"},
	{"locality", "trace allocation objfile cfg access engine reuse campaign subject anatomy progress store internal/num"},
	{"misses", "trace cfg access reuse cache fit scaling machine predict campaign subject locality store internal/num progress"},
	{"misses/replayed", "internal/num trace allocation cache machine predict replay reuse subject locality misses store progress"},
	{"patterns", "internal/num internal/partition trace allocation reuse cache fit scaling machine predict progress store subject locality misses"},
	{"sharing", "internal/num trace allocation reuse cache machine subject locality"},
	{"advice", "internal/num machine predict subject locality patterns sharing"},
	{"callpath", "internal/num internal/partition trace objfile isa cfg reuse cache fit scaling machine predict progress store subject locality misses patterns"},
	{"annotate", "internal/num objfile machine predict subject anatomy patterns callpath"},
	{"training", "internal/order progress store subject locality misses"},
	{"timing", "trace isa cache cfg access fit scaling machine predict sched synth pipeline campaign store subject locality anatomy misses internal/num"},
	{"roofline", "isa machine predict subject misses timing"},
	{"phase", "bbv cache campaign engine machine simpoint metasim subject store"},

	// The page in which models are changed by hand.
	{"explore", "trace cfg reuse fit machine predict machine/catalog internal/num frame figure subject locality misses"},

	{"report", "machine frame figure subject locality misses misses/replayed"},

	// Studies: none knows the facade.
	{"host/measure", "host progress subject internal/order"},
	{"study/record", "store frame internal/order"},
	{"study/record/parquet", "study/record"}, // apart: the library is large, and cells link what package perf imports
	{"host/calibration", "host machine store frame figure"},
	{"study/growth", "machine predict subject store anatomy misses timing study/record frame internal/num"},
	{"study/mending", "internal/child internal/num machine predict subject locality misses misses/replayed patterns timing sharing advice store study/record"},
	{"study/sampling", "bbv machine simpoint metasim progress subject phase study/record internal/num"},
	{"study/inferred", "internal/child trace isa internal/yamlfile shard pipeline infer campaign subject anatomy timing study/record progress store frame scaling predict"},
	{"study/sparse", "internal/order trace isa cache pipeline host spmv campaign subject study/record progress store"},
	{"study/judging", "internal/child internal/yamlfile internal/order internal/num machine predict campaign progress store subject anatomy locality misses misses/replayed timing study/record"},
	{"study/walltime", "internal/child host host/measure internal/order machine subject locality anatomy misses timing study/record progress"},
	{"study/kernels", "internal/child trace isa pipeline fit host host/measure iperf iperf/nest iperf/target machine/catalog subject study/record progress store"},

	{"campaign/works", "campaign anatomy locality misses timing phase study/inferred study/sparse"}, // what workers can do

	// What people and other programs see.
	{".", "*"},
	{"cmd/presage", "*"},
	{"cmd/nbcheck", ""},
	{"cmd/nbsetup", ""},
	{"notebook", ". study/record progress frame figure"}, // for cells alone: nothing below may import it

	// Imported by tests only.
	{"engine/enginetest", "trace objfile engine"},
	{"trace/tracetest", "trace"},
	{"internal/oracle", ""},
	{"internal/oracle/damage", ""},
	{"internal/perftest", "frame subject internal/oracle"},
	{"internal/recordtest", "study/record"},
	{"campaign/internal/squares", "campaign store"},
	{"internal/profiletest", "machine machine/catalog subject anatomy locality store internal/perftest"},
}

// onlyTests are the packages that no other code may import.
var onlyTests = []string{"campaign/internal/squares", "engine/enginetest", "trace/tracetest", "internal/oracle", "internal/oracle/damage", "internal/perftest", "internal/recordtest", "internal/profiletest"}

// outside lists the modules that code may import, and where. An empty list
// means nowhere: in tests or notebooks only.
var outside = []layer{
	{"github.com/chromedp/chromedp", ""},
	{"github.com/go-gota/gota", ". cmd/presage explore figure frame notebook internal/perftest"}, // rows inside, frames at the door
	{"github.com/goccy/go-graphviz", "figure/diagram"},
	{"github.com/goccy/go-yaml", "internal/yamlfile machine iperf study/inferred study/judging"},
	{"github.com/google/go-cmp", ""},
	{"github.com/google/pprof", "annotate"},
	{"github.com/janpfeifer/gonb", "notebook"}, // a notebook displays, a library returns
	{"github.com/kballard/go-shellquote", "campaign/slurm campaign/ssh subject study/kernels cmd/presage"},
	{"github.com/parquet-go/parquet-go", "study/record/parquet"},
	{"github.com/schollz/progressbar/v3", "cmd/presage"},
	{"github.com/spf13/cobra", "cmd/presage cmd/nbcheck cmd/nbsetup"},
	{"github.com/spf13/pflag", "cmd/presage"},
	{"golang.org/x/net", "cmd/nbcheck"}, // tables in outputs
	{"golang.org/x/arch", "isa/rv64 engine/rv64"},
	{"golang.org/x/term", "cmd/presage"},
	{"golang.org/x/sys", "cache engine/rv64 engine/native host reuse spmv/simd"}, // guest memory comes from mmap; native traces processes; host asks for huge pages and counters; vectors are for processors that have them
	{"gonum.org/v1/gonum", "*"},
	{"gonum.org/v1/plot", "figure figure/diagram . cmd/presage"},
	{"pgregory.net/rapid", ""},
	{"presage/datasets/programs/spmv/kernels", "spmv spmv/simd"}, // spmv times natively the very kernels that it predicts
	{"presage/machines", "machine/catalog"},
}

// A listed is what is read of `go list -json`.
type listed struct {
	ImportPath string
	Dir        string
	Standard   bool
	GoFiles    []string
	Imports    []string // of the package without its tests
}

// goList runs `go list` in the module's root.
func goList(t *testing.T, args ...string) []listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-e", "-json=ImportPath,Dir,Standard,GoFiles,Imports"}, args...)...)
	cmd.Dir = ".."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %q: %v\n%s", args, err, &stderr)
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// short turns an import path below perf/ into the name that layers uses.
func short(path string) (name string, ours bool) {
	if path == perfPath {
		return ".", true
	}
	return strings.CutPrefix(path, perfPath+"/")
}

// find returns the entry for an import path or the longest prefix of it that
// ends at a slash.
func find(table []layer, path string) (l layer, index int) {
	index = -1
	for i, e := range table {
		if (path == e.pkg || strings.HasPrefix(path, e.pkg+"/")) && len(e.pkg) >= len(l.pkg) {
			l, index = e, i
		}
	}
	return l, index
}

func allows(may, pkg string) bool {
	return may == "*" || slices.Contains(strings.Fields(may), pkg)
}

// violations returns what the imports of pkgs break, each with a remedy.
func violations(pkgs []listed, layers, outside []layer) (bad []string) {
	for _, p := range pkgs {
		name, _ := short(p.ImportPath)
		i := slices.IndexFunc(layers, func(l layer) bool { return l.pkg == name })
		if i < 0 {
			bad = append(bad, fmt.Sprintf("%s has no line in layers: add one at its place in the data flow, with what it may import", p.ImportPath))
			continue
		}
		for _, imported := range p.Imports {
			if s := check(name, i, imported, layers, outside); s != "" {
				bad = append(bad, s)
			}
		}
	}
	return bad
}

// check judges one import of the package on line i of layers.
func check(name string, i int, imported string, layers, outside []layer) string {
	if dep, ours := short(imported); ours {
		above := slices.IndexFunc(layers[:i], func(l layer) bool { return l.pkg == dep }) >= 0
		if !above || !allows(layers[i].may, dep) || slices.Contains(onlyTests, dep) && !slices.Contains(onlyTests, name) {
			return fmt.Sprintf("%s imports %s: its line in layers allows %q; move the code, or change the design", name, dep, layers[i].may)
		}
		return ""
	}
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") && first != "presage" {
		return "" // the standard library
	}
	m, at := find(outside, imported)
	if at < 0 {
		return fmt.Sprintf("%s imports %s: no line in outside covers it; use the standard library, or add a line", name, imported)
	}
	if !allows(m.may, name) {
		return fmt.Sprintf("%s imports %s: its line in outside allows it in %q only", name, imported, m.may)
	}
	return ""
}

// checkTable reports lines of layers that could not be meant.
func checkTable(layers []layer) (bad []string) {
	for i, l := range layers {
		for _, dep := range strings.Fields(l.may) {
			if dep != "*" && slices.IndexFunc(layers[:i], func(e layer) bool { return e.pkg == dep }) < 0 {
				bad = append(bad, fmt.Sprintf("layers lets %s import %s, which is not above it", l.pkg, dep))
			}
		}
		if slices.IndexFunc(layers[:i], func(e layer) bool { return e.pkg == l.pkg }) >= 0 {
			bad = append(bad, fmt.Sprintf("layers has two lines for %s", l.pkg))
		}
	}
	return bad
}

// unused reports imports that layers allows and no code needs.
func unused(pkgs []listed, layers []layer) (bad []string) {
	for _, l := range layers {
		if l.may == "*" {
			continue
		}
		i := slices.IndexFunc(pkgs, func(p listed) bool { name, _ := short(p.ImportPath); return name == l.pkg })
		if i < 0 {
			bad = append(bad, fmt.Sprintf("layers has a line for %s, which is no package", l.pkg))
			continue
		}
		for _, dep := range strings.Fields(l.may) {
			imported := perfPath + "/" + dep
			if dep == "." {
				imported = perfPath
			}
			if !slices.Contains(pkgs[i].Imports, imported) {
				bad = append(bad, fmt.Sprintf("layers lets %s import %s, which it does not: take it off the line", l.pkg, dep))
			}
		}
	}
	return bad
}

func TestImportDirections(t *testing.T) {
	for _, s := range checkTable(layers) {
		t.Error(s)
	}
	pkgs := goList(t, "./perf/...")
	if len(pkgs) < 5 {
		t.Fatalf("go list found %d packages below perf/", len(pkgs))
	}
	for _, s := range append(violations(pkgs, layers, outside), unused(pkgs, layers)...) {
		t.Error(s)
	}
}

// TestWhatCellsLink: what every cell links has no WebAssembly in it, which takes a
// tenth of the compilation of a first run, and no HTTP server, which takes a quarter of
// the time to link a cell. Cells that draw graphs, or explore, import these themselves.
func TestWhatCellsLink(t *testing.T) {
	const graphviz, wazero, server = "github.com/goccy/go-graphviz", "github.com/tetratelabs/wazero", "net/http"
	holds := func(pkg string, heavy ...string) bool {
		return slices.ContainsFunc(goList(t, "-deps", pkg), func(p listed) bool { return slices.Contains(heavy, p.ImportPath) })
	}
	if holds("./perf/notebook", graphviz, wazero, server) {
		t.Errorf("perf/notebook brings one of %s, %s, %s: hand it over through an interface, as DrawGraph does", graphviz, wazero, server)
	}
	if !holds("./perf/figure/diagram", graphviz, wazero) || !holds("./perf/explore", server) {
		t.Error("perf/figure/diagram or perf/explore brings none of them: this test looks for the wrong packages")
	}
}

// Subjects are built for another architecture, by anyone, without a network:
// they use the standard library and their own packages.
func TestProgramsUseOnlyTheStandardLibrary(t *testing.T) {
	// What the go command reads for this test is not seen by the test cache;
	// reading the files here makes a changed program run the test again.
	programs := os.DirFS("../datasets/programs")
	err := fs.WalkDir(programs, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") {
			_, err = fs.ReadFile(programs, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	pkgs := goList(t, "-deps", "./datasets/programs/...")
	if len(pkgs) == 0 {
		t.Fatal("no program below datasets/programs")
	}
	for _, p := range pkgs {
		onlyTests := len(p.GoFiles) == 0
		if !p.Standard && !onlyTests && !strings.HasPrefix(p.ImportPath, programsPath+"/") {
			t.Errorf("a program below datasets/programs depends on %s: only the standard library is allowed", p.ImportPath)
		}
	}
}

// A notebookCell is what is read of a cell of a notebook.
type notebookCell struct {
	Type     string   `json:"cell_type"`
	Source   []string `json:"source"`
	Metadata struct {
		Tags []string `json:"tags"`
	} `json:"metadata"`
}

// A cell displays by package notebook and imports nothing that no package here
// imports: `go mod tidy` does not see notebooks, and would drop it. One cell
// reports the headlines, which `make demo` shows.
func TestNotebooks(t *testing.T) {
	known := make(map[string]bool)
	for _, p := range append(goList(t, "-deps", "./perf/..."), goList(t, "std")...) {
		known[p.ImportPath] = true
	}
	paths, err := filepath.Glob("../notebooks/*.ipynb")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d notebooks, error %v", len(paths), err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var nb struct {
			Cells []notebookCell `json:"cells"`
		}
		if err := json.Unmarshal(data, &nb); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for _, s := range notebookFaults(nb.Cells, known) {
			t.Errorf("%s %s", path, s)
		}
	}
}

// notebookFaults returns what the code cells of a notebook break; known are the
// packages that they may import.
func notebookFaults(cells []notebookCell, known map[string]bool) (bad []string) {
	displays, headlines := false, 0
	for _, cell := range cells {
		source := strings.Join(cell.Source, "")
		if slices.Contains(cell.Metadata.Tags, "headline") {
			headlines++
			if !strings.Contains(source, "notebook.Report(") {
				bad = append(bad, "has a cell tagged headline that does not call notebook.Report")
			}
		}
		if cell.Type != "code" || !strings.HasPrefix(source, "import") {
			continue // the house rule: the first cell holds imports only
		}
		file, err := parser.ParseFile(token.NewFileSet(), "", "package main\n"+source, parser.ImportsOnly)
		if err != nil {
			return append(bad, "does not parse: "+err.Error())
		}
		for _, spec := range file.Imports {
			path, _ := strconv.Unquote(spec.Path.Value) // the parser checked it
			displays = displays || path == perfPath+"/notebook"
			if m, _ := find(outside, path); m.may == "notebook" {
				bad = append(bad, fmt.Sprintf("imports %s: use presage/perf/notebook, or extend it", path))
			} else if !known[path] {
				bad = append(bad, fmt.Sprintf("imports %s, which no package imports: `go mod tidy` would drop it", path))
			}
		}
	}
	if !displays {
		bad = append(bad, "does not import presage/perf/notebook, by which cells show and draw")
	}
	if headlines != 1 {
		bad = append(bad, fmt.Sprintf("has %d cells tagged headline, not one", headlines))
	}
	return bad
}

func TestNotebookFaults(t *testing.T) {
	const imports = "import (\n\t\"fmt\"\n\t\"presage/perf/notebook\"\n)"
	known := map[string]bool{"fmt": true, "presage/perf/notebook": true, "github.com/janpfeifer/gonb/gonbui": true}
	for _, c := range []struct{ imports, headline, want string }{
		{imports, "notebook.Report(\"a\")", ""},
		{imports, "fmt.Println()", "does not call notebook.Report"},
		{imports, "", "0 cells tagged headline"},
		{"import \"fmt\"", "notebook.Report(\"a\")", "does not import presage/perf/notebook"},
		{imports + "\nimport \"github.com/janpfeifer/gonb/gonbui\"", "notebook.Report(\"a\")", "imports github.com/janpfeifer/gonb/gonbui: use"},
		{imports + "\nimport \"x.org/m\"", "notebook.Report(\"a\")", "imports x.org/m, which no package imports"},
		{"import fmt", "notebook.Report(\"a\")", "does not parse"},
	} {
		cells := []notebookCell{{Type: "markdown", Source: []string{"import no"}}, {Type: "code", Source: strings.SplitAfter(c.imports, "\n")}}
		if c.headline != "" {
			cell := notebookCell{Type: "code", Source: []string{c.headline}}
			cell.Metadata.Tags = []string{"headline"}
			cells = append(cells, cell)
		}
		got := strings.Join(notebookFaults(cells, known), "\n")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%q, %q: got %q, want %q", c.imports, c.headline, got, c.want)
		}
	}
}

// The judge itself, on imports that are wrong in one way each.
func TestViolations(t *testing.T) {
	layers := []layer{{"a", ""}, {"b", "a"}, {"c", ""}, {"c/d", "c"}, {".", "*"}, {"internal/oracle", ""}}
	outside := []layer{{"x.org/m", "b"}, {"x.org/m/v2", ""}}
	for _, c := range []struct{ pkg, imported, want string }{
		{"b", perfPath + "/a", ""},
		{"c/d", perfPath + "/c", ""},
		{".", perfPath + "/b", ""},
		{"a", "encoding/json", ""},
		{"b", "x.org/m/sub", ""},
		{"a", perfPath + "/b", "a imports b"},
		{"c", perfPath + "/a", "c imports a"},
		{"c", perfPath + "/c/d", "c imports c/d"},
		{".", perfPath + "/internal/oracle", ". imports internal/oracle"},
		{"a", "x.org/m", `allows it in "b" only`},
		{"b", "x.org/m/v2/sub", `allows it in "" only`},
		{"a", "x.org/money", "no line in outside"},
		{"a", "presage/datasets/programs/p", "no line in outside"},
		{"e", "fmt", "has no line in layers"},
	} {
		path := perfPath + "/" + c.pkg
		if c.pkg == "." {
			path = perfPath
		}
		got := strings.Join(violations([]listed{{ImportPath: path, Imports: []string{c.imported}}}, layers, outside), "\n")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s imports %s: got %q, want %q", c.pkg, c.imported, got, c.want)
		}
	}
	pkgs := []listed{{ImportPath: perfPath + "/a"}, {ImportPath: perfPath + "/b", Imports: []string{perfPath + "/a"}}}
	if bad := unused(pkgs, []layer{{"a", ""}, {"b", "a"}}); len(bad) != 0 {
		t.Errorf("unused found %q, where every import is needed", bad)
	}
	if bad := unused(pkgs, []layer{{"b", "a"}, {"a", "b"}, {"gone", ""}}); len(bad) != 2 {
		t.Errorf("unused found %q, want an import and a package that are not there", bad)
	}
	if bad := checkTable([]layer{{"a", "b"}, {"b", "a"}, {"a", ""}}); len(bad) != 2 {
		t.Errorf("checkTable found %q, want a backward line and a repeated one", bad)
	}
}
