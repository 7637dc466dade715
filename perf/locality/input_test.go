package locality_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/locality"
	"presage/perf/store"
	"presage/perf/subject"
)

// reader is a program that reads the file it is given, and what is on its
// standard input, and copies both to its output.
const reader = `package main

import (
	"io"
	"os"
)

func main() {
	data, err := os.ReadFile(os.Args[1])
	if err != nil {
		println(err.Error())
		os.Exit(3)
	}
	os.Stdout.Write(data)
	if _, err := io.Copy(os.Stdout, os.Stdin); err != nil {
		os.Exit(4)
	}
}
`

// TestFilesAreInputs: what a program reads is part of what its profile depends
// on, so that a changed file is not answered with an old profile.
func TestFilesAreInputs(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other tests profile at once, too")
	}
	source, host := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(source, "go.mod"):  "module reader\n",
		filepath.Join(source, "main.go"): reader,
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	prog, err := subject.Build(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	opt := locality.ProfileOptions{
		RunOptions: subject.RunOptions{
			Args: "/data/in.txt", Stdin: " and input",
			Folders: []subject.Folder{{Guest: "/data", Host: host}}, Store: store.Open(t.TempDir()),
		},
		BlockBytes: []uint64{64},
	}
	if _, err := locality.Profile(t.Context(), prog, []subject.Point{{}}, opt); err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "no such file") {
		t.Fatalf("no file: %v", err)
	}
	for _, text := range []string{"first", "second, longer"} {
		if err := os.WriteFile(filepath.Join(host, "in.txt"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		runs, err := locality.Profile(t.Context(), prog, []subject.Point{{}}, opt)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := runs.Runs[0].Stdout, text+" and input"; got != want {
			t.Errorf("the run printed %q, want %q", got, want)
		}
	}
	opt.Folders[0].Host = filepath.Join(host, "nowhere")
	if _, err := locality.Profile(t.Context(), prog, []subject.Point{{}}, opt); err == nil || !strings.Contains(err.Error(), "folder for /data") {
		t.Errorf("no folder: %v", err)
	}
}
