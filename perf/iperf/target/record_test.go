package target_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"presage/perf/fit"
	"presage/perf/iperf"
	"presage/perf/iperf/target"
	"presage/perf/objfile"
	"presage/perf/trace"
)

const (
	recordedFile = "../../../datasets/iperf/simulated.csv"
	// recordedAgain is the relative difference up to which a time is that
	// recorded: compilers move a few instructions of the guest around. At small n
	// those that are executed once weigh more.
	recordedAgain = 0.03
)

var recordedMachines = []string{"ultrasparc-2", "supersparc-2", "ultrasparc-1", "supersparc-1"}

// recordedRuns are how often a variant is run, by level, each time with its pages
// in other places: as often as in the report where places matter.
var recordedRuns = map[string]uint64{"none": 10, "O3": 10, "depend-fast": 3}

type recordedConfig struct {
	machine string
	config  target.Config
}

// key returns a row of the file but for its time.
func (c *recordedConfig) key(level string, n int) string {
	return fmt.Sprintf("%s,%s,%v,%d,%d", c.machine, level, c.config.System.Placement, n, c.config.Seed)
}

// recordedConfigs are a machine with pages anywhere, in several sets of places,
// and coloured.
func recordedConfigs(t testing.TB, machine, level string) []recordedConfig {
	var out []recordedConfig
	for _, p := range []iperf.Placement{iperf.Anywhere, iperf.Coloured} {
		s := system(t, machine)
		s.Placement = p
		seeds := recordedRuns[level]
		if p == iperf.Coloured {
			seeds = 1
		}
		for seed := range seeds {
			out = append(out, recordedConfig{machine, target.Config{System: s, UseCycles: useCycles, Seed: seed}})
		}
	}
	return out
}

// simulated returns the seconds of a variant at one size in each configuration.
func simulated(t testing.TB, f *objfile.File, plan *trace.Plan, variant string, n int, configs []recordedConfig) []float64 {
	t.Helper()
	var all []target.Config
	for _, c := range configs {
		all = append(all, c.config)
	}
	var out []float64
	if len(all) > 0 {
		for _, r := range guestTimes(t, f, plan, variant, n, all) {
			out = append(out, r.Seconds)
		}
	}
	return out
}

// readRecorded returns the recorded times by the rest of their rows.
func readRecorded(t testing.TB) map[string]float64 {
	t.Helper()
	f, err := os.Open(recordedFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("%s: %d rows, %v", recordedFile, len(rows), err)
	}
	out := make(map[string]float64)
	for _, row := range rows[1:] {
		v, err := strconv.ParseFloat(row[5], 64)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.Join(row[:5], ",")] = v
	}
	return out
}

func compareRecorded(t testing.TB, recorded map[string]float64, key string, got float64) {
	t.Helper()
	want, ok := recorded[key]
	if !ok || math.Abs(got/want-1) > recordedAgain {
		t.Errorf("%s: simulated %g s, recorded %g", key, got, want)
	}
}

// A few of the recorded times, made again.
func TestRecordedTimes(t *testing.T) {
	recorded := readRecorded(t)
	f := guest(t)
	plan := kernelPlan(t, f)
	for _, v := range variants {
		for _, machine := range recordedMachines {
			configs := recordedConfigs(t, machine, v.level)
			configs = []recordedConfig{configs[0], configs[2], configs[len(configs)-1]}
			for _, n := range []int{104, 256, 512} {
				for i, r := range simulated(t, f, plan, v.name, n, configs) {
					compareRecorded(t, recorded, configs[i].key(v.level, n), r)
				}
			}
		}
	}
}

// recordedTimes returns the measurements of a target system.
func recordedTimes(t testing.TB, machine, level, placement string) []iperf.Measurement {
	t.Helper()
	recorded := readRecorded(t)
	var out []iperf.Measurement
	for n := 8; n <= 800; n += 8 {
		var runs []float64
		for seed := 0; ; seed++ {
			v, ok := recorded[fmt.Sprintf("%s,%s,%s,%d,%d", machine, level, placement, n, seed)]
			if !ok {
				break
			}
			runs = append(runs, v)
		}
		m := iperf.Measurement{Point: fit.Point{"n": float64(n)}, Runs: runs}
		if len(runs) == 0 {
			t.Fatalf("no times of %s %s %s at n = %d", machine, level, placement, n)
		}
		if len(runs) >= 3 {
			m = iperf.NewMeasurement(m.Point, runs)
		} else {
			m.Time = runs[0]
		}
		out = append(out, m)
	}
	return out
}
