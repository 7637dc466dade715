package sampling

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/internal/perftest"
	"presage/perf/phase"
	"presage/perf/store"
	"presage/perf/study/record"
	"presage/perf/subject"
)

// TestHistory holds misses after a history against those of the full simulation, which
// it is told, for a run whose L2 misses are the first accesses to its blocks.
func TestHistory(t *testing.T) {
	o := Options{RunOptions: subject.RunOptions{Args: perftest.OneIteration, Store: store.Open(t.TempDir())}, Machine: power3(t), Repeats: 1}
	prog, point := perftest.Program(t), subject.Point{"n": 12}
	p, err := phase.BlockVectors(t.Context(), prog, point, phase.Options{RunOptions: o.RunOptions})
	if err != nil {
		t.Fatal(err)
	}
	samples, err := phase.SampleCaches(t.Context(), p, o.Machine, []phase.Sampling{{Full: true}})
	if err != nil {
		t.Fatal(err)
	}
	hits, err := phase.HitRates(samples...)
	if err != nil {
		t.Fatal(err)
	}
	full, err := (&Findings{Hits: hits}).FullMisses()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := o.History(t.Context(), prog, point, full)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 6 || rows[0].Sampling != "simpoint" || rows[3].Sampling != "simpoint 8" || rows[1].Level != "L2" || rows[2].Level != "TLB" {
		t.Fatalf("%+v", rows)
	}
	for _, r := range rows {
		if r.Full != full[r.Level] || math.Abs(r.Err-(r.Misses/r.Full-1)) > 1e-12 || r.PerUntraced <= 0 || r.Sampling == "simpoint 8" && (r.Points > 8 || r.Warmed <= 0) {
			t.Errorf("%+v", r)
		}
		// Points and their histories pass over parts of so short a run, which have
		// blocks of their own.
		if r.Level == "L2" && (r.Err > 0.05 || r.Err < -0.5) {
			t.Errorf("L2 misses are off by %g", r.Err)
		}
		// Its histories are shorter than an interval.
		if r.Level == "TLB" && (math.Abs(r.ErrWith) > 0.3 || r.Full < 1e-5) {
			t.Errorf("TLB misses are off by %g, of %g", r.ErrWith, r.Full)
		}
	}
	prefix := filepath.Join(t.TempDir(), "s")
	if err := RecordHistory(prefix, rows, prog, "presage metasim"); err != nil {
		t.Fatal(err)
	}
	if again, err := record.Read[HistoryRow](prefix + historyFile); err != nil || len(again.Rows) != 6 || again.Rows[3].Err != rows[3].Err || !strings.Contains(again.Origin, "s-hits.csv") {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := o.History(t.Context(), prog, point, map[string]float64{"L1": 0.1}); err == nil || !strings.Contains(err.Error(), "L2") {
		t.Errorf("no full simulation of L2: %v", err)
	}
	if _, err := new(Findings).FullMisses(); err == nil {
		t.Error("a study without a full simulation: no error")
	}
	if _, err := os.Stat(prefix + hitsFile); err == nil {
		t.Error("the study's own files are touched")
	}
}
