package kernels

import (
	"context"
	"os"
	"path/filepath"
	"presage/perf/frame"
	"presage/perf/study/record"
	"presage/perf/subject"
	"strings"
	"testing"
)

func shellKernel(name, args string) KernelBuild {
	return KernelBuild{Name: name, Command: "cp testdata/kernel.sh {exe}", Args: args}
}

// Round by round, all builds of a point one after the other.
func TestTimeKernels(t *testing.T) {
	missing := KernelBuild{"other", "no-such-compiler {exe}", "{n}"}
	got, err := TimeKernels(t.Context(), []KernelBuild{shellKernel("a", "{n}"), missing, shellKernel("b", "{n}0")}, subject.Sweep("n", 3, 7), TimeKernelsOptions{Rounds: 2})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := frame.WriteCSV(&text, got.Runs); err != nil {
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

// An interrupted measurement goes on after its last whole round, if it is the same.
func TestTimeKernelsGoesOn(t *testing.T) {
	dir := t.TempDir()
	runs := filepath.Join(dir, "runs")
	t.Setenv("RUNS", runs)
	ctx, cancel := context.WithCancel(t.Context())
	opt := TimeKernelsOptions{Rounds: 3, Partial: filepath.Join(dir, "times.partial")}
	opt.Progress = func(round, _ int) {
		if round == 2 {
			cancel()
		}
	}
	builds, points := []KernelBuild{shellKernel("a", "{n}")}, subject.Sweep("n", 1, 2)
	if _, err := TimeKernels(ctx, builds, points, opt); err == nil {
		t.Fatal("a cancelled measurement ended well")
	}
	if _, err := TimeKernels(t.Context(), builds, subject.Sweep("n", 1, 3), opt); err == nil || !strings.Contains(err.Error(), "is of other programs, sizes or another machine") {
		t.Errorf("other sizes: %v", err)
	}
	opt.Progress = nil
	got, err := TimeKernels(t.Context(), builds, points, opt)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(runs)
	if err != nil {
		t.Fatal(err)
	}
	if got.Runs.Nrow() != 6 || strings.Count(string(text), "\n") != 6 {
		t.Errorf("%d rows of %q, want 6 of 6 runs", got.Runs.Nrow(), text)
	}
	if _, err := os.Stat(opt.Partial); err == nil {
		t.Error("the file of finished rounds is still there")
	}
	if err := os.WriteFile(opt.Partial, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := TimeKernels(t.Context(), builds, points, opt); err == nil {
		t.Error("a broken file of finished rounds was taken")
	}
}

func TestTimeKernelsErrors(t *testing.T) {
	for _, c := range []struct {
		build  KernelBuild
		points []subject.Point
		rounds int
		want   string
	}{
		{shellKernel("a", "{n}"), nil, 1, "no points"},
		{shellKernel("a", "{n}"), subject.Sweep("n", 1), -1, "-1 rounds"},
		{shellKernel("a", "-{n}"), subject.Sweep("n", 1), 1, "exit status 3"},
		{shellKernel("a", "{n}"), subject.Sweep("n", 99), 1, `printed no line such as "kernel_sec: 0.00012"`},
		{shellKernel("a", "{m}"), subject.Sweep("n", 1), 1, "m"},
		{KernelBuild{"a", "false {exe}", "{n}"}, subject.Sweep("n", 1), 1, "build a"},
		{KernelBuild{"a", "true {exe}", "{n}"}, subject.Sweep("n", 1), 1, "made no executable"},
		{KernelBuild{"a", "no-such-compiler {exe}", "{n}"}, subject.Sweep("n", 1), 1, "nothing to measure"},
	} {
		if _, err := TimeKernels(t.Context(), []KernelBuild{c.build}, c.points, TimeKernelsOptions{Rounds: c.rounds}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.build, err, c.want)
		}
	}
}

func TestReadKernelBuilds(t *testing.T) {
	all, err := ReadKernelBuilds("../../../datasets/iperf/builds.csv")
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
		if _, err := ReadKernelBuilds(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	if _, err := ReadKernelBuilds("no-such.csv"); err == nil {
		t.Error("a file that is missing was read")
	}
}

// The times that are recorded are the report's sizes, ten times each.
func TestRecordedKernelTimes(t *testing.T) {
	df, origin, err := record.Recorded("../../../datasets/iperf/host.csv")
	if err != nil {
		t.Fatal(err)
	}
	builds, err := ReadKernelBuilds("../../../datasets/iperf/builds.csv")
	if err != nil {
		t.Fatal(err)
	}
	if df.Nrow() != len(builds)*100*DefaultRounds || !strings.Contains(origin.Command, "time-kernels datasets/iperf/builds.csv") {
		t.Errorf("%d rows, made by %s", df.Nrow(), origin.Command)
	}
}
