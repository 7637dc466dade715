package inferred

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/infer"
)

func TestReadArchitectures(t *testing.T) {
	dir := t.TempDir()
	write := func(change func(text string) string) string {
		path := filepath.Join(dir, "cores.csv")
		text, err := os.ReadFile(filepath.Join(recorded, "architectures.csv"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(change(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := write(func(s string) string { return s })
	list, err := ReadArchitectures(path)
	if err != nil || len(list) != 280 {
		t.Fatalf("%d architectures, error %v", len(list), err)
	}
	p, err := LoadProfiles(recorded)
	if err != nil {
		t.Fatal(err)
	}
	for j, y := range infer.HardwareSpace() {
		if got, want := list[17][j], p.Hardware[17].Parameters[y.Name]; got != want {
			t.Errorf("%s is %g, want %g", y.Name, got, want)
		}
	}
	for what, change := range map[string]func(string) string{
		"mshrs":            func(s string) string { return strings.Replace(s, "mshrs", "registers", 1) },
		"row 1":            func(s string) string { return strings.Replace(s, "\n0,false,", "\n0,false,9", 1) },
		"no architectures": func(s string) string { return s[:strings.Index(s, "\n")+1] },
		"cores.csv":        func(s string) string { return s + "1,2\n" },
	} {
		if _, err := ReadArchitectures(write(change)); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: error %v", what, err)
		}
	}
	if _, err := ReadArchitectures(filepath.Join(dir, "none.csv")); err == nil {
		t.Error("a file that there is not, and no error")
	}
}
