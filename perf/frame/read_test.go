package frame

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadCSVGivesBackWhatWasWritten(t *testing.T) {
	df := Of([]row{
		{"a, \"quoted\"\nname", map[string]float64{"n": 20}, "L1", 1 << 53, 1.2e-9, 0},
		{"", map[string]float64{"n": 30, "m": 2}, "0x1p-2x", 5, math.NaN(), 0},
		{"7", map[string]float64{"n": 30, "m": 0.30000000000000004}, "", 5, math.Inf(1), 0},
	})
	text := csvOf(t, df)
	back, err := ReadCSV(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, csvOf(t, back)); diff != "" {
		t.Error(diff)
	}
	misses, err := Floats(back, "misses")
	if err != nil || misses[0] != 1<<53 {
		t.Errorf("misses %v, %v: want numbers", misses, err)
	}
	if _, err := Floats(back, "program"); err == nil {
		t.Error("a column with a name among numbers is taken for numbers")
	}
}

func TestReadCSVReportsTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                "line 1: no header line",
		"a,a\n1,2\n":      `line 1: column 2 is called "a"`,
		"a,\n1,2\n":       `line 1: column 2 is called ""`,
		"a,b\n1,2\n3\n":   "line 3",
		"a,b\n1,\"2\n3\n": "line 3",
	} {
		if _, err := ReadCSV(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}

// FuzzReadCSV demands a table or an error, and that a table that was read is
// written and read to the same.
func FuzzReadCSV(f *testing.F) {
	f.Add("a,b\n1,x\n,\n")
	f.Add("a\n\"\"\nNaN\n1e400\n-0x1p3\n")
	f.Fuzz(func(t *testing.T, text string) {
		df, err := ReadCSV(strings.NewReader(text))
		if err != nil {
			return
		}
		var first, second bytes.Buffer
		if err := WriteCSV(&first, df); err != nil {
			t.Fatal(err)
		}
		again, err := ReadCSV(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("%q was written as %q: %v", text, &first, err)
		}
		if err := WriteCSV(&second, again); err != nil {
			t.Fatal(err)
		}
		if first.String() != second.String() {
			t.Errorf("%q was written as %q, and then as %q", text, &first, &second)
		}
	})
}
