package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"presage/perf/study/inferred"
)

const inferData = "../../../datasets/inferred"

// TestInferRefusesBeforeItSearches checks that errors in folders, scripts and
// tables are reported before a search begins.
func TestInferRefusesBeforeItSearches(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, "cut")
	if err := os.CopyFS(cut, os.DirFS(inferData)); err != nil {
		t.Fatal(err)
	}
	profiles := filepath.Join(cut, "profiles.csv")
	text, err := os.ReadFile(profiles)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(profiles, text[:20000], 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"campaign into a file":  {[]string{"campaign", "--record", file}, file},
		"study into a file":     {[]string{"study", "--data", inferData, "--record", file}, file},
		"baselines into a file": {[]string{"baselines", "--data", inferData, "--record", file}, file},
		"no script":             {[]string{"baselines", "--data", inferData, "--record", dir, "--script", "none.R"}, "none.R"},
		"no profiles":           {[]string{"study", "--data", dir, "--record", dir}, "shards.csv"},
		"no set":                {[]string{"study", "--data", inferData, "--record", dir, "--variables", "both"}, "limits"},
		"no architectures":      {[]string{"predict", "../../../datasets/programs/cg", "--data", inferData, "--count", "0"}, "--count 0"},
		"negative shards":       {[]string{"predict", "../../../datasets/programs/cg", "--data", inferData, "--shards", "-3"}, "--shards -3"},
		"no shards":             {[]string{"predict", "../../../datasets/programs/cg", "--data", inferData, "--shards", "0"}, "--shards 0"},
		"too many to simulate":  {[]string{"predict", "../../../datasets/programs/cg", "--data", inferData, "--simulate", "--count", "2001"}, "--count 2001 with --simulate"},
		"no file of them":       {[]string{"predict", "../../../datasets/programs/cg", "--data", inferData, "--architectures", "none.csv"}, "none.csv"},
		"no program":            {[]string{"predict", "none", "--data", inferData}, "none"},
		"no model":              {[]string{"predict", "../../../datasets/programs/cg", "--data", dir}, "shards.csv"},
		"profiles cut off":      {[]string{"study", "--data", cut, "--record", dir}, "profiles.csv"},
	} {
		out, errs, err := presage(t, append([]string{"infer"}, c.args...)...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one that names %q", name, err, c.want)
		}
		if strings.Contains(out+errs, "search:") || strings.Contains(out+errs, "baselines:") {
			t.Errorf("%s: it began: %s%s", name, out, errs)
		}
	}
}

// TestInferPredict checks that there is one row per architecture, whatever their
// number, and no simulated CPI unless requested.
func TestInferPredict(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	args := []string{"infer", "predict", "../../../datasets/programs/cg", "--data", inferData, "--args", "-n 20 -iterations 4", "--count", "300", "--shards", "2", "--length", "200000", "--format", "csv", "-q"}
	out, errs, err := presage(t, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 301 || !strings.HasSuffix(lines[0], ",sum_cpi,outside_shards,pred_cpi") {
		t.Errorf("%d lines, the first is %s", len(lines), lines[0])
	}
	if !strings.Contains(errs, "shards of 1000000 instructions, not of 200000") {
		t.Errorf("shards of another length than the model's, and the warnings are %q", errs)
	}
}

// TestInferPredictSeed checks that the default seed, given explicitly, omitted or
// as 0, draws the same shards and architectures, and another seed others. Shards of
// the model's length give no warning.
func TestInferPredictSeed(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	predict := func(more ...string) string {
		t.Helper()
		args := []string{"infer", "predict", "../../../datasets/programs/cg", "--data", inferData, "--args", "-n 60 -iterations 6", "--count", "3", "--shards", "1", "--format", "csv", "-q"}
		out, errs, err := presage(t, append(args, more...)...)
		if err != nil {
			t.Fatalf("%v: %v\n%s", more, err, errs)
		}
		if strings.Contains(errs, "made from shards of") {
			t.Errorf("%v: warned of the length of shards: %s", more, errs)
		}
		return out
	}
	unset := predict()
	for _, given := range []string{strconv.Itoa(inferred.Seed), "0"} {
		if got := predict("--seed", given, "--length", "1000000"); got != unset {
			t.Errorf("with --seed %s:\n%s\nwithout:\n%s", given, got, unset)
		}
	}
	if predict("--seed", "7") == unset {
		t.Error("another seed draws the same")
	}
	help := must(t, "infer", "predict", "--help") + must(t, "infer", "campaign", "--help")
	if strings.Count(help, fmt.Sprintf("(default %d)", inferred.Seed)) != 2 {
		t.Errorf("the help texts do not name the default seed:\n%s", help)
	}
}
