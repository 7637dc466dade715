package kernels

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/frame"
	"presage/perf/internal/recordtest"
	"presage/perf/progress"
	"presage/perf/study/record"
	"presage/perf/subject"
)

func shellKernel(name, args string) Build {
	return Build{Name: name, Command: "cp testdata/kernel.sh {exe}", Args: args}
}

// TestTimeKernels demands the order of runs: round by round, all builds of a
// point one after the other.
func TestTimeKernels(t *testing.T) {
	missing := Build{"other", "no-such-compiler {exe}", "{n}"}
	got, err := TimingOptions{Rounds: 2}.Run(t.Context(), []Build{shellKernel("a", "{n}"), missing, shellKernel("b", "{n}0")}, subject.Sweep("n", 3, 7))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := frame.WriteCSV(&text, frame.Of(got.Runs)); err != nil {
		t.Fatal(err)
	}
	want := "build,n,round,meas_time_sec\na,3,1,3e-06\nb,3,1,3e-05\na,7,1,7e-06\nb,7,1,7e-05\na,3,2,3e-06\nb,3,2,3e-05\na,7,2,7e-06\nb,7,2,7e-05\n"
	if text.String() != want {
		t.Errorf("got\n%swant\n%s", &text, want)
	}
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "other") || len(got.Built) != 2 {
		t.Errorf("warnings %q, built %q", got.Warnings, got.Built)
	}
}

// TestTimeKernelsPrefix demands that a prefix starts the timed runs and no compiler.
func TestTimeKernelsPrefix(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	prefix := []string{"sh", "-c", `echo "$@" >> ` + log + `; exec "$@"`, "prefix"}
	got, err := TimingOptions{Rounds: 2, Prefix: prefix}.Run(t.Context(), []Build{shellKernel("a", "{n}")}, subject.Sweep("n", 3, 7))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(got.Runs) != 4 || got.Runs[1].Seconds != 7e-6 || len(lines) != 4 {
		t.Errorf("%d runs, and the prefix started %q", len(got.Runs), lines)
	}
	for _, l := range lines {
		if !strings.HasSuffix(l, "/a 3") && !strings.HasSuffix(l, "/a 7") {
			t.Errorf("the prefix started %q", l)
		}
	}
	_, err = TimingOptions{Prefix: []string{"no-such-starter"}}.Run(t.Context(), []Build{shellKernel("a", "{n}")}, subject.Sweep("n", 3))
	if err == nil || !strings.Contains(err.Error(), "no-such-starter") {
		t.Errorf("error %v", err)
	}
}

// TestTimeKernelsGoesOn demands that an interrupted measurement resumes after
// its last whole round, if it is the same measurement.
func TestTimeKernelsGoesOn(t *testing.T) {
	dir := t.TempDir()
	runs := filepath.Join(dir, "runs")
	t.Setenv("RUNS", runs)
	ctx, cancel := context.WithCancel(t.Context())
	opt := TimingOptions{Rounds: 3, Checkpoint: filepath.Join(dir, "times.partial")}
	opt.Progress = func(r progress.Report) {
		if r.Done == 2 {
			cancel()
		}
	}
	builds, points := []Build{shellKernel("a", "{n}")}, subject.Sweep("n", 1, 2)
	if _, err := opt.Run(ctx, builds, points); err == nil {
		t.Fatal("a cancelled measurement ended well")
	}
	if _, err := opt.Run(t.Context(), builds, subject.Sweep("n", 1, 3)); err == nil || !strings.Contains(err.Error(), "is of other programs, sizes or another machine") {
		t.Errorf("other sizes: %v", err)
	}
	opt.Progress = nil
	got, err := opt.Run(t.Context(), builds, points)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(runs)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Runs) != 6 || strings.Count(string(text), "\n") != 6 {
		t.Errorf("%d rows of %q, want 6 of 6 runs", len(got.Runs), text)
	}
	if _, err := os.Stat(opt.Checkpoint); err == nil {
		t.Error("the file of finished rounds is still there")
	}
	if err := os.WriteFile(opt.Checkpoint, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := opt.Run(t.Context(), builds, points); err == nil {
		t.Error("a broken file of finished rounds was taken")
	}
}

