package perf_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What package perf is kept to, so that its documentation stays a table of
// contents.
const (
	maxFacadeFiles = 20
	maxFacadeNames = 80
)

// A goFile is a file below perf/ that is not a test's.
type goFile struct {
	path   string // below perf/, with slashes
	syntax *ast.File
}

// goFiles parses the code below perf/ without tests and without guest programs.
func goFiles(t *testing.T) []goFile {
	t.Helper()
	var files []goFile
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "testdata" {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		syntax, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		files = append(files, goFile{filepath.ToSlash(path), syntax})
		return err
	})
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files below perf/, error %v", len(files), err)
	}
	return files
}

// exported returns the names that a file exports, without methods.
func exported(f *ast.File) (names []string) {
	add := func(id *ast.Ident) {
		if id.IsExported() {
			names = append(names, id.Name)
		}
	}
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add(d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					add(s.Name)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						add(id)
					}
				}
			}
		}
	}
	return names
}

func TestFacadeIsSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("reads source files alone")
	}
	files, names := 0, []string(nil)
	for _, f := range goFiles(t) {
		if !strings.Contains(f.path, "/") {
			files++
			names = append(names, exported(f.syntax)...)
		}
	}
	if files > maxFacadeFiles || files < 5 {
		t.Errorf("package perf has %d files, want at most %d: what has a name of its own is a package below it", files, maxFacadeFiles)
	}
	if len(names) > maxFacadeNames || !slices.Contains(names, "PredictMisses") {
		slices.Sort(names)
		t.Errorf("package perf exports %d names, want at most %d: notebooks import what they rarely need from the package that has it\n%s",
			len(names), maxFacadeNames, strings.Join(names, " "))
	}
}

// manyResults returns the exported functions, and exported methods of exported
// types, with more than two results: Must cannot take them, and readers cannot
// tell them apart.
func manyResults(f *ast.File) (bad []string) {
	for _, decl := range f.Decls {
		d, ok := decl.(*ast.FuncDecl)
		if !ok || !d.Name.IsExported() || d.Type.Results.NumFields() <= 2 {
			continue
		}
		if d.Recv == nil || exportedReceiver(d.Recv.List[0].Type) {
			bad = append(bad, d.Name.Name)
		}
	}
	return bad
}

// exportedReceiver reports whether a receiver's type, T, *T or T[P], is exported.
func exportedReceiver(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.StarExpr:
		return exportedReceiver(e.X)
	case *ast.IndexExpr:
		return exportedReceiver(e.X)
	case *ast.Ident:
		return e.IsExported()
	}
	return true
}

func TestAtMostTwoResults(t *testing.T) {
	for _, f := range goFiles(t) {
		for _, name := range manyResults(f.syntax) {
			t.Errorf("%s: %s has more than two results: return a struct", f.path, name)
		}
	}
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", "package p\nfunc A() (int, error)\nfunc B() (a, b int, err error)\nfunc c() (a, b, c int)\ntype T int\nfunc (*T) D() (a, b, c int)\nfunc (u) E() (a, b, c int)", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := manyResults(f); !slices.Equal(got, []string{"B", "D"}) {
		t.Errorf("found %v", got)
	}
}

// switches returns the exported functions and methods with a parameter of type
// bool, of which a call does not say what it means.
func switches(f *ast.File) (bad []string) {
	for _, decl := range f.Decls {
		d, ok := decl.(*ast.FuncDecl)
		if !ok || !d.Name.IsExported() || d.Recv != nil && !exportedReceiver(d.Recv.List[0].Type) {
			continue
		}
		for _, p := range d.Type.Params.List {
			if id, ok := p.Type.(*ast.Ident); ok && id.Name == "bool" {
				bad = append(bad, d.Name.Name)
			}
		}
	}
	return bad
}

