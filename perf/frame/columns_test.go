package frame

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/go-gota/gota/dataframe"
	"github.com/google/go-cmp/cmp"
)

type row struct {
	Program string             `frame:"program"`
	Params  map[string]float64 `frame:",each"`
	Level   string             `frame:"level"`
	Misses  uint64             `frame:"misses"`
	Ratio   float64            `frame:"miss_ratio"`
	Hidden  int
}

func sample() dataframe.DataFrame {
	return Of([]row{
		{"a", map[string]float64{"n": 20}, "L1", 1 << 53, 1.2e-9, 0},
		{"a", map[string]float64{"n": 20}, "L2", 7, 1.3e-9, 0},
		{"a", map[string]float64{"n": 30, "m": 2}, "L1", 5, math.NaN(), 0},
	})
}

func csvOf(t *testing.T, df dataframe.DataFrame) string {
	t.Helper()
	var b strings.Builder
	if err := WriteCSV(&b, df); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestOfKeepsOrderTypesAndDigits(t *testing.T) {
	want := "program,m,n,level,misses,miss_ratio\n" +
		"a,,20,L1,9007199254740992,1.2e-09\n" +
		"a,,20,L2,7,1.3e-09\n" +
		"a,2,30,L1,5,\n"
	if diff := cmp.Diff(want, csvOf(t, sample())); diff != "" {
		t.Error(diff)
	}
}

func TestCountsAreIntegersInCSV(t *testing.T) {
	df := Of([]struct {
		V float64 `frame:"v"`
	}{{2002843}, {-3}, {0.5}, {1e300}})
	if got, want := csvOf(t, df), "v\n2002843\n-3\n0.5\n1e+300\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestJSONKeysAreJSON(t *testing.T) {
	var b strings.Builder
	df := Of([]struct {
		V map[string]float64 `frame:",each"`
	}{{map[string]float64{"a\ab": 1}}})
	if err := WriteJSON(&b, df); err != nil {
		t.Fatal(err)
	}
	if !json.Valid([]byte(b.String())) {
		t.Errorf("not JSON: %s", b.String())
	}
}

func TestWriteJSON(t *testing.T) {
	var b strings.Builder
	if err := WriteJSON(&b, sample()); err != nil {
		t.Fatal(err)
	}
	var got []map[string]any
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatalf("%v in %s", err, b.String())
	}
	if len(got) != 3 || got[0]["miss_ratio"] != 1.2e-9 || got[2]["miss_ratio"] != nil || got[1]["level"] != "L2" {
		t.Errorf("got %v", got)
	}
	if !strings.HasPrefix(b.String(), "[\n  {\"program\": \"a\", \"m\": null, \"n\": 20") {
		t.Errorf("columns out of order: %s", b.String())
	}
}

func TestJoin(t *testing.T) {
	sim := Of([]struct {
		N     float64 `frame:"n"`
		Level string  `frame:"level"`
		Sim   int     `frame:"sim_misses"`
	}{{20, "L2", 8}, {20, "L1", 100}, {40, "L1", 1}})
	got, err := Join(sample(), sim, "n", "level")
	if err != nil {
		t.Fatal(err)
	}
	want := "program,m,n,level,misses,miss_ratio,sim_misses\n" +
		"a,,20,L1,9007199254740992,1.2e-09,100\n" +
		"a,,20,L2,7,1.3e-09,8\n"
	if diff := cmp.Diff(want, csvOf(t, got)); diff != "" {
		t.Error(diff)
	}
	if _, err := Join(sample(), sim, "n"); err == nil || !strings.Contains(err.Error(), `"level"`) {
		t.Errorf("a column on both sides: %v", err)
	}
	if _, err := Join(sample(), sim, "size"); err == nil || !strings.Contains(err.Error(), `no column "size"`) {
		t.Errorf("no such column: %v", err)
	}
}

func TestLeftJoin(t *testing.T) {
	sim := Of([]struct {
		Level string `frame:"level"`
		Sim   int    `frame:"sim_misses"`
		Note  string `frame:"note"`
	}{{"L2", 8, "x"}})
	got, err := LeftJoin(sample(), sim, "level")
	if err != nil {
		t.Fatal(err)
	}
	want := "program,m,n,level,misses,miss_ratio,sim_misses,note\n" +
		"a,,20,L1,9007199254740992,1.2e-09,,\n" +
		"a,,20,L2,7,1.3e-09,8,x\n" +
		"a,2,30,L1,5,,,\n"
	if diff := cmp.Diff(want, csvOf(t, got)); diff != "" {
		t.Error(diff)
	}
}

func TestJoinOfNothing(t *testing.T) {
	other := Of([]struct {
		Level string  `frame:"level"`
		X     float64 `frame:"x"`
	}{{"L9", 1}})
	got, err := Join(sample(), other, "level")
	if err != nil {
		t.Fatal(err)
	}
	if got.Nrow() != 0 || csvOf(t, got) != "program,m,n,level,misses,miss_ratio,x\n" {
		t.Errorf("got %d rows: %s", got.Nrow(), csvOf(t, got))
	}
}

