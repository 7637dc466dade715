#include "textflag.h"

// func shiftFours(set *tag, fours int, want, first tag) (last tag)
//
//	SI, CX   the four tags at hand, and how many times four are left
//	Y14      want in each lane
//	Y15      1 in each lane
//	Y3       the first lane has the tag before those at hand
TEXT ·shiftFours(SB), NOSPLIT, $0-40
	MOVQ set+0(FP), SI
	MOVQ fours+8(FP), CX
	VPBROADCASTQ want+16(FP), Y14
	VMOVQ first+24(FP), X3
	VPCMPEQQ Y15, Y15, Y15
	VPSRLQ $63, Y15, Y15
	VPOR Y15, Y14, Y14

four:
	VMOVDQU (SI), Y0
	VPOR Y15, Y0, Y1
	VPCMPEQQ Y14, Y1, Y1
	VMOVMSKPD Y1, AX
	VPERMQ $0x93, Y0, Y2
	VPBLENDD $3, Y3, Y2, Y4
	TESTL AX, AX
	JNE  found
	VMOVDQU Y4, (SI)
	VMOVDQA Y2, Y3
	ADDQ $32, SI
	DECQ CX
	JNE  four
	VMOVQ X3, AX
	MOVQ AX, last+32(FP)
	VZEROUPPER
	RET

found: // the tags behind it stay
	TZCNTL AX, AX
	MOVQ (SI)(AX*8), DX
	NEGQ AX
	LEAQ behind<>+24(SB), BX
	VMOVDQU (BX)(AX*8), Y1
	VPBLENDVB Y1, Y0, Y4, Y4
	VMOVDQU Y4, (SI)
	MOVQ DX, last+32(FP)
	VZEROUPPER
	RET

// behind has four lanes of 0, then four of all ones.
DATA behind<>+32(SB)/8, $-1
DATA behind<>+40(SB)/8, $-1
DATA behind<>+48(SB)/8, $-1
DATA behind<>+56(SB)/8, $-1
GLOBL behind<>(SB), RODATA|NOPTR, $64
