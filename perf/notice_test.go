package perf_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestNotice checks that NOTICE names exactly the modules that the programs contain.
func TestNotice(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./cmd/...", "./notebook").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(string(out))
	slices.Sort(want)
	want = slices.Compact(want)
	data, err := os.ReadFile("../NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(data), "Licence\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var got []string
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			t.Errorf("%q names no licence", line)
			continue
		}
		got = append(got, fields[0])
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("NOTICE names %v, the programs contain %v", got, want)
	}
}
