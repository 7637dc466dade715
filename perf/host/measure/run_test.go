package measure

import (
	"context"
	"debug/elf"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"presage/perf/host"
	"presage/perf/internal/recordtest"
	"presage/perf/progress"
	"presage/perf/subject"
)

// tinyProgram writes a Go program that does as it is told, and appends a line to
// a file each time it runs.
func tinyProgram(t *testing.T) (dir, log string) {
	t.Helper()
	dir, log = filepath.Join(t.TempDir(), "tiny"), filepath.Join(t.TempDir(), "runs")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod": "module tiny\n\ngo 1.26\n",
		"main.go": `package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	n := flag.Int("n", 0, "")
	fail := flag.Bool("fail", false, "")
	flag.Parse()
	in, _ := io.ReadAll(os.Stdin)
	f, err := os.OpenFile(os.Getenv("TINY_LOG"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(f, "%d %s\n", *n, in)
	f.Close()
	if *fail {
		fmt.Fprintln(os.Stderr, "told to fail")
		os.Exit(3)
	}
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, log
}

func TestMeasure(t *testing.T) {
	dir, log := tinyProgram(t)
	var seen []int
	rows, err := Run(t.Context(), dir, subject.Sweep("n", 3, 5), Options{
		Env: []string{"TINY_LOG=" + log}, Stdin: "in", Repeats: 4, WarmUp: 2,
		Progress: func(p progress.Report) { seen = append(seen, p.Done) },
	})
	if err != nil {
		t.Fatal(err)
	}
	runs, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat("3 in\n", 6) + strings.Repeat("5 in\n", 6); string(runs) != want {
		t.Errorf("the program saw %q, want %q", runs, want)
	}
	if len(seen) != 3 || seen[2] != 2 {
		t.Errorf("progress %v", seen)
	}
	if len(rows) != 2 || rows[0].Point["n"] != 3 || rows[1].Point["n"] != 5 {
		t.Fatalf("rows %+v", rows)
	}
	for i, r := range rows {
		if !(r.Min > 0 && r.Seconds >= r.Min) || math.IsInf(r.Seconds, 0) || !(r.Spread >= 0) || !(r.CPU >= 0) || r.Repeats != 4 || r.Program != "tiny" {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	// Without counters a word says why; with them there are counts.
	if r := rows[0]; math.IsNaN(r.Cycles) != strings.Contains(r.Warning, "no hardware counters") {
		t.Errorf("%v cycles, warning %q", r.Cycles, r.Warning)
	}
}

func TestMeasureReportsBadInput(t *testing.T) {
	dir, log := tinyProgram(t)
	foreign := filepath.Join(t.TempDir(), "foreign")
	if err := os.WriteFile(foreign, elfHeader(), 0o755); err != nil {
		t.Fatal(err)
	}
	library := t.TempDir()
	if err := os.WriteFile(filepath.Join(library, "a.go"), []byte("package a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(library, "go.mod"), []byte("module a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"TINY_LOG=" + log}
	for _, c := range []struct {
		path   string
		points []subject.Point
		opt    Options
		want   string
	}{
		{dir, []subject.Point{{}}, Options{Env: env, Args: "-fail"}, "exit status 3; a failed run is not measured\n\ttold to fail"},
		{dir, nil, Options{}, "no points"},
		{dir, []subject.Point{{}}, Options{Repeats: -1}, "want at least 1"},
		{dir, subject.Sweep("host", 1), Options{}, "name of a column"},
		{dir, subject.Sweep("n", 1), Options{Args: "-x"}, "no place for parameter n"},
		{filepath.Join(dir, "missing"), []subject.Point{{}}, Options{}, "no such file"},
		{library, []subject.Point{{}}, Options{}, "no folder of a Go main package"},
		{foreign, []subject.Point{{}}, Options{}, "name the folder of its Go source"},
	} {
		_, err := Run(t.Context(), c.path, c.points, c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want %q", c.path, c.opt, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, dir, []subject.Point{{}}, Options{Env: env}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// elfHeader is that of a 64-bit executable for a processor that this is not.
func elfHeader() []byte {
	machine := elf.EM_S390
	h := make([]byte, 64)
	copy(h, elf.ELFMAG)
	h[elf.EI_CLASS], h[elf.EI_DATA], h[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
	h[16], h[18], h[20] = byte(elf.ET_EXEC), byte(machine), byte(elf.EV_CURRENT)
	h[52], h[54], h[58] = 64, 56, 64
	return h
}

// TestSummarize checks the rows of runs with known times and counts.
func TestSummarize(t *testing.T) {
	run := func(ms int, cycles, running float64) host.Execution {
		return host.Execution{
			Wall: time.Duration(ms) * time.Millisecond, CPU: 2 * time.Duration(ms) * time.Millisecond,
			Counts: host.Counts{Cycles: cycles, Instructions: 2 * cycles, CacheMisses: 3 * cycles, BranchMisses: 4 * cycles, Running: running},
		}
	}
	when := time.Date(2026, 2, 3, 23, 0, 0, 0, time.UTC)
	row := summarize([]host.Execution{run(120, 30, 1), run(100, 10, 0.5), run(104, 20, 1), run(108, 40, 1)}, "here", when)
	if row.Seconds != 0.106 || row.Min != 0.1 || math.Abs(row.Spread-20.0/106) > 1e-12 || row.CPU != 0.212 {
		t.Errorf("times %+v", row)
	}
	if row.Cycles != 25 || row.Instructions != 50 || row.CacheMisses != 75 || row.BranchMisses != 100 {
		t.Errorf("counts %+v", row)
	}
	if row.Host != "here" || row.Date != "2026-02-03" || row.Repeats != 4 {
		t.Errorf("origin %+v", row)
	}
	if row.Warning != "repeats differ by 19% of the median; counters ran for 50% of the time and are extrapolated" {
		t.Errorf("warning %q", row.Warning)
	}
	none := run(1, 5, 1)
	none.NoCounts = errors.New("none here")
	if row := summarize([]host.Execution{none}, "here", when); !math.IsNaN(row.Cycles) || row.Warning != "a short run: starting the process is a part of it; none here" {
		t.Errorf("without counters: %+v", row)
	}
}

func TestOrigin(t *testing.T) {
	dir, log := tinyProgram(t)
	rows, err := Run(t.Context(), dir, subject.Sweep("n", 1), Options{Env: []string{"TINY_LOG=" + log}, Repeats: 1, WarmUp: -1})
	if err != nil {
		t.Fatal(err)
	}
	if runs, err := os.ReadFile(log); err != nil || string(runs) != "1 \n" || len(rows) != 1 {
		t.Errorf("one run and no warm-up: %q, %v, %d rows", runs, err, len(rows))
	}
	binary := filepath.Join(t.TempDir(), "p")
	if err := os.WriteFile(binary, []byte("abc"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, also := range map[string]string{
		dir:    "; tiny, built by " + runtime.Version(),
		binary: "; p, SHA-256 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", // FIPS 180-2, B.1
	} {
		origin, err := Origin(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"measured on ", runtime.GOARCH, time.Now().UTC().Format("2006"), also} {
			if !strings.Contains(origin, want) {
				t.Errorf("origin %q lacks %q", origin, want)
			}
		}
	}
	if _, err := Origin(filepath.Join(dir, "missing")); err == nil {
		t.Error("the origin of a program that is missing")
	}
}

// TestRecordedRows demands that recorded measurements, read as rows and written
// again, are the same bytes.
func TestRecordedRows(t *testing.T) {
	for _, table := range []string{"matmul", "sweep3d"} {
		if rows := recordtest.Same[Row](t, "../../../datasets/host/"+table+".csv"); rows[0].Program != table || !(rows[0].Seconds > 0) {
			t.Errorf("%s: %+v", table, rows[0])
		}
	}
}
