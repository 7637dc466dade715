package spmv

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

func TestReadMarket(t *testing.T) {
	for _, c := range []struct {
		name, text string
		rows, cols int
		want       []Entry
	}{
		{"general", "%%MatrixMarket matrix coordinate real general\n% a comment\n\n2 3 2\n2 3 -1.5e3\n1 1 2\n", 2, 3, []Entry{{0, 0, 2}, {1, 2, -1500}}},
		{"symmetric", "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 7\n3 3 1\n", 3, 3, []Entry{{0, 1, 7}, {1, 0, 7}, {2, 2, 1}}},
		{"skew", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 4\n", 2, 2, []Entry{{0, 1, -4}, {1, 0, 4}}},
		{"pattern", "%%matrixmarket MATRIX Coordinate Pattern General\n1 2 2\n1 2\n1 1\n", 1, 2, []Entry{{0, 0, 1}, {0, 1, 1}}},
		{"repeated entries are added", "%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 2\n1 1 3\n", 1, 1, []Entry{{0, 0, 5}}},
		{"no entries", "%%MatrixMarket matrix coordinate real general\n0 5 0\n", 0, 5, []Entry{}},
	} {
		m, err := ReadMarket(strings.NewReader(c.text), c.name)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if m.Rows != c.rows || m.Cols != c.cols || !reflect.DeepEqual(m.entries(), c.want) {
			t.Errorf("%s: %d×%d %v, want %d×%d %v", c.name, m.Rows, m.Cols, m.entries(), c.rows, c.cols, c.want)
		}
	}
}

func TestReadMarketErrors(t *testing.T) {
	const real = "%%MatrixMarket matrix coordinate real general\n"
	for _, c := range []struct{ text, want string }{
		{"", "f:1: not a Matrix Market file: it is empty"},
		{"1 1 1\n", "f:1: not a Matrix Market file: the first line"},
		{"%%MatrixMarket matrix array real general\n", `f:1: not a Matrix Market file: format "array"`},
		{"%%MatrixMarket matrix coordinate complex general\n", `f:1: not a Matrix Market file: entries are "complex"`},
		{"%%MatrixMarket matrix coordinate real hermitian\n", `f:1: not a Matrix Market file: symmetry is "hermitian"`},
		{"%%MatrixMarket matrix coordinate pattern skew-symmetric\n", "cannot be skew-symmetric"},
		{real + "% nothing\n", "f:3: not a Matrix Market file: the line of rows, columns and entries is missing"},
		{real + "3 3\n", "f:2: not a Matrix Market file: 2 numbers"},
		{real + "3 -3 0\n", `f:2: not a Matrix Market file: size "-3"`},
		{real + "3 99999999999 0\n", `size "99999999999"`},
		{real + "0 2 5\n", "f:2: not a Matrix Market file: 5 entries do not fit in 0×2"},
		{real + "2 2 2\n1 1 1\n", "f:4: not a Matrix Market file: the file ends after 1 of 2 entries"},
		{real + "2 2 1\n1 1 1\n2 2 2\n", "f:4: not a Matrix Market file: more than the 1 entries"},
		{real + "2 2 1\n1 3 1\n", `f:3: not a Matrix Market file: column "3": want a number from 1 to 2`},
		{real + "2 2 1\n0 1 1\n", `f:3: not a Matrix Market file: row "0": rows and columns count from 1`},
		{real + "2 2 1\n1 -1 1\n", `f:3: not a Matrix Market file: column "-1": want a number from 1 to 2`},
		{"%" + strings.Repeat("x", maxLine), "f:1: not a Matrix Market file: a line of more than 1048576 characters"},
		{real + "2 2 1\n%" + strings.Repeat("x", maxLine), "f:3: not a Matrix Market file: a line of more than 1048576 characters"},
		{real + "2 2 1\n1 1\n", "f:3: not a Matrix Market file: 2 fields, want 3"},
		{real + "2 2 1\n1 1 x\n", `f:3: not a Matrix Market file: value "x"`},
		{real + "2 2 1\n1 1 nan\n", `value "nan" is no finite number`},
		{"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n", `f:3: not a Matrix Market file: value "1.5" is no integer`},
		{"%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n", "symmetric, but of 2 rows and 3 columns"},
		{"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n", "f:3: not a Matrix Market file: entry (1, 2) is above the diagonal"},
		{"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 1\n", "on the diagonal of a skew-symmetric matrix"},
	} {
		_, err := ReadMarket(strings.NewReader(c.text), "f")
		if !errors.Is(err, ErrMarket) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.want)
		}
	}
	if _, err := ReadMarket(strings.NewReader("\x1f\x8bnonsense"), "f"); err == nil || !strings.Contains(err.Error(), "f: gzip") {
		t.Errorf("broken gzip: error %v", err)
	}
	m, err := NewMatrix(1, 1, []Entry{{0, 0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	var whole bytes.Buffer
	if err := writeMarketGzip(&whole, m); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadMarket(bytes.NewReader(whole.Bytes()[:whole.Len()-1]), "f"); err == nil || !strings.Contains(err.Error(), "the compressed file is cut off here") {
		t.Errorf("a file that is cut off: error %v", err)
	}
}

func TestWriteMarketReadsBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		m := random(t, rng)
		m.Name, m.Origin = "two\nlines", "made up"
		for _, gz := range []bool{false, true} {
			var b bytes.Buffer
			write := writeMarket
			if gz {
				write = writeMarketGzip
			}
			if err := write(&b, m); err != nil {
				t.Fatal(err)
			}
			got, err := ReadMarket(&b, "f")
			if err != nil {
				t.Fatal(err)
			}
			if got.Rows != m.Rows || got.Cols != m.Cols || !reflect.DeepEqual(got.entries(), m.entries()) {
				t.Fatalf("read back %v, wrote %v", got.entries(), m.entries())
			}
		}
	}
}

