package native

import (
	"fmt"
	"strings"

	"presage/perf/engine"
)

// The levels of x86-64 processors that programs can be shown, after the System V ABI,
// AMD64 supplement, section 3.1.1. What an instruction does is not changed: a program
// that does not ask can use what the processor has.
const (
	cpuV2 = "x86-64-v2"
	cpuV3 = "x86-64-v3"
	cpuV4 = "x86-64-v4"
)

// features is what CPUID says of a processor: leaf 1 in ECX; leaf 7, subleaf 0 in
// EBX, ECX and EDX, subleaf 1 in EAX; leaf 0x80000001 in ECX.
type features struct{ ecx1, ebx7, ecx7, edx7, eax7, ecx81 uint32 }

// Bits above the levels. Features that no level has, such as AES, stay.
var (
	avx512 = features{
		ebx7: 1<<16 | 1<<17 | 1<<21 | 1<<26 | 1<<27 | 1<<28 | 1<<30 | 1<<31, // F, DQ, IFMA, PF, ER, CD, BW, VL
		ecx7: 1<<1 | 1<<6 | 1<<11 | 1<<12 | 1<<14,                           // VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ
		edx7: 1<<2 | 1<<3 | 1<<8 | 1<<22 | 1<<23 | 1<<24 | 1<<25,            // 4VNNIW, 4FMAPS, VP2INTERSECT, AMX-BF16, FP16, AMX-TILE, AMX-INT8
		eax7: 1 << 5,                                                        // BF16
	}
	avx = features{
		ecx1:  1<<12 | 1<<22 | 1<<28 | 1<<29, // FMA, MOVBE, AVX, F16C
		ebx7:  1<<3 | 1<<5 | 1<<8,            // BMI1, AVX2, BMI2
		ecx7:  1<<9 | 1<<10,                  // VAES, VPCLMULQDQ
		eax7:  1<<4 | 1<<23,                  // AVX-VNNI, AVX-IFMA
		ecx81: 1<<5 | 1<<11 | 1<<16,          // LZCNT, XOP, FMA4
	}
)

// hidden returns the features that a program on a processor of a level must not see.
func hidden(level string) features {
	switch level {
	case cpuV3:
		return avx512
	case cpuV2:
		return features{
			ecx1: avx.ecx1, ebx7: avx.ebx7 | avx512.ebx7, ecx7: avx.ecx7 | avx512.ecx7,
			edx7: avx512.edx7, eax7: avx.eax7 | avx512.eax7, ecx81: avx.ecx81,
		}
	}
	return features{}
}

// CPUs implements engine.CPUChooser.
func (Engine) CPUs() []string { return []string{cpuV2, cpuV3, cpuV4} }

// OnCPU implements engine.CPUChooser.
func (e Engine) OnCPU(name string) (engine.Engine, error) {
	for _, known := range e.CPUs() {
		if known == name {
			e.CPU = name
			return e, nil
		}
	}
	return nil, fmt.Errorf("native: processor %q: want %s", name, strings.Join(e.CPUs(), ", "))
}
