package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/locality"
)

// TestProfilesAreNoProgram: a folder of profiles, where a program is wanted, is said to be one.
func TestProfilesAreNoProgram(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, locality.SavedName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openProgram(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "holds profiles") {
		t.Errorf("%v", err)
	}
}
