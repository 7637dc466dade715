// Package npb is given a benchmark's name and class, and says what the NAS
// Parallel Benchmarks run there and what they must get: mesh, steps, time step,
// reference values, and the exact solution that BT, SP and LU are built around.
//
// The problems are those that NAS defined in "The NAS Parallel Benchmarks",
// RNR-94-007; classes and values are the ones in the sources of NPB 3.3.1.
package npb

import (
	"fmt"
	"math"
)

// Tolerance is the relative error that BT, SP and LU allow in a verified value.
const Tolerance = 1e-8

// A Class is a size of a benchmark. N is in the units of the benchmark: mesh
// points along an edge (BT, SP, LU, MG), rows of the matrix (CG), log2 of the
// pairs (EP), log2 of the keys (IS). Steps are time steps or iterations, 0 for
// EP. Dt is the time step of BT, SP and LU, 0 for others.
type Class struct {
	Name  string
	N     int
	Steps int
	Dt    float64
}

type quantity struct {
	name   string
	values []float64
}

type entry struct {
	benchmark  string
	class      Class
	quantities []quantity
}

// Classes returns the classes of a benchmark ("BT", "CG"...), the smallest first.
func Classes(benchmark string) []Class {
	var c []Class
	for i := range table {
		if table[i].benchmark == benchmark {
			c = append(c, table[i].class)
		}
	}
	return c
}

// Find returns a class of a benchmark by its name ("S", "W", "A"...).
func Find(benchmark, class string) (Class, bool) {
	for i := range table {
		if table[i].benchmark == benchmark && table[i].class.Name == class {
			return table[i].class, true
		}
	}
	return Class{}, false
}

// Reference returns the values of a quantity that NAS verifies, in the order of
// components, or nil if there are none. Quantities are "residual_rms_norm" and
// "error_rms_norm" (BT, SP, LU), "surface_integral" (LU), "zeta" (CG),
// "residual_l2_norm" (MG), "sum_x" and "sum_y" (EP), "test_index" and
// "test_rank" (IS). The caller must not change them.
func Reference(benchmark, class, quantity string) []float64 {
	for i := range table {
		if table[i].benchmark != benchmark || table[i].class.Name != class {
			continue
		}
		for _, q := range table[i].quantities {
			if q.name == quantity {
				return q.values
			}
		}
	}
	return nil
}

// Compare reports the first component in which got is further from want than
// tolerance allows, relative to want: |got - want| <= tolerance |want|. NaN is
// never near enough. what names the values in the error.
func Compare(what string, got, want []float64, tolerance float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s has %d components, the reference %d", what, len(got), len(want))
	}
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= tolerance*math.Abs(w)) {
			return fmt.Errorf("%s, component %d: %.13e, want %.13e to a relative %g", what, i+1, got[i], w, tolerance)
		}
	}
	return nil
}
