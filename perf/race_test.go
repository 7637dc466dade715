package perf_test

import (
	"cmp"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// withoutDetector are the files that make race leaves out, and why. Tests that are slow
// under the race detector are shortened by testing.Short, in their places.
var withoutDetector = map[string]string{
	"perf/example_test.go": "an example cannot be shortened; tests of phase and simpoint run what it does",
}

// slowWithDetector are the packages with goroutines that make race-short leaves to make
// race, and why.
var slowWithDetector = map[string]string{
	"cmd/presage":       "tests start commands, for minutes",
	"engine/native":     "a minute and a half of processor time",
	"misses":            "tests profile programs and fit models, for minutes",
	"misses/replayed":   "tests replay programs, for minutes",
	"engine/enginetest": "for tests alone, of the engines",
}

// TestRaceShort: make test runs make race-short, which has the packages that start
// goroutines, but for those that are listed.
func TestRaceShort(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^test:.* race-short `).Match(makefile) {
		t.Error("make test does not run make race-short")
	}
	line := regexp.MustCompile(`(?m)^RACY = (.*)$`).FindSubmatch(makefile)
	if line == nil {
		t.Fatal("no RACY in the Makefile")
	}
	racy := strings.Fields(string(line[1]))
	starts := regexp.MustCompile(`(?m)^\s*go (func\(|[a-zA-Z_.]+\()|\.Go\(func`)
	left := maps.Clone(slowWithDetector)
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "testdata" {
			return cmp.Or(err, fs.SkipDir)
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || !starts.Match(text) {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(path))
		in := func(pattern string) bool {
			tree, all := strings.CutSuffix(pattern, "/...")
			return pkg == tree || all && strings.HasPrefix(pkg, tree+"/")
		}
		if slowWithDetector[pkg] != "" {
			delete(left, pkg)
		} else if !slices.ContainsFunc(racy, in) {
			t.Errorf("%s starts goroutines, and make race-short does not test %s", path, pkg)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range left {
		t.Errorf("%s starts no goroutines", pkg)
	}
}

// TestRaceDetectorSeesEveryPackage: make race runs all packages, and builds all files
// but those that are listed.
func TestRaceDetectorSeesEveryPackage(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	recipe := regexp.MustCompile(`(?m)^race:.*\n((?:\t.*\n)+)`).FindStringSubmatch(string(makefile))
	if recipe == nil || !strings.Contains(recipe[1], "test -race -short") || !strings.HasSuffix(recipe[1], " ./...\n") {
		t.Errorf("make race does not test all packages: %q", recipe)
	}
	constraint := regexp.MustCompile(`(?m)^//go:build .*\brace\b`)
	var found []string
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if before, _, _ := strings.Cut(string(text), "\npackage "); constraint.MatchString(before) {
			found = append(found, filepath.ToSlash(strings.TrimPrefix(path, "../")))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	if diff := gocmp.Diff(slices.Sorted(maps.Keys(withoutDetector)), found); diff != "" {
		t.Errorf("files that the race detector does not see, -listed +found:\n%s", diff)
	}
}
