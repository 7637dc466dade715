//go:build slow

package target_test

import (
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"

	"presage/perf/iperf/target"
)

var update = flag.Bool("update", false, "write the recorded times instead of comparing them")

var recordedHeader = []string{"machine", "level", "placement", "n", "seed", "sim_time_sec"}

// Times of the guest's three kernels at n = 8 i, i = 1 to 100, on the four
// machines: with -update written to datasets/iperf/simulated.csv, else compared
// with what stands there. It takes some minutes.
func TestRecordedTimesAll(t *testing.T) {
	f := guest(t)
	plan := kernelPlan(t, f)
	rows := [][]string{recordedHeader}
	for _, v := range variants {
		for n := 8; n <= 800; n += 8 {
			var configs []target.Config
			for _, c := range recordedConfigs(t) {
				configs = append(configs, c.config)
			}
			for i, r := range guestTimes(t, f, plan, v.name, n, configs) {
				c := recordedConfigs(t)[i]
				rows = append(rows, []string{
					c.machine, v.level, c.config.System.Placement.String(), fmt.Sprint(n), fmt.Sprint(c.config.Seed),
					strconv.FormatFloat(r.Seconds, 'g', recordedDigits, 64),
				})
			}
		}
	}
	if *update {
		out, err := os.Create(recordedFile)
		if err != nil {
			t.Fatal(err)
		}
		w := csv.NewWriter(out)
		if err := w.WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		return
	}
	recorded := readRecorded(t)
	if len(recorded) != len(rows)-1 {
		t.Fatalf("%d times recorded, %d simulated", len(recorded), len(rows)-1)
	}
	for _, row := range rows[1:] {
		compareRecorded(t, recorded, row)
	}
}
