package metasim_test

import (
	"encoding/csv"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"presage/perf/metasim"
)

// table reads a table of the paper and returns its rows, keyed by column.
func table(t *testing.T, name string) []map[string]string {
	t.Helper()
	f, err := os.Open("../../datasets/metasim/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, r := range records[1:] {
		row := make(map[string]string)
		for i, name := range records[0] {
			row[name] = r[i]
		}
		rows = append(rows, row)
	}
	if len(rows) != 20 {
		t.Fatalf("%s has %d rows, the paper's has 20", name, len(rows))
	}
	return rows
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestAmountsOfThePaper checks equations (1) to (3) on the instruction counts of
// Table 2.
func TestAmountsOfThePaper(t *testing.T) {
	for _, row := range table(t, "table2.csv") {
		n := uint64(number(t, row["instructions"]))
		for _, percent := range []int64{1, 10} {
			for _, p := range []int{1, 8, 100, 1000} {
				a, err := metasim.AmountsOf(n, float64(percent), p)
				if err != nil {
					t.Fatal(err)
				}
				// In integers: on·100·p is at most (n-fwd)·X and less than 100·p below it.
				rest := new(big.Int).SetUint64(n - n/10)
				for share, got := range map[int64]uint64{percent: a.On, 100 - percent: a.Off} {
					left := new(big.Int).Mul(rest, big.NewInt(share))
					left.Sub(left, new(big.Int).Mul(new(big.Int).SetUint64(got), big.NewInt(int64(100*p))))
					if left.Sign() < 0 || left.Cmp(big.NewInt(int64(100*p))) >= 0 {
						t.Errorf("%s, X = %d%%, p = %d: %d%% is %d instructions a period", row["benchmark"], percent, p, share, got)
					}
				}
				s, err := metasim.Periodic(n, float64(percent), p)
				if err != nil {
					t.Fatal(err)
				}
				last := s.Stretches[p-1]
				if a.Forward != n/10 || s.Stretches[0].From != a.Forward || len(s.Stretches) != p || last.To+a.Off > n || n-last.To-a.Off > uint64(2*p) {
					t.Errorf("%s: %+v; from %d to %d of %d", row["benchmark"], a, s.Stretches[0].From, last.To, n)
				}
				// Nine tenths of X percent, as a tenth is skipped.
				if share := float64(instructionsOf(s)) / float64(n); math.Abs(share-0.9*float64(percent)/100) > 1e-5 {
					t.Errorf("%s: %g of the run is simulated", row["benchmark"], share)
				}
				if p > 1 && s.Stretches[1].From != a.Forward+a.On+a.Off {
					t.Errorf("%s: the second period begins at %d", row["benchmark"], s.Stretches[1].From)
				}
			}
		}
	}
	for _, c := range []struct {
		percent float64
		p       int
	}{{0, 1}, {101, 1}, {math.NaN(), 1}, {1, -1}, {1, 1e9}} {
		if _, err := metasim.Periodic(1e9, c.percent, c.p); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}

// TestTablesOfThePaper checks statements in the paper's text against its tables.
func TestTablesOfThePaper(t *testing.T) {
	means := map[string]float64{"simpoint_hit_rate_diff_percent": 0.25, "periodic10_hit_rate_diff_percent": 0.07, "periodic1_hit_rate_diff_percent": 0.43}
	sums := make(map[string]float64)
	eight := 0
	for _, row := range table(t, "table2.csv") {
		for column := range means {
			sums[column] += math.Abs(number(t, row[column])) / 20
		}
		share := 100 * 8e6 / number(t, row["instructions"])
		odd := strings.HasPrefix(row["benchmark"], "is") || strings.HasPrefix(row["benchmark"], "mg")
		if diff := math.Abs(share - number(t, row["simpoint_simulated_percent"])); diff < 0.0101 {
			eight++
		} else if !odd || diff > 0.2*share {
			t.Errorf("%s: eight intervals are %.3f%%", row["benchmark"], share)
		}
	}
	if eight != 14 {
		t.Errorf("eight intervals are what the table says in %d rows", eight)
	}
	for column, want := range means {
		if math.Abs(sums[column]-want) > 0.005 {
			t.Errorf("mean of %s is %.4f, the text says %g", column, sums[column], want)
		}
	}
	for _, row := range table(t, "table1.csv") {
		for _, what := range []string{"full_trace", "instrumentation"} {
			ratio := number(t, row[what+"_sec"]) / number(t, row["native_sec"])
			if said := number(t, row[what+"_slowdown"]); math.Abs(ratio-said) > 0.01*said {
				t.Errorf("%s: %s is %.4g times the native run, the table says %g", row["benchmark"], what, ratio, said)
			}
		}
	}
}

func TestPower3(t *testing.T) {
	c := metasim.Power3()
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	bytes := []uint64{64 << 10, 4 << 20}
	ways := []int{128, 4}
	for i, l := range c.Levels {
		if l.Blocks*l.BlockBytes != bytes[i] || l.Ways != ways[i] || l.BlockBytes != 128 {
			t.Errorf("%+v", l)
		}
	}
	if !slices.Equal([]string{c.Levels[0].Name, c.Levels[1].Name}, []string{"L1", "L2"}) {
		t.Errorf("%+v", c)
	}
	if l := c.TLBs[0]; len(c.TLBs) != 1 || l.Entries*l.EntryBytes != 1<<20 || l.EntryBytes != 4096 || l.Ways != 2 {
		t.Errorf("%+v", c.TLBs)
	}
}