func TestNoBooleanParameters(t *testing.T) {
	if testing.Short() {
		t.Skip("reads source files alone")
	}
	var broken []string
	for _, f := range goFiles(t) {
		if len(switches(f.syntax)) > 0 {
			broken = append(broken, f.path)
		}
	}
	exceptions{ // what an instruction's encoding says in one bit
		"engine/rv64/amd64asm/asm.go",
		"engine/rv64/amd64asm/ops.go",
		"engine/rv64/softfloat/api.go",
	}.check(t, broken, "make two functions, or take an options struct")

	f, err := parser.ParseFile(token.NewFileSet(), "p.go", "package p\nfunc A(b bool)\nfunc B(int) bool\nfunc c(b bool)\nfunc (t) D(b bool)\nfunc (T) E(a int, b bool)", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := switches(f); !slices.Equal(got, []string{"A", "E"}) {
		t.Errorf("found %v", got)
	}
}

// exceptions is a list that shrinks: what breaks a rule and is not in it is an
// error, and so is an entry that breaks no rule any more.
type exceptions []string

func (list exceptions) check(t *testing.T, broken []string, remedy string) {
	t.Helper()
	for _, b := range broken {
		if !slices.Contains(list, b) {
			t.Errorf("%s: %s", b, remedy)
		}
	}
	for _, e := range list {
		if !slices.Contains(broken, e) {
			t.Errorf("%s is an exception without need: take it off the list", e)
		}
	}
}

// namedAfterPackage returns the files that are called as their folder is, which
// says nothing about what they hold.
func namedAfterPackage(paths []string) (bad []string) {
	for _, p := range paths {
		if base := strings.TrimSuffix(path.Base(p), ".go"); base == path.Base(path.Dir(p)) || p == "perf.go" {
			bad = append(bad, p)
		}
	}
	return bad
}

func TestFilesAreNamedForWhatTheyHold(t *testing.T) {
	var paths []string
	for _, f := range goFiles(t) {
		paths = append(paths, f.path)
	}
	for _, bad := range namedAfterPackage(paths) {
		t.Errorf("%s: name the file for what it holds", bad)
	}

	got := namedAfterPackage([]string{"a/a.go", "a/doc.go", "b/a.go", "a/b/b.go", "perf.go"})
	if !slices.Equal(got, []string{"a/a.go", "a/b/b.go", "perf.go"}) {
		t.Errorf("found %v", got)
	}
}

// rooms are the folders that may know the first instruction set and its engine:
// they themselves, and the two packages that choose one for an executable.
var rooms = []string{"engine/rv64", "isa/rv64", "engine/engines", "isa/targets"}

// mentions reports whether a file imports a package called name, or has an
// identifier that contains it.
func mentions(f *ast.File, name string) (found bool) {
	for _, spec := range f.Imports {
		p, _ := strconv.Unquote(spec.Path.Value) // the parser checked it
		found = found || slices.Contains(strings.Split(p, "/"), name)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && strings.Contains(strings.ToLower(id.Name), name) {
			found = true
		}
		return !found
	})
	return found
}

// TestInstructionSetStaysInItsRooms: nothing but the wiring names RISC-V's engine
// or decoder, so that others can stand beside them.
func TestInstructionSetStaysInItsRooms(t *testing.T) {
	var broken []string
	for _, f := range goFiles(t) {
		inRoom := slices.ContainsFunc(rooms, func(r string) bool { return strings.HasPrefix(f.path, r+"/") })
		if !inRoom && mentions(f.syntax, "rv64") {
			broken = append(broken, f.path)
		}
	}
	for _, path := range broken {
		t.Errorf("%s: take the file's isa.Target, or package engines, instead of naming rv64", path)
	}

	for src, want := range map[string]bool{
		"package p":         false,
		"package p // rv64": false,
		"package p; import _ \"presage/perf/isa/rv64\"":    true,
		"package p; import _ \"presage/perf/isa/rv64/x\"":  true,
		"package p; func NewRV64() {}":                     true,
		"package p; import _ \"presage/perf/isa/targets\"": false,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "p.go", src, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := mentions(f, "rv64"); got != want {
			t.Errorf("%s: %t", src, got)
		}
	}
}
