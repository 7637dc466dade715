#include "serve_amd64.h"

// Registers besides those of serve_amd64.h:
//
//	R13      places, a bit each: where the tag wanted is; then all up to there
//	Z14      the tag wanted, in all lanes
//	Z15      1 in each lane
//	K3       the first lane

#define ENTER \
	BEGIN                 \
	MOVL $1, AX           \
	VPBROADCASTQ AX, Z15  \
	KMOVB AX, K3

// LOAD loads eight tags, and sets the lanes of eq with the one wanted.
#define LOAD(at, t, eq) \
	VMOVDQU64 at(R12), t  \
	VPORQ Z15, t, Z13     \
	VPCMPEQQ Z14, Z13, eq

// MARK makes the tag wanted dirty, if it is one of eight.
#define MARK(at, t, eq) \
	VPORQ Z15, t, eq, t   \
	VMOVDQU64 t, at(R12)

// FIND sets AX to the tag at the first place of R13, and R13 to all places up to there.
#define FIND \
	TZCNTL R13, R14       \
	MOVQ (R12)(R14*8), AX \
	BLSMSKL R13, R13

// func serve8wide(tags *tag, mask, shift uint64, in []transfer, out *transfer) int
TEXT ·serve8wide(SB), NOSPLIT, $0-64
	ENTER
	JMP  more

each:
	MOVQ 8(SI), DX
	TESTB $1, DX
	JNE  write

ask:
	MOVQ (SI), DX
	MOVL DX, BX
	TESTQ DX, DX
	JEQ  next
	ANDL $1, BX
	WANT
	VPBROADCASTQ DX, Z14
	SHLQ $6, R12
	ADDQ R9, R12
	LOAD(0, Z0, K1)
	KMOVB K1, R13
	ORL  $0x80, R13
	FIND
	KMOVB R13, K1
	ASK
	VALIGNQ $7, Z0, Z0, Z2
	VMOVDQA64 Z2, K1, Z0
	VPBROADCASTQ BX, K3, Z0
	VMOVDQU64 Z0, (R12)

next:
	ADDQ $24, SI

more:
	CMPQ SI, R8
	JB   each
	LEAVE

write:
	WANT
	VPBROADCASTQ DX, Z14
	SHLQ $6, R12
	ADDQ R9, R12
	LOAD(0, Z0, K1)
	MARK(0, Z0, K1)
	KMOVB K1, AX
	PASS
	JMP  ask

// func ask8wide(tags *tag, mask uint64, in []transfer, out *transfer) int
//
// R10 is the mask of offsets of sets.
TEXT ·ask8wide(SB), NOSPLIT, $0-56
	MOVQ tags+0(FP), R9
	MOVQ mask+8(FP), R10
	MOVQ in_base+16(FP), SI
	MOVQ in_len+24(FP), R8
	MOVQ out+40(FP), DI
	LEAQ (R8)(R8*2), R8
	LEAQ (SI)(R8*8), R8
	MOVL $1, AX
	VPBROADCASTQ AX, Z15
	KMOVB AX, K3
	SHLQ $6, R10
	JMP  more

ask:
	MOVQ (SI), DX
	MOVL DX, BX
	ANDL $1, BX
	MOVQ DX, R12
	SHLQ $5, R12 // 64 times the block, and 64
	SUBQ $64, R12
	ANDQ R10, R12
	ADDQ R9, R12
	ORQ  $1, DX
	VPBROADCASTQ DX, Z14
	LOAD(0, Z0, K1)
	KMOVB K1, R13
	ORL  $0x80, R13
	FIND
	KMOVB R13, K1
	ASK
	VALIGNQ $7, Z0, Z0, Z2
	VMOVDQA64 Z2, K1, Z0
	VPBROADCASTQ BX, K3, Z0
	VMOVDQU64 Z0, (R12)
	ADDQ $24, SI

more:
	CMPQ SI, R8
	JB   ask
	SUBQ out+40(FP), DI
	MOVQ DI, ret+48(FP)
	VZEROUPPER
	RET

// func serve16wide(tags *tag, mask, shift uint64, in []transfer, out *transfer) int
TEXT ·serve16wide(SB), NOSPLIT, $0-64
	ENTER
	JMP  more

each:
	MOVQ 8(SI), DX
	TESTB $1, DX
	JNE  write

ask:
	MOVQ (SI), DX
	MOVL DX, BX
	TESTQ DX, DX
	JEQ  next
	ANDL $1, BX
	WANT
	VPBROADCASTQ DX, Z14
	SHLQ $7, R12
	ADDQ R9, R12
	LOAD(0, Z0, K1)
	LOAD(64, Z1, K2)
	KMOVB K1, R13
	KMOVB K2, R14
	SHLL $8, R14
	ORL  R14, R13
	ORL  $0x8000, R13
	FIND
	KMOVB R13, K1
	SHRL $8, R13
	KMOVB R13, K2
	ASK
	VALIGNQ $7, Z0, Z0, Z2
	VALIGNQ $7, Z0, Z1, Z3
	VMOVDQA64 Z2, K1, Z0
	VMOVDQA64 Z3, K2, Z1
	VPBROADCASTQ BX, K3, Z0
	VMOVDQU64 Z0, (R12)
	VMOVDQU64 Z1, 64(R12)

next:
	ADDQ $24, SI

more:
	CMPQ SI, R8
	JB   each
	LEAVE

write:
	WANT
	VPBROADCASTQ DX, Z14
	SHLQ $7, R12
	ADDQ R9, R12
	LOAD(0, Z0, K1)
	LOAD(64, Z1, K2)
	MARK(0, Z0, K1)
	MARK(64, Z1, K2)
	KORB K1, K2, K1
	KMOVB K1, AX
	PASS
	JMP  ask
