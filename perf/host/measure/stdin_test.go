package measure_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/host/measure"
	"presage/perf/subject"
)

// TestSizesFromFiles: a program that reads its size from its standard input gets
// a file for each point, and no arguments.
func TestSizesFromFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"1.txt": "exit 0", "2.txt": "exit $((1 + $#))"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	opt := measure.Options{StdinFile: filepath.Join(dir, "{n}.txt"), Repeats: 1, WarmUp: -1}
	if rows, err := measure.Run(t.Context(), "/bin/sh", subject.Sweep("n", 1), opt); err != nil || len(rows) != 1 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	for n, want := range map[float64]string{2: "exit status 1", 3: "no such file"} {
		if _, err := measure.Run(t.Context(), "/bin/sh", subject.Sweep("n", n), opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("n=%g: %v, want %q", n, err, want)
		}
	}
}
