#include "textflag.h"

// func stayVector(accesses []trace.Access, base, bytes uint64, stayed []uint64) int
//
// An access ends in the block if its offset from base, in which bits beyond the block
// count, and its size come to at most the size of the block.
TEXT ·stayVector(SB), NOSPLIT, $0-72
	MOVQ accesses_base+0(FP), SI
	MOVQ accesses_len+8(FP), CX
	MOVQ stayed_base+40(FP), DI
	MOVQ stayed_len+48(FP), R11
	LEAQ (SI)(CX*8), R8 // the end
	LEAQ -32(R8), R9    // the last place of four
	MOVQ SI, R10
	VPBROADCASTQ base+24(FP), Y4
	VPBROADCASTQ bytes+32(FP), Y5
	VPBROADCASTQ stayed_len+48(FP), Y9
	VPCMPEQQ Y6, Y6, Y6
	VPSRLQ $63, Y6, Y7 // 1
	VPSUBQ Y7, Y9, Y9  // the last reference
	VPSRLQ $61, Y6, Y8 // the bits of a size
	VPSRLQ $24, Y6, Y6 // the bits of an address

four:
	CMPQ SI, R9
	JA   rest
	VMOVDQU (SI), Y0
	VPXOR Y4, Y0, Y1
	VPAND Y6, Y1, Y1
	VPSRLQ $40, Y0, Y2
	VPAND Y8, Y2, Y2
	VPSLLVQ Y2, Y7, Y2
	VPADDQ Y2, Y1, Y1
	VPCMPGTQ Y5, Y1, Y1
	VPSRLQ $43, Y0, Y0
	VPCMPGTQ Y9, Y0, Y0
	VPOR Y0, Y1, Y1
	VMOVMSKPD Y1, AX
	TESTL AX, AX
	JNZ  some
	MOVL 4(SI), AX
	MOVL 12(SI), BX
	MOVL 20(SI), CX
	MOVL 28(SI), DX
	SHRL $11, AX // references
	SHRL $11, BX
	SHRL $11, CX
	SHRL $11, DX
	INCQ (DI)(AX*8)
	INCQ (DI)(BX*8)
	INCQ (DI)(CX*8)
	INCQ (DI)(DX*8)
	ADDQ $32, SI
	JMP  four

some: // of four
	BSFL AX, AX
	LEAQ (SI)(AX*8), R8

each:
	CMPQ SI, R8
	JAE  done
	MOVL 4(SI), AX
	SHRL $11, AX
	INCQ (DI)(AX*8)
	ADDQ $8, SI
	JMP  each

rest: // fewer than four
	CMPQ SI, R8
	JAE  done
	MOVQ (SI), AX
	MOVQ AX, CX
	SHRQ $40, CX
	ANDL $7, CX
	MOVL $1, BX
	SHLQ CX, BX
	MOVQ AX, DX
	XORQ base+24(FP), DX
	SHLQ $24, DX
	SHRQ $24, DX
	ADDQ BX, DX
	CMPQ DX, bytes+32(FP)
	JA   done
	SHRQ $43, AX
	CMPQ AX, R11
	JAE  done
	INCQ (DI)(AX*8)
	ADDQ $8, SI
	JMP  rest

done:
	SUBQ R10, SI
	SHRQ $3, SI
	MOVQ SI, ret+64(FP)
	VZEROUPPER
	RET
