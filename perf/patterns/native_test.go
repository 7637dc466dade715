//go:build linux && amd64

package patterns_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"presage/perf/engine/native"
	"presage/perf/internal/oracle"
	"presage/perf/patterns"
	"presage/perf/store"
	"presage/perf/subject"
)

// sites allocates at lines 5, 6 and 12. The volatile loops access memory as they say.
const sites = `#include <stdlib.h>
static volatile double grid[3000];
int main(int argc, char **argv) {
	int n = atoi(argv[1]);
	volatile double *a = malloc(n * sizeof *a);
	volatile double *b = malloc(n * sizeof *b);
	for (int i = 0; i < n; i++)
		a[i] = b[i] = 1;
	for (int t = 0; t < 3; t++)
		for (int i = 0; i < n; i++)
			grid[i] = a[i];
	free((void *)a); volatile double *c = malloc(n * sizeof *c);
	for (int i = 0; i < n; i++)
		c[i] = b[i];
	return 0;
}
`

// TestNativeObjects: the misses of a native program are by variable and allocation site,
// also where memory is allocated again, and count as its loops say.
func TestNativeObjects(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	dir := t.TempDir()
	source, path := filepath.Join(dir, "sites.c"), filepath.Join(dir, "sites")
	if err := os.WriteFile(source, []byte(sites), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(oracle.Need(t, "gcc"), "-g", "-O1", "-static", "-o", path, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	prog, err := subject.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	opt := patterns.SimulateOptions{RunOptions: subject.RunOptions{Args: "{n}", Store: store.Open(dir)}}
	const n = 3000
	point := []subject.Point{{"n": n}}
	objects, err := patterns.SimulateObjects(t.Context(), prog, small(4), point, opt)
	if errors.Is(err, native.ErrPtrace) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]patterns.Object{
		"grid":            {Accesses: 3 * n, Size: 3000 * 8},
		"alloc sites.c:5": {Accesses: 4 * n, Size: 8 * n, Allocations: 1, Allocated: 8 * n, Allocators: "malloc"},
		"alloc sites.c:6": {Accesses: 2 * n, Size: 8 * n, Allocations: 1, Allocated: 8 * n, Allocators: "malloc"},
		// It has the memory of line 5.
		"alloc sites.c:12": {Accesses: n, Size: 8 * n, Allocations: 1, Allocated: 8 * n, Allocators: "malloc"},
	}
	seen := 0
	for i := range objects {
		o := &objects[i]
		w, ok := want[o.Object]
		if !ok || o.Level != "L1" {
			continue
		}
		seen++
		// A word of the allocator's own lies in a block with the program's.
		if o.Accesses < w.Accesses || o.Accesses > w.Accesses+8 || o.Size != w.Size || o.Allocators != w.Allocators {
			t.Errorf("%+v, want %+v", *o, w)
		}
		if w.Allocations > 0 && (o.Allocations != w.Allocations || o.Allocated != w.Allocated) {
			t.Errorf("%+v, want %+v", *o, w)
		}
		if lines := w.Accesses / n * w.Size / 64; o.Misses < lines-w.Accesses/n-8 || o.Misses > lines+8 {
			t.Errorf("%s: %v misses, want %v: each pass misses each line", o.Object, o.Misses, lines)
		}
	}
	if seen != len(want) {
		t.Errorf("%d of %d objects in %+v", seen, len(want), objects)
	}
	rows, err := patterns.Simulate(t.Context(), prog, small(4), point, opt)
	if err != nil {
		t.Fatal(err)
	}
	total, of := 0.0, make(map[string]float64)
	for i := range rows {
		if r := &rows[i]; r.Level == "L1" {
			of[r.Object] += r.Misses
			total += r.Misses
		}
	}
	for i := range objects {
		if o := &objects[i]; o.Level == "L1" && of[o.Object] != o.Misses {
			t.Errorf("%s: patterns have %v misses, the object %v", o.Object, of[o.Object], o.Misses)
		}
	}
	if total == 0 {
		t.Error("no misses")
	}
}
