package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPoolGivesTheSame profiles by a pool of processes and in this one: tables and
// entries are the same, and recorded commands do not tell.
func TestPoolGivesTheSame(t *testing.T) {
	t.Setenv("PRESAGE_STORE", t.TempDir())
	var tables, entries []string
	for _, on := range []string{"here", "pool"} {
		dir := t.TempDir()
		args := []string{"profile", program, "--sweep", "n=6,7,8", "--args", "-n {n} -iterations 1", "--block", "64", "-o", dir, "--format", "csv", "-q", "--on", on}
		tables = append(tables, must(t, args...))
		files, err := filepath.Glob(filepath.Join(dir, "reuse", "*", "*"))
		if err != nil || len(files) != 3 {
			t.Fatalf("%s: entries %v, %v", on, files, err)
		}
		for i := range files {
			files[i] = filepath.Base(files[i])
		}
		entries = append(entries, strings.Join(files, " "))
		list := must(t, "campaign", "list", "--store", dir)
		if on == "here" {
			if strings.Count(list, "\n") != 1 {
				t.Errorf("without a pool: %s", list)
			}
			continue
		}
		fields := strings.Fields(strings.Split(list, "\n")[1])
		if !strings.Contains(list, "presage profile") || strings.Contains(list, "--on") || fields[1] != "pool" || fields[3] != "3" {
			t.Errorf("list: %s", list)
		}
		if status := must(t, "campaign", "status", fields[0], "--store", dir); !strings.Contains(status, "jobs: 3, done 3, failed 0, left 0") {
			t.Errorf("status: %s", status)
		}
		if _, _, err := presage(t, "campaign", "attach", fields[0], "--store", dir); err == nil || !strings.Contains(err.Error(), "is on pool") {
			t.Errorf("attached to a pool: %v", err)
		}
	}
	if tables[0] != tables[1] || entries[0] != entries[1] {
		t.Errorf("here:\n%s%s\npool:\n%s%s", tables[0], entries[0], tables[1], entries[1])
	}
}

// TestFailedJob prints one line for a run that fails, which names its log.
func TestFailedJob(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	dir := t.TempDir()
	_, stderr, err := presage(t, "profile", program, "--sweep", "n=6,7,8", "--args", "-n {n} -iterations 0", "-o", dir, "-q")
	if err == nil || !strings.Contains(err.Error(), "exit status 2") {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	if len(lines) != 3 {
		t.Errorf("want a line for each of 3 runs:\n%s", stderr)
	}
	_, log, ok := strings.Cut(lines[0], "(log: ")
	text, err := os.ReadFile(strings.TrimSuffix(log, ")"))
	if !ok || err != nil || !strings.Contains(string(text), "exit status 2") {
		t.Errorf("%s: %s, %v", lines[0], text, err)
	}
}

func TestCampaignErrors(t *testing.T) {
	dir := t.TempDir()
	for want, args := range map[string][]string{
		"there is none of this ID": {"campaign", "status", "0123456789ab", "--store", dir},
		`"../x"`:                   {"campaign", "attach", "../x", "--store", dir},
		"name it by --cluster":     {"profile", program, "--sweep", "n=6,7,8", "--on", "ssh", "-o", dir},
		"want pool":                {"profile", program, "--sweep", "n=6,7,8", "--on", "moon", "-o", dir},
		"--pool-memory":            {"profile", program, "--sweep", "n=6,7,8", "--pool-memory", "much", "-o", dir},
		"unknown field":            {"profile", program, "--sweep", "n=6,7,8", "--on", "slurm", "--cluster", "testdata/no-cluster.yaml", "-o", dir},
		"--store: want the folder": {"campaign", "work"},
	} {
		if _, _, err := presage(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("presage %s: %v, want %q", strings.Join(args, " "), err, want)
		}
	}
}

// TestCampaignForecast predicts a campaign by the times of another, and by given ones.
func TestCampaignForecast(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	dir := t.TempDir()
	must(t, "profile", program, "--sweep", "n=6,7,8", "--args", "-n {n} -iterations 1", "--block", "64", "-o", dir, "-q")
	id := strings.Fields(strings.Split(must(t, "campaign", "list", "--store", dir), "\n")[1])[0]
	out := must(t, "campaign", "forecast", "--from", id, "--store", dir, "--nodes", "2", "--cores", "2", "--format", "csv")
	if lines := strings.Split(out, "\n"); len(lines) != 8 || !strings.HasPrefix(lines[0], "without,jobs,nodes,pred_sec,") || !strings.HasPrefix(lines[1], ",3,2,") {
		t.Errorf("got %s", out)
	}
	out = must(t, "campaign", "forecast", "--seconds", "10", "--jobs", "8", "--measured", "--nodes", "1", "--cores", "1", "--format", "csv")
	if !strings.Contains(out, "\n,8,1,80,1,1,1,1,") {
		t.Errorf("got %s", out)
	}
	for want, args := range map[string][]string{
		"give the jobs' times":     {"--nodes", "1", "--cores", "1"},
		"number of nodes":          {"--seconds", "1", "--jobs", "1"},
		"there is none of this ID": {"--from", "abc", "--nodes", "1", "--cores", "1"},
		"--format":                 {"--seconds", "1", "--format", "xml"},
	} {
		if _, _, err := presage(t, append([]string{"campaign", "forecast"}, args...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}

// TestStore goes through the commands of the store, with an entry that is damaged.
func TestStore(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	dir, other, archive := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "x.tar")
	must(t, "profile", program, "--sweep", "n=6,7,8", "--args", "-n {n} -iterations 1", "--block", "64", "-o", dir, "-q")
	if out := must(t, "store", "ls", "--store", dir); !strings.Contains(out, "reuse        3") {
		t.Errorf("ls: %s", out)
	}
	if out := must(t, "store", "ls", "reuse", "--store", dir); strings.Count(out, "\n") != 4 {
		t.Errorf("ls reuse: %s", out)
	}
	if out := must(t, "store", "du", "--store", dir); !strings.Contains(out, "programs") || !strings.Contains(out, "all") {
		t.Errorf("du: %s", out)
	}
	if out := must(t, "store", "export", archive, "--kind", "reuse", "--store", dir); out != "3 entries\n" {
		t.Errorf("export: %s", out)
	}
	for _, want := range []string{"3 entries added, 0 were there\n", "0 entries added, 3 were there\n"} {
		if out := must(t, "store", "import", archive, "--store", other); out != want {
			t.Errorf("import: %s, want %s", out, want)
		}
	}
	files, _ := filepath.Glob(filepath.Join(other, "reuse", "*", "*"))
	if err := os.WriteFile(files[0], []byte("spoilt"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, _, err := presage(t, "store", "verify", "--store", other)
	if err == nil || !strings.Contains(err.Error(), "1 entries of 3") || !strings.Contains(out, files[0]) {
		t.Errorf("verify: %s, %v", out, err)
	}
	if out := must(t, "store", "gc", "--damaged", "--store", other); !strings.Contains(out, "removed 1 entries, 1 of them damaged") {
		t.Errorf("gc: %s", out)
	}
	if out := must(t, "store", "verify", "--store", other); out != "2 entries are good\n" {
		t.Errorf("verify: %s", out)
	}
}
