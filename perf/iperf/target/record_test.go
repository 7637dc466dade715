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
)

const (
	recordedFile = "../../../datasets/iperf/simulated.csv"
	// recordedDigits are those of a recorded time.
	recordedDigits = 7
	// recordedAgain is the relative difference up to which a time is that
	// recorded: compilers move a few instructions of the guest around. At small n
	// those that are executed once weigh more.
	recordedAgain = 0.03
)

type recordedConfig struct {
	machine string
	config  target.Config
}

// recordedConfigs are the machines, with pages in three sets of places anywhere,
// and coloured.
func recordedConfigs(t testing.TB) []recordedConfig {
	var out []recordedConfig
	for _, name := range []string{"ultrasparc-2", "ultrasparc-1", "supersparc-2", "supersparc-1"} {
		for _, p := range []iperf.Placement{iperf.Anywhere, iperf.Coloured} {
			s := system(t, name)
			s.Placement = p
			seeds := uint64(3)
			if p == iperf.Coloured {
				seeds = 1
			}
			for seed := range seeds {
				out = append(out, recordedConfig{name, target.Config{System: s, UseCycles: useCycles, Seed: seed}})
			}
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

func compareRecorded(t testing.TB, recorded map[string]float64, row []string) {
	t.Helper()
	got, err := strconv.ParseFloat(row[5], 64)
	if err != nil {
		t.Fatal(err)
	}
	want, ok := recorded[strings.Join(row[:5], ",")]
	if !ok || math.Abs(got/want-1) > recordedAgain {
		t.Errorf("%v: simulated %g s, recorded %g", row[:5], got, want)
	}
}

// A few of the recorded times, made again.
func TestRecordedTimes(t *testing.T) {
	recorded := readRecorded(t)
	f := guest(t)
	plan := kernelPlan(t, f)
	for _, v := range variants {
		for _, n := range []int{104, 256, 512} {
			all := recordedConfigs(t)
			var configs []target.Config
			for _, c := range all {
				configs = append(configs, c.config)
			}
			for i, r := range guestTimes(t, f, plan, v.name, n, configs) {
				c := all[i]
				compareRecorded(t, recorded, []string{
					c.machine, v.level, c.config.System.Placement.String(), fmt.Sprint(n), fmt.Sprint(c.config.Seed),
					strconv.FormatFloat(r.Seconds, 'g', recordedDigits, 64),
				})
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
