package sampling

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presage/perf/internal/perftest"
	"presage/perf/phase"
	"presage/perf/simpoint"
	"presage/perf/store"
	"presage/perf/study/record"
	"presage/perf/subject"
)

// TestRanks takes runs of two sizes for two ranks, and holds their signatures against
// those of the runs by themselves.
func TestRanks(t *testing.T) {
	o := Options{RunOptions: subject.RunOptions{Args: "-n 1{rank} -iterations 1 -quiet", Store: store.Open(t.TempDir())}, Machine: power3(t), Repeats: 1}
	prog := perftest.Program(t)
	f, err := o.RunRanks(t.Context(), prog, subject.Point{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	find := func(rank, sampling, level string) RankRow {
		i := slices.IndexFunc(f.Rows, func(r RankRow) bool { return r.Rank == rank && r.Sampling == sampling && r.Level == level })
		if i < 0 {
			t.Fatalf("no row of rank %s, %s, %s", rank, sampling, level)
		}
		return f.Rows[i]
	}
	if own, first := find("0", guidedOwn, "L2"), find("0", guidedFirst, "L2"); len(f.Rows) != 3*2*3 || own.Hit != first.Hit || own.ByHistory != first.ByHistory {
		t.Errorf("%+v", f.Rows)
	}
	var misses, accesses float64
	for rank, name := range []string{"0", "1"} {
		own := o.RunOptions
		p, err := phase.BlockVectors(t.Context(), prog, subject.Point{"rank": float64(rank)}, phase.Options{RunOptions: own})
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
		r := find(name, guidedOwn, "L1")
		if r.Full != hits[0].Hit || r.Instructions != p.Instructions || r.FullPer <= 0 || r.PerUntraced <= 0 || r.Ranks != 2 || len(r.Point) != 0 {
			t.Errorf("rank %s: %+v, by itself %+v", name, r, hits[0])
		}
		misses, accesses = misses+(1-r.Full)*float64(r.Accesses), accesses+float64(r.Accesses)
	}
	if all := find(AllRanks, guidedOwn, "L1"); math.Abs(1-all.Full-misses/accesses) > 1e-12 || all.Accesses != uint64(accesses) || all.Untraced != find("0", guidedOwn, "L1").Untraced+find("1", guidedOwn, "L1").Untraced {
		t.Errorf("all ranks: %+v", all)
	}
	shares := map[string]float64{}
	for _, b := range f.Blocks {
		if b.Rank == 1 {
			shares[b.Level] += b.Share
		}
	}
	if len(shares) != 3 || shares["L1"] < 0.98 || shares["L1"] > 1 || shares["TLB"] != shares["L1"] {
		t.Errorf("blocks make %v of the accesses", shares)
	}
	prefix := filepath.Join(t.TempDir(), "s")
	if err := f.Record(prefix, "presage metasim"); err != nil {
		t.Fatal(err)
	}
	if again, err := record.Read[RankRow](prefix + ranksFile); err != nil || !slices.EqualFunc(again.Rows, f.Rows, func(a, b RankRow) bool { return a.Hit == b.Hit && a.Rank == b.Rank }) {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := o.RunRanks(t.Context(), prog, subject.Point{"rank": 0}, 2); err == nil || !strings.Contains(err.Error(), "rank") {
		t.Errorf("a problem with a rank: %v", err)
	}
}

func TestPointsBehindTheEnd(t *testing.T) {
	points := []simpoint.Point{{Interval: 3, Weight: 0.5}, {Interval: 8, Weight: 0.25}, {Interval: 9, Weight: 0.25}}
	if all, moved := within(points, 10); moved || !slices.Equal(all, points) {
		t.Errorf("all within: %v", all)
	}
	all, moved := within(points, 9)
	if want := []simpoint.Point{{Interval: 3, Weight: 0.5}, {Interval: 8, Weight: 0.5}}; !moved || !slices.Equal(all, want) {
		t.Errorf("%v, want %v", all, want)
	}
}

// TestExtended takes the clusters of one run's intervals for those of shorter and longer
// ones.
func TestExtended(t *testing.T) {
	labels := []int{0, 0, 1, 2}
	for _, c := range []struct {
		n    int
		want []int
	}{{2, []int{0, 0}}, {4, labels}, {6, []int{0, 0, 1, 2, 2, 2}}} {
		if got := extended(labels, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%d intervals: %v, want %v", c.n, got, c.want)
		}
	}
}
