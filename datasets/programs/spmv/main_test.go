package main

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
)

// input is a problem in the form that read takes: each row of blocks has a block in
// some columns.
func input(t *testing.T, r, c, rows, columns int32, rng *rand.Rand) []byte {
	t.Helper()
	var starts, cols []int32
	for range rows {
		for j := range columns {
			if rng.IntN(3) == 0 {
				cols = append(cols, j*c)
			}
		}
		starts = append(starts, int32(len(cols)))
	}
	values := make([]float64, int(r*c)*len(cols))
	for i := range values {
		values[i] = rng.NormFloat64()
	}
	var b bytes.Buffer
	for _, part := range []any{[]int32{r, c, rows, int32(len(cols)), rows * r, columns * c}, starts, cols, values} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// Every kernel against the plain loop, and the loop against a kernel's result that
// was changed.
func TestKernelsVerify(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for r := int32(1); r <= 8; r++ {
		for c := int32(1); c <= 8; c++ {
			p, err := read(bytes.NewReader(input(t, r, c, 9, 7, rng)))
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				p.multiply(p.start, p.column, p.value, p.y, p.x)
			}
			if err := p.verify(3); err != nil {
				t.Errorf("%d×%d: %v", r, c, err)
			}
			p.y[4] += 1e-9
			if err := p.verify(3); err == nil {
				t.Errorf("%d×%d: a wrong element passes", r, c)
			}
		}
	}
}

func TestReadErrors(t *testing.T) {
	good := input(t, 2, 3, 5, 4, rand.New(rand.NewPCG(3, 4)))
	change := func(word int, to int32) []byte {
		b := bytes.Clone(good)
		binary.LittleEndian.PutUint32(b[4*word:], uint32(to))
		return b
	}
	for _, c := range []struct {
		in   []byte
		want string
	}{
		{nil, "header"},
		{good[:len(good)-1], "matrix"},
		{change(0, 9), "blocks of 9×3"},
		{change(1, 0), "blocks of 2×0"},
		{change(4, 11), "do not fit together"},
		{change(5, 2), "do not fit together"},
		{change(2, -1), "do not fit together"},
		{change(6, 1000), "begins at block"},
		{change(11, 10_000), "begins in column 10000"},
	} {
		if _, err := read(bytes.NewReader(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// The band by its definition.
func TestBand(t *testing.T) {
	for n := 1; n < 40; n++ {
		p := band(n, 2, 3)
		if err := p.check(); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			want := make(map[int32]bool)
			for _, j := range []int{i - n/7, i - 1, i, i + 1, i + n/7} {
				if j >= 0 && j < n {
					want[int32(3*j)] = true
				}
			}
			got := p.column[p.start[i]:p.start[i+1]]
			for k, j := range got {
				if !want[j] || k > 0 && got[k-1] >= j {
					t.Fatalf("n %d, row of blocks %d: columns %v", n, i, got)
				}
			}
			if n/7 != 0 && n/7 != 1 && len(got) != len(want) {
				t.Fatalf("n %d, row of blocks %d: columns %v, want %d", n, i, got, len(want))
			}
		}
		p.multiply(p.start, p.column, p.value, p.y, p.x)
		if err := p.verify(1); err != nil {
			t.Fatal(err)
		}
	}
}
