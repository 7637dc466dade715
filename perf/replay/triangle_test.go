package replay

import (
	"slices"
	"testing"

	"presage/perf/trace"
)

// visit calls f for the vectors of loops with so many steps each, as a collector has them.
func visit(steps []int64, f func(v []int64, stamps []uint64)) {
	v, stamps, clock := make([]int64, len(steps)), make([]uint64, len(steps)), uint64(1)
	for i := range stamps {
		stamps[i] = clock
	}
	for {
		f(v, stamps)
		k := len(v) - 1
		for ; k >= 0 && v[k] == steps[k]-1; k-- {
			v[k] = 0
		}
		if k < 0 {
			return
		}
		v[k]++
		clock++
		for i := k; i < len(v); i++ {
			stamps[i] = clock
		}
	}
}

// TestNarrowKeepsColours: of a branch that goes by the parity of a sum of three indices, the form
// that says so is kept in long runs, though others that are simpler did not fail yet.
func TestNarrowKeepsColours(t *testing.T) {
	b, n := newBranch(6, true), uint64(0)
	visit([]int64{4, 1, 1, 10, 36, 36}, func(v []int64, stamps []uint64) {
		b.add(v, stamps, trace.BlockID((v[3]+v[4]+v[5])&1))
		if n++; n%(1<<13) == 0 {
			b.narrow(n)
		}
	})
	if n < 1<<15 {
		t.Fatalf("%d executions are too few to narrow candidates down", n)
	}
	b.end()
	if len(b.candidates) == 0 || b.candidates[0].form.Split != (Split{Modulus: 2, A: 5, B: 4, Sign: 1, More: 1}) {
		t.Errorf("%d candidates are left", len(b.candidates))
	}
}

// TestTrianglesShown: a parabola is taken for one where more rows show it than determine it, and
// a line is none.
func TestTrianglesShown(t *testing.T) {
	for _, c := range []struct {
		rows, columns int64
		addr          func(i, j int64) int64
		want          bool
	}{
		{8, 5, func(i, j int64) int64 { return 8 * (i*(i+1)/2 + j) }, true},
		{5, 5, func(i, j int64) int64 { return 8 * (i*(i+1)/2 + j) }, false},
		{8, 5, func(i, j int64) int64 { return 8 * (i*i*i + j) }, false},
		{8, 5, func(i, j int64) int64 { return 8 * (7*i + j) }, false},
	} {
		r := newReference(2, true)
		visit([]int64{c.rows, c.columns}, func(v []int64, stamps []uint64) {
			r.add(v, stamps, uint64(1<<16+c.addr(v[0], v[1])))
		})
		r.settleTriangles()
		found := slices.ContainsFunc(r.keepForms(), func(f RunForm) bool { return f.Form.Triangle.Of == 1 })
		left := slices.ContainsFunc(r.candidates, func(c candidate) bool { return c.form.Triangle.Of > 0 })
		if found != c.want || left && !c.want {
			t.Errorf("%d rows, the third at %d: found %v, left %v", c.rows, c.addr(2, 0), found, left)
		}
	}
}
