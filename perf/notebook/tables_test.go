package notebook

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"presage/perf/study/record"
)

func TestRecordedTables(t *testing.T) {
	type row struct {
		Name  string  `frame:"name"`
		Value float64 `frame:"value"`
	}
	path := filepath.Join(t.TempDir(), "table.csv")
	if err := record.Write(path, []row{{"a", -1.5}, {"b", 2}, {"a", 4}}, record.Source{Origin: "made up", Command: "none"}); err != nil {
		t.Fatal(err)
	}
	for name, df := range map[string]func(string) []float64{
		"Recorded": func(path string) []float64 { return Floats(Where(Recorded(path), "name", "a"), "value") },
		"ReadCSV":  func(path string) []float64 { return Floats(Where(ReadCSV(path), "name", "a"), "value") },
	} {
		if got, want := df(path), []float64{-1.5, 4}; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	twice := Stack(Recorded(path), ReadCSV(path))
	if got, want := Strings(twice, "name"), []string{"a", "b", "a", "a", "b", "a"}; !slices.Equal(got, want) {
		t.Errorf("Stack: %q, want %q", got, want)
	}
}

func TestAbs(t *testing.T) {
	values := []float64{-2, 0, 3, math.Inf(-1)}
	if got, want := Abs(values), []float64{2, 0, 3, math.Inf(1)}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if values[0] != -2 {
		t.Error("Abs changed its argument")
	}
}

func TestMedian(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{nil, nan},
		{[]float64{nan}, nan},
		{[]float64{7}, 7},
		{[]float64{4, 1}, 2.5},
		{[]float64{9, nan, 1, 2}, 2},
		{[]float64{math.Inf(1), 1, 2}, 2},
		{[]float64{5, -1, 3, 100}, 4},
	} {
		in := slices.Clone(c.values)
		if got := Median(in); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("Median(%v) = %v, want %v", c.values, got, c.want)
		}
		for i := range in {
			if in[i] != c.values[i] && !math.IsNaN(in[i]) {
				t.Errorf("Median reordered its argument: %v", in)
			}
		}
	}
}
