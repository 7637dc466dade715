package main

import (
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCalibrateCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	dir := t.TempDir()
	yaml, png := filepath.Join(dir, "here.yaml"), filepath.Join(dir, "here.png")
	out, errs, status := runStatus(t.Context(), strings.NewReader(""), "calibrate", "--quick", "--max-mib", "8", "-o", yaml, "--figure", png, "--table", "levels", "--format", "csv")
	if status != 0 || !strings.HasPrefix(out, "host,level,said_bytes") || !strings.Contains(errs, "part 1 of") {
		t.Fatalf("status %d, stdout %s, stderr %s", status, out, errs)
	}
	for _, path := range []string{png, strings.TrimSuffix(png, ".png") + "-tlb.png"} {
		if data, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(data), "\x89PNG") {
			t.Errorf("%s: %v", path, err)
		}
	}
	out, errs, status = runStatus(t.Context(), strings.NewReader(""), "machines", yaml)
	if status != 0 || !strings.Contains(out, "here") || !strings.Contains(out, "L1D") {
		t.Errorf("status %d, stdout %s, stderr %s", status, out, errs)
	}

	for _, c := range [][]string{
		{"-o", "a.txt", "has to end in .yaml"},
		{"--figure", "a.svg", "ends in .png"},
		{"--table", "other", "want one of summary"},
		{"--format", "xml", "want text, csv or json"},
		{"--max-mib", "1", "want at least"},
		{"--passes", "0", "want at least 1"},
	} {
		if _, errs, status := runStatus(t.Context(), strings.NewReader(""), "calibrate", c[0], c[1]); status == 0 || !strings.Contains(errs, c[2]) {
			t.Errorf("%v: status %d, stderr %s", c, status, errs)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, errs, status := runStatus(ctx, strings.NewReader(""), "calibrate"); status != statusInterrupted {
		t.Errorf("cancelled: status %d, stderr %s", status, errs)
	}
}

func TestMeasureCommand(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module tiny\n\ngo 1.26\n",
		"main.go": "package main\n\nimport \"flag\"\n\nfunc main() {\n\tflag.Int(\"n\", 0, \"\")\n\tflag.Parse()\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	record := filepath.Join(t.TempDir(), "times.csv")
	out, errs, status := runStatus(t.Context(), strings.NewReader(""), "measure", dir, "--sweep", "n=1,2", "--repeats", "2", "--record", record, "--format", "csv")
	if status != 0 || !strings.Contains(errs, "run 2 of 2 (n=2)") {
		t.Fatalf("status %d, stderr %s", status, errs)
	}
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(rows) != 3 || rows[0][1] != "n" || rows[2][1] != "2" {
		t.Errorf("rows %q, error %v", rows, err)
	}
	recorded, err := os.ReadFile(record)
	if err != nil || string(recorded) != out {
		t.Errorf("recorded %q, printed %q, error %v", recorded, out, err)
	}
	list, err := os.ReadFile(filepath.Join(filepath.Dir(record), "recordings.csv"))
	if err != nil || !strings.Contains(string(list), "measured on ") || !strings.Contains(string(list), "presage measure") {
		t.Errorf("recordings %s, error %v", list, err)
	}
	if _, errs, status := runStatus(t.Context(), strings.NewReader(""), "measure", dir, "--args", "-x"); status == 0 || !strings.Contains(errs, "a failed run is not measured") {
		t.Errorf("a program that fails: status %d, stderr %s", status, errs)
	}
}
