package measure

import (
	"context"
	"debug/elf"
	"errors"
	"math"
	"os"
	"path/filepath"
	"presage/perf/frame"
	"presage/perf/host"
	"presage/perf/internal/perftest"
	"presage/perf/progress"
	"presage/perf/study/record"
	"presage/perf/subject"
	"runtime"
	"strings"
	"testing"
	"time"
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
	df, err := Measure(t.Context(), dir, subject.Sweep("n", 3, 5), MeasureOptions{
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
	if got := perftest.Column(t, df, "n"); len(got) != 2 || got[0] != 3 || got[1] != 5 {
		t.Fatalf("points %v", got)
	}
	for i := range 2 {
		least, middle := perftest.Column(t, df, "meas_min_time_sec")[i], perftest.Column(t, df, "meas_time_sec")[i]
		if !(least > 0 && middle >= least) || math.IsInf(middle, 0) || !(perftest.Column(t, df, "meas_spread")[i] >= 0) || !(perftest.Column(t, df, "meas_cpu_time_sec")[i] >= 0) {
			t.Errorf("row %d: least %v, median %v", i, least, middle)
		}
		if perftest.Column(t, df, "repeats")[i] != 4 {
			t.Errorf("repeats %v", perftest.Column(t, df, "repeats"))
		}
	}
	// Without counters a word says why; with them there are counts.
	warnings, err := frame.Strings(df, "meas_warning")
	if err != nil {
		t.Fatal(err)
	}
	if cycles := perftest.Column(t, df, "meas_cycles")[0]; math.IsNaN(cycles) != strings.Contains(warnings[0], "no hardware counters") {
		t.Errorf("%v cycles, warning %q", cycles, warnings[0])
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
		opt    MeasureOptions
		want   string
	}{
		{dir, []subject.Point{{}}, MeasureOptions{Env: env, Args: "-fail"}, "exit status 3; a failed run is not measured\n\ttold to fail"},
		{dir, nil, MeasureOptions{}, "no points"},
		{dir, []subject.Point{{}}, MeasureOptions{Repeats: -1}, "want at least 1"},
		{dir, subject.Sweep("host", 1), MeasureOptions{}, "name of a column"},
		{dir, subject.Sweep("n", 1), MeasureOptions{Args: "-x"}, "no place for parameter n"},
		{filepath.Join(dir, "missing"), []subject.Point{{}}, MeasureOptions{}, "no such file"},
		{library, []subject.Point{{}}, MeasureOptions{}, "no folder of a Go main package"},
		{foreign, []subject.Point{{}}, MeasureOptions{}, "name the folder of its Go source"},
	} {
		_, err := Measure(t.Context(), c.path, c.points, c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want %q", c.path, c.opt, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Measure(ctx, dir, []subject.Point{{}}, MeasureOptions{Env: env}); !errors.Is(err, context.Canceled) {
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

// Rows of runs with known times and counts.
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

func TestRecordMeasurement(t *testing.T) {
	dir, log := tinyProgram(t)
	df, err := Measure(t.Context(), dir, subject.Sweep("n", 1), MeasureOptions{Env: []string{"TINY_LOG=" + log}, Repeats: 1, WarmUp: -1})
	if err != nil {
		t.Fatal(err)
	}
	if runs, err := os.ReadFile(log); err != nil || string(runs) != "1 \n" {
		t.Errorf("one run and no warm-up: %q, %v", runs, err)
	}
	path := filepath.Join(t.TempDir(), "times.csv")
	if err := RecordMeasurement(path, df, dir, "presage measure tiny"); err != nil {
		t.Fatal(err)
	}
	again, r, err := record.Recorded(path)
	if err != nil {
		t.Fatal(err)
	}
	if again.Nrow() != 1 || r.Command != "presage measure tiny" {
		t.Errorf("%d rows, recording %+v", again.Nrow(), r)
	}
	for _, want := range []string{"measured on ", runtime.GOARCH, "tiny", runtime.Version(), time.Now().UTC().Format("2006")} {
		if !strings.Contains(r.Origin, want) {
			t.Errorf("origin %q lacks %q", r.Origin, want)
		}
	}
}
