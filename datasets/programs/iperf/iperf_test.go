package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"presage/datasets/programs/internal/program"
)

// Every version adds 1 to each element of each array, whatever is left over when
// four are done at a time.
func TestVariantsAddOne(t *testing.T) {
	for name, v := range variants {
		if v.increment == nil {
			continue
		}
		for n := 1; n <= 13; n++ {
			a := make([]float64, n*n)
			initialize(a)
			before := slices.Clone(a)
			v.run(nil, a, n)
			for k := range a {
				if a[k] != before[k]+1 {
					t.Fatalf("%s, n %d: element %d went from %g to %g", name, n, k, before[k], a[k])
				}
			}
			if err := v.verify(nil, a, n); err != nil {
				t.Errorf("%s, n %d: %v", name, n, err)
			}
			a[n*n/2]++
			if v.verify(nil, a, n) == nil {
				t.Errorf("%s, n %d: a wrong element was not seen", name, n)
			}
		}
	}
}

// The stencil and the copy against a direct sum over neighbours, and that verify
// sees one wrong element in either array.
func TestVariantsOfTwoArrays(t *testing.T) {
	for _, name := range []string{"copy", "stencil"} {
		v := variants[name]
		for n := 1; n <= 9; n++ {
			a, b := v.arrays(n)
			v.run(b, a, n)
			for k := range b {
				want := a[k]
				if name == "stencil" {
					want = 0
					if i, j := k/n, k%n; min(i, j) > 0 && max(i, j) < n-1 {
						for _, at := range [][2]int{{i, j}, {i - 1, j}, {i + 1, j}, {i, j - 1}, {i, j + 1}} {
							want += a[at[0]*n+at[1]]
						}
					}
				}
				if b[k] != want {
					t.Fatalf("%s, n %d: element %d is %g, want %g", name, n, k, b[k], want)
				}
			}
			if err := v.verify(b, a, n); err != nil {
				t.Errorf("%s, n %d: %v", name, n, err)
			}
			for _, array := range [][]float64{a, b} {
				array[len(array)/2]++
				if v.verify(b, a, n) == nil {
					t.Errorf("%s, n %d: a wrong element was not seen", name, n)
				}
				array[len(array)/2]--
			}
		}
	}
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"-n 3 -variant optimised", program.OK, "iperf: n 3, variant optimised, 9 elements\ncorners: 1 3 7 9\nverification: successful\n"},
		{"-n 40 -quiet", program.OK, "verification: successful\n"},
		{"-n 4 -variant stencil -quiet", program.OK, "verification: successful\n"},
		{"-n 4 -variant copy -time -quiet", program.OK, "kernel_sec: 0.0"},
		{"-n 0", program.Usage, "want 1 to 16000"},
		{"-variant best", program.Usage, "want naive, optimised, interchanged, naive-ji, ij"},
		{"more", program.Usage, "unexpected argument"},
	} {
		var out bytes.Buffer
		if status := run(strings.Fields(c.args), &out, &out); status != c.status || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: status %d, output %q; want %d, %q", c.args, status, &out, c.status, c.want)
		}
	}
}
