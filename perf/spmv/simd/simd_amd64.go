package simd

import (
	"unsafe"

	"golang.org/x/sys/cpu"

	"presage/datasets/programs/spmv/kernels"
)

var available = cpu.X86.HasAVX2 && cpu.X86.HasFMA // both imply that the system keeps the registers

func vector(r, c int) kernels.Kernel { return all[(r-1)*kernels.Largest+c-1] }

func readVector(values []float64, columns []int32) {
	load(unsafe.Pointer(unsafe.SliceData(values)), 8*len(values))
	load(unsafe.Pointer(unsafe.SliceData(columns)), 4*len(columns))
}
