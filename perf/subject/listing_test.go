package subject

import "testing"

func TestListed(t *testing.T) {
	parts := []float64{60, 30, 5, 4, 1, 0, 0}
	for _, c := range []struct {
		of   Listing
		want int
	}{
		{Listing{}, 7},
		{Listing{MinShare: 0.05}, 3},
		{Listing{MinShare: 1e-9}, 5}, // what has nothing has no share
		{Listing{Limit: 2}, 2},
		{Listing{Limit: 6}, 7}, // a single one has a row instead of being called other
		{Listing{Limit: 2, MinShare: 0.5}, 1},
	} {
		if got := c.of.Listed(parts); got != c.want {
			t.Errorf("%+v lists %d of %v, want %d", c.of, got, parts, c.want)
		}
	}
	if got := (Listing{MinShare: 0.1}).Listed([]float64{0, 0, 0}); got != 0 {
		t.Errorf("of nothing, %d are listed", got)
	}
	for _, bad := range []Listing{{MinShare: -0.1}, {MinShare: 1.1}, {Limit: -1}} {
		if bad.Check() == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}
