package sparse

import (
	"slices"
	"testing"
)

// TestNativeChoice chooses by prediction, on speeds that are made up.
func TestNativeChoice(t *testing.T) {
	native := []NativeRow{
		{Matrix: "m", BlockRows: 1, BlockColumns: 1, Mflops: 100, PredMflops: 100},
		{Matrix: "m", BlockRows: 2, BlockColumns: 1, Mflops: 200, PredMflops: 150},
		{Matrix: "m", BlockRows: 3, BlockColumns: 1, Mflops: 160, PredMflops: 180},
		{Matrix: "n", BlockRows: 1, BlockColumns: 1, Mflops: 50, PredMflops: 50},
		{Matrix: "n", BlockRows: 2, BlockColumns: 2, Mflops: 40, PredMflops: 40},
	}
	want := []NativeBest{
		{"m", "2×1", "3×1", 100, 200, 160, 0.8, 1.6},
		{"n", "1×1", "1×1", 50, 50, 50, 1, 1},
	}
	if got := NativeChoice(native); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
