package diagram

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/figure/graph"
)

// TestCompiledGraphviz runs TestTemporaryFolder, which draws, in processes of its own:
// compiled code is kept where only the user can write, not beside temporary files, whose
// folder is the process's as it was. A folder that others can write to is left alone.
func TestCompiledGraphviz(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		make func(t *testing.T, cache string)
		kept int // folders and files
	}{
		{"new", func(*testing.T, string) {}, 3}, // go-graphviz, one of wazero, the code
		{"open to others", func(t *testing.T, cache string) {
			if err := os.MkdirAll(cache, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(cache, 0o777); err != nil {
				t.Fatal(err)
			}
		}, 0},
		{"a link", func(t *testing.T, cache string) {
			if err := os.Symlink(t.TempDir(), cache); err != nil {
				t.Fatal(err)
			}
		}, 0},
		{"a file", func(t *testing.T, cache string) {
			if err := os.WriteFile(cache, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			home, temp := t.TempDir(), t.TempDir()
			cache := filepath.Join(home, "presage-graphviz")
			test.make(t, cache)
			for range 2 {
				c := exec.Command(exe, "-test.run=^TestTemporaryFolder$", "-test.v")
				c.Env = append(os.Environ(), "XDG_CACHE_HOME="+home, "TMPDIR="+temp)
				out, err := c.CombinedOutput()
				if err != nil || !strings.Contains(string(out), "temporary files: "+temp+"\n") {
					t.Fatalf("%v: %s", err, out)
				}
				if n := below(t, cache); n != test.kept {
					t.Errorf("%d files and folders in the cache, want %d", n, test.kept)
				}
				if n := below(t, temp); n != 0 {
					t.Errorf("%d files and folders beside temporary files", n)
				}
			}
		})
	}
}

// below counts what a folder holds, and its folders; 0 if there is no such folder.
func below(t *testing.T, dir string) int {
	t.Helper()
	n := -1 // the folder itself
	err := filepath.WalkDir(dir, func(string, os.DirEntry, error) error { n++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return max(n, 0)
}

// TestTemporaryFolder prints the folder that the process has for temporary files.
func TestTemporaryFolder(t *testing.T) {
	if _, err := arrange(t.Context(), &graph.Graph{Nodes: []graph.Node{{Lines: []string{"a"}, Frame: -1}}}); err != nil {
		t.Error(err)
	}
	fmt.Println("temporary files:", os.TempDir())
}
