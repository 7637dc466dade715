package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/misses"
)

// TestQuery asks every kind of question about one set of profiles.
func TestQuery(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	dir := t.TempDir()
	must(t, "profile", program, "--sweep", "n=6,7,8,9,10", "--args", "-n {n} -iterations 1", "--machine", "origin2000", "-o", dir, "-q")
	for _, c := range []struct {
		args string
		want []string // columns
		rows int      // 0: any number
	}{
		{"--at n=12,14 --capacity 16KiB,32KiB --ways 2", []string{"level", "capacity_bytes", "ways", "pred_misses", "pred_misses_low", "pred_misses_high", "pred_hit_ratio"}, 4},
		{"--at n=12 --machine origin2000 --level L2,TLB --coverage 0.5", []string{"pred_misses_low"}, 2},
		{"--at n=12 --ways 4 --block 32 --hit-ratio 0.9", []string{"pred_capacity_bytes", "pred_hit_ratio_smaller", "pred_hit_ratio_most"}, 1},
		{"--at n=12 --machine origin2000 --miss-ratio 0.05 --by routine", []string{"pred_capacity_bytes", "scope"}, 0},
		{"--machine origin2000 --level TLB --miss-ratio 0.01 --vary n", []string{"parameter", "pred_largest", "pred_largest_anywhere", "at_limit"}, 1},
		{"--capacity 8KiB --ways 2 --hit-ratio 0.95 --vary n=6:30:2", []string{"search_to", "pred_largest"}, 1},
		{"--at n=12 --distances --block 128 --by loop", []string{"distance_blocks", "pred_accesses", "pred_cold_accesses"}, 0},
	} {
		args := append([]string{"query", dir, "--format", "csv"}, strings.Fields(c.args)...)
		text := must(t, args...)
		if c.rows > 0 && strings.Count(text, "\n") != c.rows+1 {
			t.Errorf("%s: want %d rows: %s", c.args, c.rows, text)
		}
		for _, name := range c.want {
			if !strings.Contains(","+strings.Join(header(t, text), ",")+",", ","+name+",") {
				t.Errorf("%s: no column %s in %v", c.args, name, header(t, text))
			}
		}
	}
	for args, want := range map[string]string{
		"--at n=12":                                                 "two of size, cache and ratio",
		"--capacity 32KiB":                                          "no sizes",
		"--hit-ratio 0.5 --vary n":                                  "no caches",
		"--at n=12 --capacity 32KB":                                 `"32KB"`,
		"--at n=12 --capacity 0":                                    "above 0",
		"--at n=12 --block x --hit-ratio 0.5":                       "--block",
		"--at n=12 --level L2 --hit-ratio 0.5":                      "--machine",
		"--at n=12 --machine origin2000 --ways 2":                   "no machine has",
		"--at n=12 --distances --hit-ratio 0.5":                     "--distances",
		"--capacity 32KiB --miss-ratio 0.1 --vary n=5":              "first:last:step",
		"--capacity 32KiB --miss-ratio 0.1 --vary n=5:x":            `"x"`,
		"--capacity 32KiB --vary n":                                 "caches and a ratio",
		"--at n=12 --capacity 32KiB --format xml":                   "xml",
		"--at n=12 --capacity 32KiB --hit-ratio .9 --miss-ratio .1": "not both",
	} {
		_, _, err := presage(t, append([]string{"query", dir}, strings.Fields(args)...)...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
	if got := must(t, "query", "--help"); !strings.Contains(got, "Examples:") {
		t.Error("query --help has no example")
	}
}

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]uint64{"64": 64, "32KiB": 32 << 10, "4 MiB": 4 << 20, "1GiB": 1 << 30} {
		if got, err := parseBytes(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "KiB", "1.5KiB", "9999999999GiB", "32kb"} {
		if got, err := parseBytes(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

func TestParseVary(t *testing.T) {
	for text, want := range map[string]misses.Vary{
		"n": {Param: "n"}, "n=5:9": {Param: "n", From: 5, To: 9}, "n=5:9:0.5": {Param: "n", From: 5, To: 9, Step: 0.5},
	} {
		got, err := parseVary(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v %s", text, err, diff)
		}
	}
}
