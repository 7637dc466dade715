package infer

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Parameter is a dimension of the hardware space.
type Parameter struct {
	Symbol string    // y1 to y13
	Name   string    // a column's name
	Text   string    // what it is
	Values []float64 // possible values, ascending
}

// HardwareSpace returns the parameters of 2012, Table 2, in its order.
//
// y2 stands for the window and what grows with it, y3 for the ways of both
// levels of cache: see Architecture.
func HardwareSpace() []Parameter {
	return []Parameter{
		{"y1", "width_instructions", "instructions fetched, dispatched, begun and retired a cycle", []float64{1, 2, 4, 8}},
		{"y2", "rob_instructions", "reorder buffer, and with it queues and registers", []float64{64, 96, 128, 160, 192, 224}},
		{"y3", "l1_ways", "ways of the first-level caches, and of the second from 2 on", []float64{1, 2, 4, 8}},
		{"y4", "mshrs", "misses under way in each level", []float64{1, 2, 4, 6, 8}},
		{"y5", "dcache_kib", "data cache", []float64{16, 32, 64, 128}},
		{"y6", "icache_kib", "instruction cache", []float64{16, 32, 64, 128}},
		{"y7", "l2_kib", "second-level cache", []float64{256, 512, 1024, 2048, 4096}},
		{"y8", "l2_latency_cycles", "what the second level adds to the first", []float64{6, 8, 10, 12, 14}},
		{"y9", "int_alus", "integer ALUs", []float64{1, 2, 3, 4}},
		{"y10", "int_muls", "integer multipliers and dividers", []float64{1, 2}},
		{"y11", "float_alus", "floating-point ALUs", []float64{1, 2, 3}},
		{"y12", "float_muls", "floating-point multipliers and dividers", []float64{1, 2}},
		{"y13", "ports", "cache ports", []float64{1, 2, 3, 4}},
	}
}

// Architecture is a point of the hardware space: a value for each parameter.
type Architecture []float64

// Details are the sizes that an architecture's parameters stand for.
type Details struct {
	Tied
	Width, Window                     int
	L1Ways, L2Ways, MSHRs             int
	DataKiB, CodeKiB, L2KiB, L2Cycles int
	IntALUs, IntMuls                  int
	FloatALUs, FloatMuls, Ports       int
}

// Details returns the sizes. The rows of Table 2 that share a symbol increase
// together: load/store queue 11 + 5i, registers 86 + 42i, instruction queue 22
// + 10i, reorder buffer 64 + 32i. (With these steps the first two end at 36 and
// 296, not at the 38 and 300 of the table.)
func (a Architecture) Details() (Details, error) {
	space := HardwareSpace()
	if len(a) != len(space) {
		return Details{}, fmt.Errorf("infer: an architecture of %d parameters; there are %d", len(a), len(space))
	}
	for i, p := range space {
		if !slices.Contains(p.Values, a[i]) {
			return Details{}, fmt.Errorf("infer: %s is %g; it takes the values %v", p.Name, a[i], p.Values)
		}
	}
	v := make([]int, len(a))
	for i, x := range a {
		v[i] = int(x)
	}
	return Details{
		Width: v[0], Tied: TiedToWindow(v[1]), Window: v[1],
		L1Ways: v[2], L2Ways: max(2, v[2]), MSHRs: v[3], DataKiB: v[4], CodeKiB: v[5], L2KiB: v[6], L2Cycles: v[7],
		IntALUs: v[8], IntMuls: v[9], FloatALUs: v[10], FloatMuls: v[11], Ports: v[12],
	}, nil
}

// Tied holds the sizes that increase with the window.
type Tied struct {
	LoadStoreQueue, Registers int // entries of each queue, registers of each kind
	InstructionQueue          int
}

// TiedToWindow returns the sizes that belong to a window of Table 2.
func TiedToWindow(window int) Tied {
	step := (window - 64) / 32
	return Tied{LoadStoreQueue: 11 + 5*step, Registers: 86 + 42*step, InstructionQueue: 22 + 10*step}
}

// SampleArchitectures draws n different architectures uniformly at random. It
// panics if there are fewer.
func SampleArchitectures(rng *rand.Rand, n int) []Architecture {
	space := HardwareSpace()
	all := 1
	for _, p := range space {
		all *= len(p.Values)
	}
	if n > all {
		panic(fmt.Sprintf("infer: %d architectures asked for, there are %d", n, all))
	}
	seen := make(map[string]bool)
	var list []Architecture
	for len(list) < n {
		a := make(Architecture, len(space))
		for i, p := range space {
			a[i] = p.Values[rng.IntN(len(p.Values))]
		}
		if key := fmt.Sprint(a); !seen[key] {
			seen[key] = true
			list = append(list, a)
		}
	}
	return list
}
