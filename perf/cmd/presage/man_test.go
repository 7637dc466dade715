package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestManualAndVersion: every command has a page and a group, and the changelog begins with the
// release that --version prints.
func TestManualAndVersion(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	if _, stderr, status := runStatus(t.Context(), nil, "man", dir); status != 0 {
		t.Fatal(stderr)
	}
	for _, c := range rootCommand().Commands() {
		page, err := os.ReadFile(filepath.Join(dir, "presage-"+c.Name()+".1"))
		if err != nil || !strings.Contains(string(page), c.Short[:20]) {
			t.Errorf("%s: %v, %.200s", c.Name(), err, page)
		}
		if c.GroupID == "" && c.Name() != "man" {
			t.Errorf("%s is in no group", c.Name())
		}
	}
	stdout, stderr, status := runStatus(t.Context(), nil, "--version")
	if status != 0 || !strings.HasPrefix(stdout, "presage "+release+", go") && !strings.HasPrefix(stdout, "presage "+release+" (commit ") {
		t.Errorf("status %d, %q %s", status, stdout, stderr)
	}
	changes, err := os.ReadFile("../../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	_, first, _ := strings.Cut(string(changes), "\n## ")
	if !strings.HasPrefix(first, release+" ") {
		t.Errorf("CHANGELOG.md begins with %.20q, not with %s", first, release)
	}
}
