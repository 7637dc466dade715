package sparse

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"presage/perf/spmv"
)

// TestKernelRow sums up made-up times: 10 entries, and 20 flops in 1 to 5 ms.
func TestKernelRow(t *testing.T) {
	scalar := &spmv.KernelTime{Seconds: []float64{2e-3, 8e-3, 3e-3, 4e-3, 20e-3}, WallSeconds: []float64{6e-3, 8e-3, 30e-3, 6e-3, 9e-3}}
	fast := &spmv.KernelTime{
		Shape: spmv.Shape{R: 2, C: 3}, Kernel: spmv.Kernel{Vector: true, Threads: 2}, MatrixBytes: 6000,
		Seconds: []float64{1e-3, 2e-3, 3e-3, 4e-3, 5e-3}, WallSeconds: []float64{2e-3, 4e-3, 6e-3, 8e-3, 10e-3}, ReadSeconds: []float64{1e-3, 2e-3, 1e-3, 7e-3, 2e-3},
	}
	want := KernelRow{
		BlockRows: 2, BlockColumns: 3, Kernel: "vector", Threads: 2,
		Mflops: 20 / 3e-3 / 1e6, Low: 20 / 4e-3 / 1e6, High: 20 / 2e-3 / 1e6,
		Wall: 20 / 6e-3 / 1e6, WallLow: 20 / 8e-3 / 1e6, WallHigh: 20 / 4e-3 / 1e6,
		Times:       2, // of 2, 4, 1, 1 and 4
		WallTimes:   2, // of 3, 2, 5, 0.75 and 0.9
		MatrixBytes: 6000, Speed: 6000 / 3e-3 / 1e9, ReadSpeed: 6000 / 2e-3 / 1e9, Bound: 20 / 2e-3 / 1e6,
	}
	if got := kernelRow(fast, scalar, 10); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestProfileInterpolates asks for speeds between dense matrices of 100, 1000 and 8000
// bytes, and beyond.
func TestProfileInterpolates(t *testing.T) {
	p := profile{
		{mflops: []float64{0, 80}, bytes: []float64{1, 100}},
		{mflops: []float64{0, 60}, bytes: []float64{2, 1000}},
		{mflops: []float64{0, 30}, bytes: []float64{3, 8000}},
	}
	for bytes, want := range map[float64]float64{1: 80, 100: 80, 316.227766: 70, 1000: 60, 2000: 50, 4000: 40, 8000: 30, 1e9: 30} {
		if got := p.mflops(1, bytes); math.Abs(got-want) > 1e-6 {
			t.Errorf("%g bytes: %g, want %g", bytes, got, want)
		}
	}
}

// TestKernelChoice chooses on speeds that are made up.
func TestKernelChoice(t *testing.T) {
	fill := map[int]float64{1: 1, 2: 1.3, 4: 1.45} // 12, 11.7 and 11.96 bytes an entry
	row := func(kernel string, r, c int, mflops, predicted float64) KernelRow {
		return KernelRow{Matrix: "m", Kernel: kernel, Threads: 1, BlockRows: r, BlockColumns: c, Estimate: fill[r], Mflops: mflops, PredMflops: predicted, PredOne: 1 / predicted}
	}
	rows := []KernelRow{
		row("scalar", 1, 1, 100, 100), row("vector", 1, 1, 150, 100),
		row("scalar", 2, 2, 200, 150), row("vector", 2, 2, 300, 400),
		row("scalar", 4, 4, 160, 180), row("vector", 4, 4, 600, 300),
	}
	got, err := KernelChoice(rows, map[string]string{"m": "4×4"})
	want := []KernelBest{
		{"m", "scalar", 1, 100, "2×2", 200, 2, "4×4", 0.8, 1.6, "1×1", 0.5, 1, "2×2", 1, 2, "4×4", 0.8, 1.6},
		{"m", "vector", 1, 150, "4×4", 600, 4, "2×2", 0.5, 2, "1×1", 0.25, 1, "2×2", 0.5, 2, "4×4", 1, 4},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, error %v, want %+v", got, err, want)
	}
	if _, err := KernelChoice(rows, map[string]string{"m": "3×3"}); err == nil || !strings.Contains(err.Error(), `"3×3"`) {
		t.Errorf("a block size that there is not: error %v", err)
	}
	if got, err := KernelChoice(rows, nil); err != nil || got[0].Chosen != "1×1" || got[0].ChoiceGain != 1 {
		t.Errorf("without a choice: %+v, error %v", got, err)
	}
}

// TestNativeKernels times a small matrix on this machine.
func TestNativeKernels(t *testing.T) {
	var entries []spmv.Entry
	for i := range 60 {
		entries = append(entries, spmv.Entry{Row: i, Col: i, Value: 1}, spmv.Entry{Row: i, Col: i / 2, Value: 2})
	}
	m, err := spmv.NewMatrix(60, 60, entries)
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Share: 1, Kernels: spmv.KernelOptions{Threads: 1, Passes: 1, Rounds: 1, Least: time.Nanosecond}}
	rows, err := NativeKernels(context.Background(), []*spmv.Matrix{m}, opt)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(spmv.Shapes())*len(spmv.Kernels(1)) {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		if r.Kernel == "scalar" && r.Times != 1 {
			t.Errorf("%d×%d: the scalar kernel is %g times as fast as itself", r.BlockRows, r.BlockColumns, r.Times)
		}
		for _, v := range []float64{r.Mflops, r.PredMflops, r.PredOne, r.Bound, r.MemorySpeed} {
			if !(v > 0) || math.IsInf(v, 0) {
				t.Errorf("%+v", r)
			}
		}
		// The first pair of rows has one block of 2×2, each of 29 others two.
		if r.BlockRows == 2 && r.BlockColumns == 2 && r.FillRatio != 59.*4/119 {
			t.Errorf("2×2: fill ratio %g", r.FillRatio)
		}
	}
}
