#include "textflag.h"

// func callCode(code, target uintptr, regs unsafe.Pointer, mxcsr *uint32)
//
// Generated code preserves RSP and returns with RET; it may change every other
// register. It starts with the default MXCSR and no exception flags.
TEXT ·callCode(SB), NOSPLIT, $32-32
	MOVQ code+0(FP), CX
	MOVQ target+8(FP), AX
	MOVQ regs+16(FP), DI
	MOVQ R14, r14-8(SP)
	MOVQ BP, bp-24(SP)
	STMXCSR oldcsr-16(SP)
	MOVL $0x1f80, newcsr-12(SP)
	LDMXCSR newcsr-12(SP)
	CALL CX
	MOVQ mxcsr+24(FP), CX
	STMXCSR (CX)
	LDMXCSR oldcsr-16(SP)
	MOVQ bp-24(SP), BP
	MOVQ r14-8(SP), R14
	XORPS X15, X15
	RET
