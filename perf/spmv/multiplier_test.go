package spmv

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"presage/perf/spmv/simd"
)

// TestSplitCoversAllRowsOnce splits random matrices, with empty rows and fewer rows
// than parts: bounds ascend from the first row to the last, and no part has more than
// its share of blocks by more than the longest row.
func TestSplitCoversAllRowsOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		b, err := Block(random(t, rng), Shape{1 + rng.IntN(MaxBlock), 1 + rng.IntN(MaxBlock)})
		if err != nil {
			t.Fatal(err)
		}
		rows, blocks := b.Stored()
		longest := 0
		for i := range rows {
			longest = max(longest, int(b.start[i+1]-b.start[i]))
		}
		n := 1 + rng.IntN(6)
		bounds := b.Split(n)
		if len(bounds) != n+1 || bounds[0] != 0 || bounds[n] != rows || !slices.IsSorted(bounds) {
			t.Fatalf("%d rows in %d parts: %v", rows, n, bounds)
		}
		for i := range n {
			part := int(b.start[bounds[i+1]] - b.start[bounds[i]])
			if share := (blocks + n - 1) / n; part > share+longest {
				t.Errorf("%d blocks in %d parts, rows of at most %d: part %d has %d", blocks, n, longest, i, part)
			}
		}
	}
}

// TestMultipliersAgreeWithThePlainProduct multiplies random matrices by every kernel
// of 1 to 4 threads in every shape, twice, as the second product finds workers awake.
func TestMultipliersAgreeWithThePlainProduct(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 12 {
		m := random(t, rng)
		for i := range m.Value {
			m.Value[i] = rng.NormFloat64()
		}
		for _, s := range Shapes() {
			b, err := Block(m, s)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range Kernels(1 + round%4) {
				multiplyTwice(t, rng, m, b, k)
			}
		}
	}
}

func multiplyTwice(t *testing.T, rng *rand.Rand, m *Matrix, b *Blocks, k Kernel) {
	t.Helper()
	multiplier, err := b.Multiplier(k)
	if err != nil {
		t.Fatal(err)
	}
	defer multiplier.Close()
	ny, nx := b.Lengths()
	y, x := make([]float64, ny), make([]float64, nx)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	want, sizes := make([]float64, m.Rows), make([]float64, m.Rows)
	for range 2 {
		m.multiply(want, x[:m.Cols])
		for _, e := range m.entries() {
			sizes[e.Row] += math.Abs(e.Value * x[e.Col])
		}
		multiplier.Multiply(y, x)
	}
	for i := range want {
		if !(math.Abs(y[i]-want[i]) <= apart*sizes[i]) {
			t.Fatalf("%v, %v: row %d is %g, want %g", b.Shape, k, i, y[i], want[i])
		}
	}
	for i, v := range y[m.Rows:] {
		if v != 0 {
			t.Fatalf("%v, %v: element %d beyond the matrix became %g", b.Shape, k, i, v)
		}
	}
}

// TestTeamDoesEachPartOnce runs work on teams, with pauses in which workers fall
// asleep.
func TestTeamDoesEachPartOnce(t *testing.T) {
	for n := 1; n <= 4; n++ {
		team := newTeam(n, n%2 == 0)
		done := make([]atomic.Int32, n)
		for round := int32(1); round <= 200; round++ {
			if round%50 == 0 {
				time.Sleep(5 * time.Millisecond)
			}
			team.run(func(part int) { done[part].Add(1) })
			for i := range done {
				if got := done[i].Load(); got != round {
					t.Fatalf("team of %d: part %d was done %d times in %d rounds", n, i, got, round)
				}
			}
		}
		team.close()
	}
}

// TestTimeKernels times a small matrix: each kernel of each shape has as many times
// as rounds, and the matrix's bytes are those of its arrays.
func TestTimeKernels(t *testing.T) {
	opt := KernelOptions{Threads: 2, Passes: 1, Rounds: 2, Least: time.Nanosecond}
	m := figure11(t)
	all, err := TimeKernels(context.Background(), m, opt)
	if err != nil {
		t.Fatal(err)
	}
	kernels := Kernels(2)
	if len(all) != len(Shapes())*len(kernels) {
		t.Fatalf("%d rows, want %d shapes of %d kernels", len(all), len(Shapes()), len(kernels))
	}
	for i, k := range all {
		if k.Shape != Shapes()[i/len(kernels)] || k.Kernel != kernels[i%len(kernels)] {
			t.Errorf("row %d is %v, %v", i, k.Shape, k.Kernel)
		}
		for _, times := range [][]float64{k.Seconds, k.WallSeconds, k.ReadSeconds} {
			if len(times) != 2 || !(slices.Min(times) > 0) {
				t.Errorf("%v, %v: times %v, %v and %v", k.Shape, k.Kernel, k.Seconds, k.WallSeconds, k.ReadSeconds)
			}
		}
		if k.Shape == (Shape{2, 2}) && k.MatrixBytes != 16*8+4*4+3*4 { // Figure 11: 16 values, 4 columns, 3 starts
			t.Errorf("2×2: %d bytes", k.MatrixBytes)
		}
	}
	for _, c := range []struct {
		opt  KernelOptions
		want string
	}{{KernelOptions{Threads: -1}, "-1 threads"}, {KernelOptions{Rounds: -2}, "-2"}} {
		if _, err := TimeKernels(context.Background(), m, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v", c.opt, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := TimeKernels(ctx, m, opt); err == nil {
		t.Error("a cancelled timing goes on")
	}
	if _, err := TimeDenseKernels(context.Background(), 100, opt); err == nil || !strings.Contains(err.Error(), "multiple of 840") {
		t.Errorf("a dense matrix that blocks do not divide: error %v", err)
	}
	if got := ReadSpeed(1<<16, 2); !(got > 0) {
		t.Errorf("memory is read at %g bytes a second", got)
	}
}

// TestPlainCheckSeesAWrongRow changes one row of a right result.
func TestPlainCheckSeesAWrongRow(t *testing.T) {
	b, err := Block(figure11(t), Shape{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	p := newPlain(b)
	y := slices.Clone(p.y)
	if err := p.check(y); err != nil {
		t.Error(err)
	}
	y[2] *= 1 + 1e-9
	if err := p.check(y); err == nil || !strings.Contains(err.Error(), "row 2") {
		t.Errorf("a wrong row: error %v", err)
	}
}

func TestMultiplierErrors(t *testing.T) {
	b, err := Block(figure11(t), Shape{2, 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Multiplier(Kernel{Threads: -1}); err == nil || !strings.Contains(err.Error(), "-1 threads") {
		t.Errorf("threads: error %v", err)
	}
	m, err := b.Multiplier(Kernel{Vector: true})
	if simd.Available() != (err == nil) {
		t.Errorf("vectors are there: %v, error %v", simd.Available(), err)
	}
	if err == nil {
		m.Close()
	}
	for k, want := range map[Kernel]string{{}: "scalar", {Threads: 1}: "scalar", {Vector: true, Threads: 3}: "vector, 3 threads"} {
		if got := k.String(); got != want {
			t.Errorf("%+v is %q", k, got)
		}
	}
}
