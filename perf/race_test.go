package perf_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// withoutDetector are the files that make race leaves out, and why. Tests that are slow
// under the race detector are shortened by testing.Short, in their places.
var withoutDetector = map[string]string{
	"perf/example_test.go": "an example cannot be shortened; tests of phase and simpoint run what it does",
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
	if diff := cmp.Diff(slices.Sorted(maps.Keys(withoutDetector)), found); diff != "" {
		t.Errorf("files that the race detector does not see, -listed +found:\n%s", diff)
	}
}
