//go:build !amd64

package simd

import "presage/datasets/programs/spmv/kernels"

const available = false

func vector(r, c int) kernels.Kernel { panic("simd: there are no vectors") }

func readVector([]float64, []int32) { panic("simd: there are no vectors") }
