package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const iperfData = "../../../datasets/iperf/"

// TestKernelOfBinary checks that the kernel of a binary, written to a file for
// search-models or searched directly, gives the same choice as the description by
// hand.
func TestKernelOfBinary(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	program := []string{"../../../datasets/programs/iperf", "--routine", "main.kernelRows", "--overlay", iperfData + "ij-go.yaml"}
	text := must(t, append([]string{"kernel"}, program...)...)
	if !strings.Contains(text, `{name: "j", trips: "n"}`) || !strings.Contains(text, `strides: {"i": "8", "j": "8*n"}`) {
		t.Errorf("got %s", text)
	}
	path := filepath.Join(t.TempDir(), "k.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	search := []string{
		"search-models", iperfData + "host.csv", "--where", "build=gcc-O3", "--machine", "../../../datasets/host/epyc.yaml",
		"--supplement", iperfData + "epyc-supplement.yaml", "--abs-err", "0.0001", "--format", "csv",
	}
	by := func(more ...string) string { return must(t, append(append([]string{}, search...), more...)...) }
	want := by("--kernel", "increment-ij")
	if got := by("--kernel", path+":increment-ij-go"); got != want {
		t.Errorf("from a file:\n%s\nby hand:\n%s", got, want)
	}
	if got := by(append([]string{"--binary"}, program...)...); got != want {
		t.Errorf("from the binary:\n%s\nby hand:\n%s", got, want)
	}
	if !strings.Contains(want, "CPU+L1nb+L2nb,3,3,") {
		t.Errorf("got %s", want)
	}
	table := must(t, append(append([]string{"kernel"}, program...), "--references", "--at", "n=100", "--block", "32", "--format", "csv")...)
	if !strings.Contains(table, `described.go`) || !strings.Contains(table, ",a0,8; 8*a3,") {
		t.Errorf("got %s", table)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"kernel", program[0]}, "routine"},
		{[]string{"kernel", program[0], "--routine", "main.kernelRows"}, "values: {a3: n}"},
		{[]string{"kernel", program[0], "--routine", "main.nothing"}, "no routine main.nothing"},
		{[]string{"kernel", "no-such", "--routine", "f"}, "no-such"},
		{append(append([]string{"kernel"}, program...), "--references"), "want one size"},
		{append(append([]string{"kernel"}, program...), "--references", "--at", "n=8", "--block", "0"), "--block 0"},
		{append(append([]string{}, search...), "--kernel", "copy", "--routine", "x"), "go with --binary"},
		{append(append([]string{}, search...), "--kernel", "copy", "--binary", "x"), "either --kernel or --binary"},
		{append(append([]string{}, search...), "--binary", program[0]), "which routine"},
		{search, "either --kernel or --binary"},
		{append(append([]string{}, search...), "--kernel", "copy", "--supplement", "no-such.yaml"), "no-such.yaml"},
	} {
		if _, _, err := presage(t, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.args, err, c.want)
		}
	}
}

// TestTimeKernels times a build, records it with its origin, and checks that the
// recording equals the printed table.
func TestTimeKernels(t *testing.T) {
	dir := t.TempDir()
	builds := filepath.Join(dir, "builds.csv")
	if err := os.WriteFile(builds, []byte("build,command,args\ngo,go build -o {exe} ../../../datasets/programs/iperf,-n {n} -time -quiet\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	record := filepath.Join(dir, "times.csv")
	_, errs, err := presage(t, "time-kernels", builds, "--sweep", "n=8,16", "--rounds", "3", "--record", record)
	if err != nil || !strings.Contains(errs, "round 3 of 3") {
		t.Fatalf("%v\n%s", err, errs)
	}
	text, err := os.ReadFile(record)
	if err != nil || strings.Count(string(text), "\n") != 7 {
		t.Errorf("%v\n%s", err, text)
	}
	list, err := os.ReadFile(filepath.Join(dir, "recordings.csv"))
	if err != nil || !strings.Contains(string(list), "go version") {
		t.Errorf("%v\n%s", err, list)
	}
	if _, _, err := presage(t, "time-kernels", builds, "-q"); err == nil || !strings.Contains(err.Error(), "no points") {
		t.Errorf("error %v", err)
	}
}
