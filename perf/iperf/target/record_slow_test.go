//go:build slow

package target_test

import (
	"bytes"
	"encoding/csv"
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "add the times that are not recorded yet, instead of comparing those that are")

// recordedDigits are those of a recorded time.
const recordedDigits = 7

var recordedHeader = []string{"machine", "level", "placement", "n", "seed", "sim_time_sec"}

// Times of the guest's three kernels at n = 8 i, i = 1 to 100, on the four
// machines. With -update those that datasets/iperf/simulated.csv lacks are added
// to it, machine by machine; to make all of them again, delete it first. It takes
// a quarter of an hour of processor time.
func TestRecordedTimesAll(t *testing.T) {
	f := guest(t)
	plan := kernelPlan(t, f)
	recorded := make(map[string]float64)
	if _, err := os.Stat(recordedFile); err == nil || !*update {
		recorded = readRecorded(t)
	}
	for _, v := range variants {
		for _, machine := range recordedMachines {
			for n := 8; n <= 800; n += 8 {
				var wanted []recordedConfig
				for _, c := range recordedConfigs(t, machine, v.level) {
					if _, ok := recorded[c.key(v.level, n)]; !ok || !*update {
						wanted = append(wanted, c)
					}
				}
				for i, r := range simulated(t, f, plan, v.name, n, wanted) {
					if *update {
						recorded[wanted[i].key(v.level, n)] = r
					} else {
						compareRecorded(t, recorded, wanted[i].key(v.level, n), r)
					}
				}
			}
			if *update {
				writeRecorded(t, recorded)
			}
		}
	}
}

// writeRecorded replaces the file.
func writeRecorded(t *testing.T, recorded map[string]float64) {
	t.Helper()
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	write := func(row []string) {
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	write(recordedHeader)
	for _, v := range variants {
		for _, machine := range recordedMachines {
			for n := 8; n <= 800; n += 8 {
				for _, c := range recordedConfigs(t, machine, v.level) {
					key := c.key(v.level, n)
					if seconds, ok := recorded[key]; ok {
						write(append(strings.Split(key, ","), strconv.FormatFloat(seconds, 'g', recordedDigits, 64)))
					}
				}
			}
		}
	}
	w.Flush()
	if err := os.WriteFile(recordedFile+".new", out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(recordedFile+".new", recordedFile); err != nil {
		t.Fatal(err)
	}
}
