package npb

import (
	"encoding/csv"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The table against the file: every row is there, in place, and nothing else.
func TestTableIsTheFile(t *testing.T) {
	f, err := os.Open("../../../nas/verification.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) float64 {
		if s == "" {
			return 0
		}
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, r := range rows[1:] {
		name, _, _ := strings.Cut(r[5], " (")
		values := Reference(r[0], r[1], name)
		if i := int(number(r[6])) - 1; i >= len(values) || values[i] != number(r[7]) {
			t.Errorf("%v: the table has %v", r, values)
		}
		c, ok := Find(r[0], r[1])
		if want := (Class{r[1], int(number(r[2])), int(number(r[3])), number(r[4])}); !ok || c != want {
			t.Errorf("%v: the class is %+v", r, c)
		}
		if !slices.Contains(Classes(r[0]), c) {
			t.Errorf("Classes(%q) lacks %+v", r[0], c)
		}
	}
	values := 0
	for _, e := range table {
		for _, q := range e.quantities {
			values += len(q.values)
		}
	}
	if values != len(rows)-1 {
		t.Errorf("the table has %d values, the file %d", values, len(rows)-1)
	}
}

func TestWhatIsNotThere(t *testing.T) {
	if v := Reference("BT", "S", "surface_integral"); v != nil {
		t.Errorf("BT has a surface integral: %v", v)
	}
	if c, ok := Find("BT", "Z"); ok {
		t.Errorf("BT has a class Z: %v", c)
	}
	if c := Classes("XX"); c != nil {
		t.Errorf("XX has classes %v", c)
	}
}

// Exact against the sum of powers as the report writes it, in exact arithmetic.
func TestExact(t *testing.T) {
	for _, x := range [][3]float64{{0, 0, 0}, {1, 1, 1}, {0.5, 0, 1}, {0.3, 0.7, 0.9}} {
		var got [5]float64
		Exact(&got, x[0], x[1], x[2])
		for m := range got {
			sum := new(big.Rat).SetFloat64(coefficients[m][0])
			for d, v := range x {
				p := big.NewRat(1, 1)
				for power := range 4 {
					p.Mul(p, new(big.Rat).SetFloat64(v))
					term := new(big.Rat).SetFloat64(coefficients[m][1+d+3*power])
					sum.Add(sum, term.Mul(term, p))
				}
			}
			want, _ := sum.Float64()
			if math.Abs(got[m]-want) > 1e-14*math.Abs(want) {
				t.Errorf("Exact at %v, component %d: %v, want %v", x, m+1, got[m], want)
			}
		}
	}
	// All coefficients of a row, added up by hand.
	var u [5]float64
	Exact(&u, 1, 1, 1)
	for m, want := range []float64{15.76, 8.26, 10.32, 9.72, 15.52} {
		if math.Abs(u[m]-want) > 1e-13 {
			t.Errorf("Exact at (1,1,1), component %d: %v, want %v", m+1, u[m], want)
		}
	}
}

func TestCompare(t *testing.T) {
	want := []float64{1, -2}
	for _, c := range []struct {
		got []float64
		ok  bool
	}{
		{[]float64{1, -2}, true},
		{[]float64{1 + 0.9e-8, -2}, true},
		{[]float64{1, -2 * (1 + 1.1e-8)}, false},
		{[]float64{math.NaN(), -2}, false},
		{[]float64{1}, false},
	} {
		if err := Compare("norm", c.got, want, Tolerance); (err == nil) != c.ok {
			t.Errorf("Compare(%v): %v", c.got, err)
		}
	}
}
