package main

import (
	"bytes"
	"math"
	"slices"
	"sync"
	"testing"
)

// table is a ring of ranks that run at once, as goroutines.
type table struct {
	mu      sync.Mutex
	turn    *sync.Cond
	ranks   int
	arrived int
	round   int
	vector  []float64
	total   float64
	last    float64
}

func newTable(ranks, n int) *table {
	t := &table{ranks: ranks, vector: make([]float64, n)}
	t.turn = sync.NewCond(&t.mu)
	return t
}

// meet calls put, waits for all ranks to do so, and then calls take.
func (t *table) meet(put, take func()) {
	for _, do := range []func(){put, take} {
		t.mu.Lock()
		do()
		t.arrived++
		if round := t.round; t.arrived == t.ranks {
			t.arrived, t.round = 0, t.round+1
			t.last, t.total = t.total, 0
			t.turn.Broadcast()
		} else {
			for t.round == round {
				t.turn.Wait()
			}
		}
		t.mu.Unlock()
	}
}

func (t *table) gather(all []float64, lo, hi int) {
	t.meet(func() { copy(t.vector[lo:hi], all[lo:hi]) }, func() { copy(all, t.vector) })
}

func (t *table) sum(own float64) (sum float64) {
	t.meet(func() { t.total += own }, func() { sum = t.last })
	return sum
}

// ranked returns the problem of one rank, with its rows of the matrix.
func ranked(o options, ranks, rank int) *problem {
	o.ranks, o.rank = ranks, rank
	p := allocate(o)
	makea(&p.matrix, p.generator, p.shift)
	return p
}

// TestRanksTogether runs all ranks at once, each with its share, and holds them
// against the whole run: the same rows, and the same eigenvalue in every iteration.
func TestRanksTogether(t *testing.T) {
	o := defaults()
	o.n, o.nonzer, o.shift, o.iterations = 701, 4, 10, 6
	whole := allocate(o)
	makea(&whole.matrix, whole.generator, whole.shift)
	iterate(whole)
	for _, ranks := range []int{2, 4, 7} {
		ring := newTable(ranks, o.n)
		parts := make([]*problem, ranks)
		var wg sync.WaitGroup
		row := 0
		for rank := range parts {
			p := ranked(o, ranks, rank)
			parts[rank] = p
			if p.lo != row {
				t.Errorf("rank %d of %d begins at row %d, not %d", rank, ranks, p.lo, row)
			}
			row = p.hi
			from, to := whole.matrix.rowstr[p.lo], whole.matrix.rowstr[p.hi]
			if !slices.Equal(p.matrix.a, whole.matrix.a[from:to]) || !slices.Equal(p.matrix.colidx, whole.matrix.colidx[from:to]) {
				t.Errorf("rank %d of %d has other rows than the whole", rank, ranks)
			}
			wg.Go(func() { iterateShare(p, ring) })
		}
		wg.Wait()
		if row != o.n {
			t.Errorf("%d ranks have %d of %d rows", ranks, row, o.n)
		}
		for rank, p := range parts {
			for i, zeta := range whole.zeta {
				if !(math.Abs(p.zeta[i]-zeta) < 1e-10) {
					t.Errorf("rank %d of %d: zeta %.12g in iteration %d, of the whole %.12g", rank, ranks, p.zeta[i], i, zeta)
				}
			}
		}
	}
}

// TestRankAlone holds a rank by itself against the solution of the system of its own
// rows and columns, by elimination.
func TestRankAlone(t *testing.T) {
	o := defaults()
	o.n, o.nonzer, o.shift, o.iterations = 300, 4, 10, 1
	p := ranked(o, 3, 1)
	iterate(p)
	n := p.hi - p.lo
	a := make([][]float64, n) // and the right side, ones
	for i := range a {
		a[i] = make([]float64, n+1)
		a[i][n] = 1
		for k := p.matrix.rowstr[i]; k < p.matrix.rowstr[i+1]; k++ {
			if c := int(p.matrix.colidx[k]) - p.lo; c >= 0 && c < n {
				a[i][c] = p.matrix.a[k]
			}
		}
	}
	for i := range a { // definite: no pivots needed
		for j := i + 1; j < n; j++ {
			f := a[j][i] / a[i][i]
			for k := i; k <= n; k++ {
				a[j][k] -= f * a[i][k]
			}
		}
	}
	z, sum := make([]float64, n), 0.0
	for i := n - 1; i >= 0; i-- {
		z[i] = a[i][n]
		for k := i + 1; k < n; k++ {
			z[i] -= a[i][k] * z[k]
		}
		z[i] /= a[i][i]
		sum += z[i]
	}
	if want := o.shift + 1/sum; math.Abs(p.zeta[0]-want) > 1e-9 {
		t.Errorf("zeta %.12g, by elimination %.12g", p.zeta[0], want)
	}
	if err := verify(p, examine(p)); err != nil {
		t.Error(err)
	}
	p.work[0] *= 1 + 1e-9
	if err := verify(p, examine(p)); err == nil {
		t.Error("wrong energy: no error")
	}
}

func TestRankArguments(t *testing.T) {
	for args, want := range map[string]int{"-n 200 -ranks 4 -rank 3": 0, "-n 200 -ranks 4 -rank 4": 2, "-n 200 -rank 1": 2, "-n 200 -ranks 0": 2} {
		var out, errs bytes.Buffer
		words := make([]string, 0, 6)
		for _, w := range bytes.Fields([]byte(args)) {
			words = append(words, string(w))
		}
		if got := run(words, &out, &errs); got != want {
			t.Errorf("%s: exit status %d, want %d: %s%s", args, got, want, &out, &errs)
		}
	}
}