func TestTimeKernelsErrors(t *testing.T) {
	for _, c := range []struct {
		build  Build
		points []subject.Point
		rounds int
		want   string
	}{
		{shellKernel("a", "{n}"), nil, 1, "no points"},
		{shellKernel("a", "{n}"), subject.Sweep("n", 1), -1, "-1 rounds"},
		{shellKernel("a", "-{n}"), subject.Sweep("n", 1), 1, "exit status 3"},
		{shellKernel("a", "{n}"), subject.Sweep("n", 99), 1, `printed no line such as "kernel_sec: 0.00012"`},
		{shellKernel("a", "{m}"), subject.Sweep("n", 1), 1, "m"},
		{Build{"a", "false {exe}", "{n}"}, subject.Sweep("n", 1), 1, "build a"},
		{Build{"a", "true {exe}", "{n}"}, subject.Sweep("n", 1), 1, "made no executable"},
		{Build{"a", "no-such-compiler {exe}", "{n}"}, subject.Sweep("n", 1), 1, "nothing to measure"},
	} {
		opt := TimingOptions{Rounds: c.rounds}
		if _, err := opt.Run(t.Context(), []Build{c.build}, c.points); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.build, err, c.want)
		}
	}
}

func TestReadBuilds(t *testing.T) {
	all, err := ReadBuilds("../../../datasets/iperf/builds.csv")
	if err != nil || len(all) != 7 || all[1].Name != "go-N" {
		t.Fatalf("%v, %v", all, err)
	}
	for text, want := range map[string]string{
		"":                                      "want the columns build,command,args",
		"build,command,args\n":                  "and a row for each build",
		"build,command,args\na,":                "wrong number of fields",
		"build,command,args\na,gcc -o x y.c,\n": ":2: the command does not say {exe}",
		"build,command,args\n,gcc {exe},\n":     ":2: want a name",
		"build,command,args\na,'gcc {exe},\n":   ":2: command:",
		"build,command,args\na,gcc -o {exe},\na,gcc -o {exe},\n":    `:3: build "a" stands twice`,
		"build,command,arguments\na,gcc -o {exe} datasets/x.c,-n\n": "want the columns",
	} {
		path := filepath.Join(t.TempDir(), "builds.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadBuilds(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	if _, err := ReadBuilds("no-such.csv"); err == nil {
		t.Error("a file that is missing was read")
	}
}

// TestRecordedTimes demands that the recorded times are the report's sizes, ten
// times each, and that reading and writing them preserves every byte.
func TestRecordedTimes(t *testing.T) {
	const path = "../../../datasets/iperf/host.csv"
	builds, err := ReadBuilds("../../../datasets/iperf/builds.csv")
	if err != nil {
		t.Fatal(err)
	}
	times, err := LoadTimes(path)
	if err != nil {
		t.Fatal(err)
	}
	if rows := recordtest.Same[RunRow](t, path); len(rows) != len(builds)*100*DefaultRounds || len(times.Runs) != len(rows) {
		t.Errorf("%d rows, %d runs", len(rows), len(times.Runs))
	}
	from, err := record.ReadText(path)
	if err != nil || !strings.Contains(from.Command, "time-kernels datasets/iperf/builds.csv") {
		t.Errorf("made by %s, %v", from.Command, err)
	}
}

// TestTimesRecord demands that recorded times can be read again, and that their
// origin names the builds.
func TestTimesRecord(t *testing.T) {
	got, err := TimingOptions{Rounds: 2}.Run(t.Context(), []Build{shellKernel("a", "{n}")}, subject.Sweep("n", 3, 7))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "times.csv")
	if err := got.Record(path, "presage time-kernels"); err != nil {
		t.Fatal(err)
	}
	again, err := LoadTimes(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(got.Runs, again.Runs); d != "" {
		t.Errorf("(-measured +read):\n%s", d)
	}
	from, err := record.ReadText(path)
	if err != nil || !strings.Contains(from.Origin, got.Built[0]) || !strings.HasPrefix(from.Origin, "measured on ") {
		t.Errorf("origin %q, %v", from.Origin, err)
	}
}
