package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSearchModels runs the report's experiment 4 from the command line.
func TestSearchModels(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	base := strings.Fields("search-models ../../../datasets/iperf/simulated.csv --where machine=ultrasparc-2 --where level=O3 --kernel increment-ij --machine ultrasparc-2 --abs-err 0.002 --share 0.99 --format csv")
	with := func(more string) []string { return append(append([]string{}, base...), strings.Fields(more)...) }

	text, errs, err := presage(t, with("--where placement=anywhere --report --table peaks")...)
	if err != nil || !strings.Contains(errs, "likely missing factor") || !strings.HasPrefix(text, "n,time_sec,pred_time_sec,spreads\n512,") {
		t.Errorf("%v\n%s\n%s", err, errs, text)
	}
	text, errs, err = presage(t, with("--where placement=anywhere")...)
	if err != nil || strings.Contains(errs, "no model") || !strings.Contains(text, "CPU+TLB+pages,3,3,0.99,") {
		t.Errorf("%v\n%s\n%s", err, errs, text)
	}
	text, errs, err = presage(t, with("--where placement=anywhere --without pages,TLB")...)
	if err != nil || !strings.Contains(errs, "no model") || strings.Contains(text, "pages") || strings.Contains(text, "TLB,") {
		t.Errorf("%v\n%s\n%s", err, errs, text)
	}
	text = must(t, with("--where placement=coloured --coloured --table pruned")...)
	if !strings.Contains(text, "L2,pages,") && !strings.Contains(text, "pages,pages,") {
		t.Errorf("coloured pages leave the page factor: %s", text)
	}
	ultra1 := strings.Fields("search-models ../../../datasets/iperf/simulated.csv --where machine=ultrasparc-1 --where level=O3 --where placement=anywhere --report --kernel increment-ij --machine ultrasparc-1 --abs-err 0.01 --format csv --table sensitivities")
	precise, cheapest := must(t, ultra1...), must(t, append(ultra1, "--cheapest")...)
	if strings.Count(precise, "\n") != 5 || strings.Count(cheapest, "\n") != 3 {
		t.Errorf("want four factors and two:\n%s\n%s", precise, cheapest)
	}
	for _, name := range searchTables {
		text := must(t, with("--where placement=anywhere --table "+name)...)
		if !strings.Contains(text, ",") {
			t.Errorf("table %s: %s", name, text)
		}
	}
	for more, want := range map[string]string{
		"":                          `placement "anywhere" and "fragmented"`,
		"--where placement=nowhere": "no row left with placement=nowhere",
		"--where placement":         "column=value",
		"--where place=anywhere":    `no column "place"`,
		"--table answers":           "--table",
		"--kernel none":             "none",
		"--machine none":            "none",
		"--format xml":              "xml",
		"--rel-err 0.1 --where placement=anywhere": "either the absolute error",
	} {
		if _, _, err := presage(t, with(more)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", more, err, want)
		}
	}
	bad := filepath.Join(t.TempDir(), "bad.csv")
	if err := os.WriteFile(bad, []byte("n,n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := presage(t, "search-models", bad, "--kernel", "copy", "--machine", "ultrasparc-2"); err == nil || !strings.Contains(err.Error(), bad) {
		t.Errorf("error %v", err)
	}
}
