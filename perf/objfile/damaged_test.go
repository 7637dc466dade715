//go:build linux && amd64

package objfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/internal/oracle/damage"
)

const damagedSource = `#include <stdio.h>
static int one(int x) { return x + 1; }
static int two(int x) { return x * 2; }
int (*const table[])(int) = {one, two};
static inline int inner(int x) { return table[x & 1](x); }
int main(int argc, char **argv) { printf("%d\n", inner(argc)); return 0; }
`

// TestDamagedFiles reads dynamically linked executables and libraries of which some
// bytes are others: a File that keeps its invariants comes out, or an error.
func TestDamagedFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	gcc := oracle.Need(t, "gcc")
	for name, flags := range map[string][]string{
		"executable": nil, "library": {"-shared", "-fPIC"}, "packed": {"-Wl,-z,pack-relative-relocs"}, "stripped": {"-s"}, "DWARF 4": {"-gdwarf-4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "program")
			cmd := exec.Command(gcc, append([]string{"-x", "c", "-", "-O1", "-g", "-o", path}, flags...)...)
			cmd.Stdin = strings.NewReader(damagedSource)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			image, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := readBytes(image)
			if err != nil {
				t.Fatal(err)
			}
			read := 0
			for _, data := range damage.Copies(image, 300) {
				f, err := readBytes(data)
				if (f == nil) == (err == nil) {
					t.Fatalf("%v, %v", f, err)
				}
				if err != nil {
					continue
				}
				read++
				checkFile(t, f)
				joined, err := Join(whole, []Module{{Name: "damaged", Base: 1 << 40, File: f}})
				if (joined == nil) == (err == nil) {
					t.Fatalf("joined: %v, %v", joined, err)
				}
				if err == nil {
					checkFile(t, joined)
				}
			}
			if read == 0 || read == 300 {
				t.Errorf("%d of 300 damaged files were read: they show nothing", read)
			}
		})
	}
}
