package locality_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/locality"
	"presage/perf/store"
	"presage/perf/subject"
)

// sizeReader is a program that walks over as many numbers as a file says, or its
// standard input.
const sizeReader = `package main

import (
	"fmt"
	"io"
	"os"
)

var sink int

func main() {
	data, err := os.ReadFile("/in/size")
	if err != nil {
		data, _ = io.ReadAll(os.Stdin)
	}
	var n int
	if _, err := fmt.Sscan(string(data), &n); err != nil || len(os.Args) > 1 {
		os.Exit(3)
	}
	a := make([]int, n)
	for i := range a {
		sink += a[i]
	}
	fmt.Println(n)
}
`

// TestSizesFromFiles sweeps a program that reads its size, from a folder or a
// file for each size.
func TestSizesFromFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other tests profile at once, too")
	}
	source, host := t.TempDir(), t.TempDir()
	files := map[string]string{
		filepath.Join(source, "go.mod"):  "module size\n",
		filepath.Join(source, "main.go"): sizeReader,
	}
	for _, n := range []int{1000, 2000} {
		files[filepath.Join(host, fmt.Sprint(n), "size")] = fmt.Sprint(n)
		files[filepath.Join(host, fmt.Sprintf("%d.txt", n))] = fmt.Sprint(n)
	}
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	prog, err := subject.Build(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	st := store.Open(t.TempDir())
	for name, opt := range map[string]subject.RunOptions{
		"folders": {Folders: []subject.Folder{{Guest: "/in", Host: filepath.Join(host, "{n}")}}},
		"stdin":   {StdinFile: filepath.Join(host, "{n}.txt")},
	} {
		opt.Store = st
		profile := func() (*locality.Runs, error) {
			return locality.Profile(t.Context(), prog, subject.Sweep("n", 1000, 2000), locality.ProfileOptions{RunOptions: opt, BlockBytes: []uint64{64}})
		}
		runs, err := profile()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, run := range runs.Runs {
			if got := strings.TrimSpace(run.Stdout); got != fmt.Sprint(run.Point["n"]) {
				t.Errorf("%s: the run of %s read %s", name, run.Point, got)
			}
			if _, err := run.Count(t.Context(), st); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if runs.Runs[1].Accesses-runs.Runs[0].Accesses < 1000 {
			t.Errorf("%s: accesses %d, then %d", name, runs.Runs[0].Accesses, runs.Runs[1].Accesses)
		}
		checkContents(t, name, host, profile)
		opt.StdinFile += "{k}"
		if _, err := profile(); err == nil || !strings.Contains(err.Error(), "no parameter {k}") {
			t.Errorf("%s: a parameter that the sweep lacks: %v", name, err)
		}
	}
}

// checkContents: another content is another run, the same content at another time
// is not.
func checkContents(t *testing.T, name, host string, profile func() (*locality.Runs, error)) {
	t.Helper()
	write := func(text string) {
		for _, path := range []string{filepath.Join(host, "1000", "size"), filepath.Join(host, "1000.txt")} {
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	was, err := profile()
	if err != nil {
		t.Fatal(err)
	}
	write("1500")
	other, err := profile()
	if err != nil {
		t.Fatal(err)
	}
	write("1000")
	again, err := profile()
	if err != nil {
		t.Fatal(err)
	}
	if other.Runs[0].Accesses <= was.Runs[0].Accesses || again.Runs[0].Accesses != was.Runs[0].Accesses {
		t.Errorf("%s: accesses %d, with another content %d, with the first again %d", name, was.Runs[0].Accesses, other.Runs[0].Accesses, again.Runs[0].Accesses)
	}
	if strings.Join(was.Runs[0].Recorded.Inputs.Files, " ") != strings.Join(again.Runs[0].Recorded.Inputs.Files, " ") {
		t.Errorf("%s: the key depends on the time of change: %q, then %q", name, was.Runs[0].Recorded.Inputs.Files, again.Runs[0].Recorded.Inputs.Files)
	}
}
