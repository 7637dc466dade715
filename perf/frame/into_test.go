package frame

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

type point map[string]float64

type intoRow struct {
	Name   string  `frame:"name"`
	Point  point   `frame:",each"`
	Count  uint64  `frame:"count"`
	Delta  int     `frame:"delta"`
	Size   uint8   `frame:"size"`
	Share  float64 `frame:"share"`
	Good   bool    `frame:"good"`
	Hidden int     // not a column
}

func rowsOf(t *rapid.T) []intoRow {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) intoRow {
		share := rapid.Float64Range(-1e9, 1e9).Draw(t, "share")
		if rapid.IntRange(0, 9).Draw(t, "missing") == 0 {
			share = math.NaN()
		}
		at := point{"n": float64(rapid.IntRange(1, 99).Draw(t, "n")), "k": rapid.Float64Range(0, 1).Draw(t, "k")}
		if rapid.Bool().Draw(t, "no k") {
			delete(at, "k")
		}
		return intoRow{
			Name:  rapid.StringMatching(`x[a-z ,"]{0,6}`).Draw(t, "name"),
			Point: at,
			Count: rapid.Uint64Range(0, 1<<53).Draw(t, "count"),
			Delta: rapid.IntRange(-1<<40, 1<<40).Draw(t, "delta"),
			Size:  rapid.Uint8().Draw(t, "size"),
			Share: share,
			Good:  rapid.Bool().Draw(t, "good"),
		}
	}), 1, 20).Draw(t, "rows")
}

// TestIntoReversesOf, in memory and by way of a CSV file.
func TestIntoReversesOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rowsOf(t)
		df := Of(want)
		got, err := Into[intoRow](df)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
			t.Fatal(diff)
		}
		var file bytes.Buffer
		if err := WriteCSV(&file, df); err != nil {
			t.Fatal(err)
		}
		back, err := ReadCSV(&file)
		if err != nil {
			t.Fatal(err)
		}
		if got, err = Into[intoRow](back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
			t.Fatalf("by way of CSV: %s", diff)
		}
	})
}

func TestIntoOptional(t *testing.T) {
	type row struct {
		N     int     `frame:"n"`
		Note  string  `frame:"note,optional"`
		Error float64 `frame:"error,optional"`
	}
	got, err := Into[row](Of([]struct {
		N int `frame:"n"`
	}{{1}, {2}}))
	if err != nil || len(got) != 2 || got[1].N != 2 || got[0].Note != "" || !math.IsNaN(got[0].Error) {
		t.Errorf("%+v, %v", got, err)
	}
	full := []row{{1, "a", 0.5}}
	if got, err := Into[row](Of(full)); err != nil || got[0] != full[0] {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestIntoErrors(t *testing.T) {
	type ints struct {
		N uint8 `frame:"n"`
	}
	type bools struct {
		N bool `frame:"n"`
	}
	type floats struct {
		N float64 `frame:"n"`
	}
	read := func(text string) error {
		df, err := ReadCSV(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		_, err = Into[ints](df)
		return err
	}
	for text, want := range map[string]string{
		"m\n1\n":       `no column "n"; there are m`,
		"n\n1\n2.5\n":  `row 2, column "n": 2.5 is not an integer`,
		"n\n1\n\"\"\n": `row 2, column "n": no value`,
		"n\n-1\n":      "-1 is out of range",
		"n\n256\n":     "256 is out of range",
		"n\n1e300\n":   "is not an integer",
		"n\nx\n":       `"x" is not an integer`,
	} {
		if err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	df := Of([]struct {
		N string `frame:"n"`
	}{{"yes"}})
	if _, err := Into[bools](df); err == nil || !strings.Contains(err.Error(), "neither true nor false") {
		t.Errorf("a bool: %v", err)
	}
	if _, err := Into[floats](df); err == nil || !strings.Contains(err.Error(), "is text") {
		t.Errorf("a float: %v", err)
	}
}

// TestEmbeddedRows checks that columns of embedded structs stand in their place,
// at any depth, and come back.
func TestEmbeddedRows(t *testing.T) {
	type Place struct {
		Rows  int   `frame:"rows"`
		Point point `frame:",each"`
	}
	type Sample struct {
		Name string `frame:"name"`
		Place
		Good bool `frame:"good"`
	}
	type prediction struct {
		Sample
		Error float64 `frame:"rel_err"`
	}
	want := []prediction{
		{Sample{"a", Place{3, point{"k": 2}}, true}, 0.5},
		{Sample{"b", Place{4, point{"k": 7}}, false}, math.Inf(1)},
	}
	df := Of(want)
	if diff := cmp.Diff([]string{"name", "rows", "k", "good", "rel_err"}, df.Names()); diff != "" {
		t.Error(diff)
	}
	got, err := Into[prediction](df)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := Into[prediction](df.Drop("rows")); err == nil || !strings.Contains(err.Error(), `"rows"`) {
		t.Errorf("without a column of an embedded struct: error %v", err)
	}
}