// The real matrix of Table 4 that lies beside the recordings.
func TestMemplus(t *testing.T) {
	table, err := FindTable4("memplus")
	if err != nil {
		t.Fatal(err)
	}
	m, err := table.Load("../../datasets/spmv")
	if err != nil {
		t.Fatal(err)
	}
	if m.StandIn || m.Name != "memplus" || m.Rows != table.Dimension || m.Cols != table.Dimension || m.NonZeros() != table.NonZeros {
		t.Errorf("%s, stand-in %t, %d×%d, %d entries; Table 4 has %d and %d", m.Name, m.StandIn, m.Rows, m.Cols, m.NonZeros(), table.Dimension, table.NonZeros)
	}
	if got := m.Value[0]; got != 8.3208769837292e-02 {
		t.Errorf("the first entry is %g", got)
	}
}

func FuzzReadMarket(f *testing.F) {
	for _, s := range []string{
		"%%MatrixMarket matrix coordinate real general\n2 3 2\n2 3 -1.5e3\n1 1 2\n",
		"%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 7\n3 3 1\n",
		"%%MatrixMarket matrix coordinate pattern general\n% c\n1 2 2\n1 2\n1 1\n",
		"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 4\n",
		"\x1f\x8b\x08\x00",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ReadMarket(bytes.NewReader(data), "f")
		if (m == nil) == (err == nil) {
			t.Fatalf("matrix %v and error %v", m, err)
		}
		if err != nil {
			return
		}
		if m.Rows > 1<<16 || m.Cols > 1<<16 {
			return // legal, but too slow to go on with here
		}
		var b bytes.Buffer
		if err := writeMarket(&b, m); err != nil {
			t.Fatal(err)
		}
		again, err := ReadMarket(&b, "f")
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if !reflect.DeepEqual(again.Start, m.Start) || !reflect.DeepEqual(again.Column, m.Column) {
			t.Fatal("read back another matrix")
		}
		fill := CountFill(m)
		for _, s := range []Shape{{1, 1}, {2, 3}, {8, 8}} {
			blocks, err := Block(m, s)
			if err != nil {
				t.Fatal(err)
			}
			if blocks.fillRatio() != fill.Ratio(s) {
				t.Fatalf("%v: fill %g by conversion, %g by counting", s, blocks.fillRatio(), fill.Ratio(s))
			}
		}
	})
}

// Numbers are as C and Fortran print them.
func TestReadsNumbersOfCAndFortran(t *testing.T) {
	for text, want := range map[string]float64{
		"1": 1, "-2.5": -2.5, "+3.": 3, ".5": 0.5, "1e-3": 1e-3, "1.5E+02": 150, "1.0D+00": 1, "-2.5d-1": -0.25,
	} {
		m, err := ReadMarket(strings.NewReader("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 "+text+"\n"), "m")
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := m.entries()[0].Value; got != want {
			t.Errorf("%s is read as %g", text, got)
		}
	}
	for _, text := range []string{"0x1p3", "1_000", "nan", "Inf", "1D400", "D1", "1,5", "one"} {
		_, err := ReadMarket(strings.NewReader("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 "+text+"\n"), "m")
		if err == nil || !strings.Contains(err.Error(), "m:3:") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