// TestSumKeepsDistinctFloatsApart is what gota's GroupBy gets wrong: it prints
// keys with %f, so 1.2e-9 and 1.3e-9 fall together.
func TestSumKeepsDistinctFloatsApart(t *testing.T) {
	df := Of([]struct {
		Key float64 `frame:"key"`
		V   float64 `frame:"v"`
	}{{1.2e-9, 1}, {1.3e-9, 10}, {1.2e-9, 100}})
	got, err := Sum(df, []string{"key"}, []string{"v"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "key,v\n1.2e-09,101\n1.3e-09,10\n"; csvOf(t, got) != want {
		t.Errorf("got %s, want %s", csvOf(t, got), want)
	}
	if _, err := Sum(sample(), []string{"n"}, []string{"level"}); err == nil {
		t.Error("sum of text: no error")
	}
}

func TestWhere(t *testing.T) {
	got, err := Where(sample(), "level", "L2", "L9")
	if err != nil {
		t.Fatal(err)
	}
	if got.Nrow() != 1 || got.Names()[0] != "program" {
		t.Errorf("got %v", got)
	}
	if got, err = Where(sample(), "n", "20"); err != nil || got.Nrow() != 2 {
		t.Errorf("n = 20: %v, %v", got, err)
	}
}

func TestEmptyFrame(t *testing.T) {
	df := Of([]row{})
	if got, want := csvOf(t, df), "program,level,misses,miss_ratio\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFailedFrameIsReported(t *testing.T) {
	bad := sample().Select([]string{"nowhere"})
	if bad.Err == nil {
		t.Fatal("gota selected a column that is not there")
	}
	for name, err := range map[string]error{
		"csv":  WriteCSV(&strings.Builder{}, bad),
		"json": WriteJSON(&strings.Builder{}, bad),
		"text": WriteText(&strings.Builder{}, bad),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got := HTML(bad, 0); !strings.HasPrefix(got, "<pre>") {
		t.Errorf("HTML = %s", got)
	}
}

func TestHTMLEscapesAndLimits(t *testing.T) {
	df := Of([]struct {
		Routine string `frame:"routine"`
	}{{"main.f[go.shape.int]<T>"}, {"b"}, {"c"}})
	got := HTML(df, 2)
	if !strings.Contains(got, "&lt;T&gt;") || !strings.Contains(got, "2 of 3 rows") {
		t.Errorf("got %s", got)
	}
}

func TestHTMLIsForPeople(t *testing.T) {
	got := HTML(Of([]struct {
		Name  string  `frame:"name"`
		Count int     `frame:"count"`
		Ratio float64 `frame:"ratio"`
	}{{"20000", 1234567, 0.5}, {"x", 9999, -65432}}), 0)
	for _, want := range []string{`<td style="text-align:left">20000</td>`, "<td>1,234,567</td>", "<td>0.5</td>", "<td>9999</td>", "<td>-65,432</td>"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	for digits, want := range map[string]string{"123456": "123,456", "1e+09": "1e+09", "12345.6": "12345.6", "": "", "NaN": "NaN", "-100000": "-100,000"} {
		if got := grouped(digits); got != want {
			t.Errorf("%s becomes %s, want %s", digits, got, want)
		}
	}
}

func TestShort(t *testing.T) {
	for v, want := range map[float64]string{
		1234567:      "1234567",
		1234567.8:    "1234568",
		0.0123456789: "0.012346",
		1.2e-9:       "1.2e-09",
		-3:           "-3",
	} {
		if got := short(v); got != want {
			t.Errorf("short(%v) = %s, want %s", v, got, want)
		}
	}
}

func TestCSVIsReadBack(t *testing.T) {
	df := Of([]struct {
		Name string `frame:"name"`
	}{{"quote \" comma , newline \n"}})
	records, err := csv.NewReader(strings.NewReader(csvOf(t, df))).ReadAll()
	if err != nil || records[1][0] != "quote \" comma , newline \n" {
		t.Errorf("read back %v, %v", records, err)
	}
}

func TestFrom(t *testing.T) {
	type row struct {
		N int `frame:"n"`
	}
	rows := []row{{1}, {2}}
	for _, table := range []any{rows, Of(rows)} {
		df, err := From(table)
		if err != nil || df.Nrow() != 2 || df.Names()[0] != "n" {
			t.Errorf("%T: %v, %v", table, df, err)
		}
	}
	for _, table := range []any{nil, 3, []int{3}, dataframe.DataFrame{Err: errors.New("broken")}} {
		if df, err := From(table); err == nil {
			t.Errorf("%T: %v and no error", table, df)
		}
	}
}

func TestMedian(t *testing.T) {
	type row struct {
		Err float64 `frame:"rel_err"`
	}
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{-3, 1, math.NaN()}, 2},
		{[]float64{-3, 1, 2}, 2},
		{[]float64{math.Inf(1), 1, 2}, 2},
		{nil, math.NaN()},
	} {
		var rows []row
		for _, v := range c.values {
			rows = append(rows, row{v})
		}
		got, err := Median(Of(rows), "rel_err")
		if err != nil || got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%v: %g, %v; want %g", c.values, got, err, c.want)
		}
	}
}
