package figure

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kinds returns the exported functions of this package that make a figure.
func kinds(t *testing.T) (names []string) {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !fn.Name.IsExported() || fn.Type.Results == nil {
				continue
			}
			if star, ok := fn.Type.Results.List[0].Type.(*ast.StarExpr); ok {
				if name, ok := star.X.(*ast.Ident); ok && name.Name == "Figure" {
					names = append(names, fn.Name.Name)
				}
			}
		}
	}
	return names
}

// TestGallery demands that notebooks/gallery.ipynb draws each kind of figure.
func TestGallery(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	data, err := os.ReadFile("../../notebooks/gallery.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	var nb struct {
		Cells []struct {
			Type   string   `json:"cell_type"`
			Source []string `json:"source"`
		} `json:"cells"`
	}
	if err := json.Unmarshal(data, &nb); err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, c := range nb.Cells {
		if c.Type == "code" {
			code.WriteString(strings.Join(c.Source, ""))
		}
	}
	all := kinds(t)
	if len(all) < 10 {
		t.Fatalf("only %q make figures", all)
	}
	for _, name := range all {
		if !strings.Contains(code.String(), "figure."+name+"(") {
			t.Errorf("the gallery does not draw figure.%s: add a cell", name)
		}
	}
}
