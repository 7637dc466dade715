package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// Every version adds 1 to each element of each array, whatever is left over when
// four are done at a time.
func TestVariantsAddOne(t *testing.T) {
	for name, kernel := range variants {
		for n := 1; n <= 13; n++ {
			a := make([]float64, n*n)
			initialize(a)
			before := slices.Clone(a)
			kernel(a, n)
			for k := range a {
				if a[k] != before[k]+1 {
					t.Fatalf("%s, n %d: element %d went from %g to %g", name, n, k, before[k], a[k])
				}
			}
			if err := verify(a); err != nil {
				t.Errorf("%s, n %d: %v", name, n, err)
			}
			a[n*n/2]++
			if verify(a) == nil {
				t.Errorf("%s, n %d: a wrong element was not seen", name, n)
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
		{"-n 3 -variant optimised", exitOK, "iperf: n 3, variant optimised, 9 elements\ncorners: 1 3 7 9\nverification: successful\n"},
		{"-n 40 -quiet", exitOK, "verification: successful\n"},
		{"-n 0", exitUsage, "want 1 to 16000"},
		{"-variant best", exitUsage, "want naive, optimised or interchanged"},
		{"more", exitUsage, "unexpected argument"},
	} {
		var out bytes.Buffer
		if status := run(strings.Fields(c.args), &out, &out); status != c.status || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: status %d, output %q; want %d, %q", c.args, status, &out, c.status, c.want)
		}
	}
}
