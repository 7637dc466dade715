package perf

import (
	"math"
	"strings"
	"testing"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
	"presage/perf/iperf"
)

func search(t *testing.T, df dataframe.DataFrame, r iperf.Request, opt SearchOptions) (*ModelSearch, error) {
	t.Helper()
	k, err := FindKernel("increment-ij")
	if err != nil {
		t.Fatal(err)
	}
	s, err := FindSystem("ultrasparc-1")
	if err != nil {
		t.Fatal(err)
	}
	if opt.Database == nil {
		opt.Database = iperf.ReportDatabase()
	}
	return SearchModels(t.Context(), df, k, s, r, opt)
}

// Rows of a size are its runs, and so are several columns.
func TestSearchModelsColumns(t *testing.T) {
	type row struct {
		N float64 `frame:"n"`
		A float64 `frame:"a_sec"`
		B float64 `frame:"b_sec"`
		C float64 `frame:"c_sec"`
		D float64 `frame:"d_sec"`
	}
	type long struct {
		N    float64 `frame:"n"`
		Time float64 `frame:"sim_time_sec"`
	}
	var wide []row
	var tall []long
	for n := 8.0; n <= 80; n += 8 {
		r := row{n, n * 9, n, n * 2, n * 4} // the average leaves 9 and 1 out: 3 n
		wide = append(wide, r)
		tall = append(tall, long{n, r.A}, long{n, r.B}, long{n, r.C}, long{n, r.D})
	}
	for _, c := range []struct {
		name string
		df   dataframe.DataFrame
		time []string
		runs int
	}{
		{"columns", frame.Of(wide), []string{"a_sec", "b_sec", "c_sec", "d_sec"}, 4},
		{"rows", frame.Of(tall), nil, 4},
		{"two columns", frame.Of(wide), []string{"c_sec", "d_sec"}, 2},
	} {
		m, err := search(t, c.df, iperf.Request{RelErr: 0.1}, SearchOptions{Time: c.time})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if len(m.Predictions) != 10 {
			t.Errorf("%s: %d sizes", c.name, len(m.Predictions))
		}
		for _, r := range m.Predictions {
			if n := r.Point["n"]; math.Abs(r.Time-3*n) > 1e-9 || r.Runs != c.runs {
				t.Errorf("%s: n = %g: %g s of %d runs, want %g of %d", c.name, n, r.Time, r.Runs, 3*n, c.runs)
			}
		}
	}
}

func TestSearchModelsBadTables(t *testing.T) {
	type row struct {
		Machine string  `frame:"machine"`
		Date    string  `frame:"date"`
		N       float64 `frame:"n"`
		Time    float64 `frame:"sim_time_sec"`
	}
	rows := []row{{"a", "x", 8, 1}, {"a", "y", 16, 2}, {"a", "z", 24, 3}, {"a", "z", 32, 4}}
	good := frame.Of(rows)
	rows[2].Machine = "b"
	mixed := frame.Of(rows)
	request := iperf.Request{AbsErr: 1}
	if _, err := search(t, good, request, SearchOptions{}); err != nil {
		t.Errorf("dates differ, which they may: %v", err)
	}
	for _, c := range []struct {
		df   dataframe.DataFrame
		opt  SearchOptions
		want string
	}{
		{mixed, SearchOptions{}, `machine "a" and "b"`},
		{good.Drop("n"), SearchOptions{}, `no column "n"`},
		{good.Drop("sim_time_sec"), SearchOptions{}, "the table has 0"},
		{frame.WithFloats(good, "time_sec", []float64{1, 2, 3, 4}), SearchOptions{}, "the table has 2"},
		{good, SearchOptions{Time: []string{"x_sec"}}, `no column "x_sec"`},
		{good, SearchOptions{Time: []string{"machine"}}, "text"},
		{frame.WithFloats(good, "sim_time_sec", []float64{1, 2, math.NaN(), 4}), SearchOptions{}, "row 3: sim_time_sec is no number"},
		{frame.WithFloats(good, "sim_time_sec", []float64{1, 2, -3, 4}), SearchOptions{}, "n=24"},
	} {
		if _, err := search(t, c.df, request, c.opt); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "perf: search models: ") {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}
