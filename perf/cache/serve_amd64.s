#include "serve_amd64.h"

// Registers besides those of serve_amd64.h:
//
//	R11      in kept
//	R13      the place of the tag found or that of the victim, negative
//	Y14      the tag wanted, in all lanes
//	Y15      1 in each lane

#define ENTER \
	BEGIN                    \
	LEAQ kept<>+120(SB), R11 \
	VPCMPEQQ Y15, Y15, Y15   \
	VPSRLQ $63, Y15, Y15

#define SPREAD \
	VMOVQ DX, X14            \
	VPBROADCASTQ X14, Y14

// LOAD loads four tags, and sets the lanes of eq with the one wanted.
#define LOAD(at, t, eq) \
	VMOVDQU at(R12), t       \
	VPOR Y15, t, eq          \
	VPCMPEQQ Y14, eq, eq

// MARK makes the tag wanted dirty, if it is one of four.
#define MARK(at, t, eq) \
	VPAND Y15, eq, Y13       \
	VPOR Y13, t, t           \
	VMOVDQU t, at(R12)

// BACK moves four tags back by one, the last of them to the first place.
#define BACK(t, moved) \
	VPERMQ $0x93, t, moved

// KEEP stores four tags, those up to the place of R13 from moved, the first from front, the
// others from t.
#define KEEP(at, t, moved, front) \
	VMOVDQU at(R11)(R13*8), Y13       \
	VPBLENDD $3, front, moved, Y12    \
	VPBLENDVB Y13, t, Y12, Y12        \
	VMOVDQU Y12, at(R12)

// func serve2(tags *tag, mask, shift uint64, in []transfer, out *transfer) int
TEXT ·serve2(SB), NOSPLIT, $0-64
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
	SHLQ $4, R12
	ADDQ R9, R12
	MOVQ (R12), R13
	MOVQ 8(R12), AX
	MOVQ AX, R14
	MOVQ R13, R11
	ORQ  $1, R11
	CMPQ R11, DX
	CMOVQEQ R13, AX
	CMOVQEQ R14, R13
	MOVQ R13, 8(R12) // the other one
	ASK
	MOVQ BX, (R12)

next:
	ADDQ $24, SI

more:
	CMPQ SI, R8
	JB   each
	LEAVE

write:
	WANT
	SHLQ $4, R12
	ADDQ R9, R12
	XORL AX, AX
	XORL BX, BX
	MOVQ (R12), R13
	MOVQ 8(R12), R14
	MOVQ R13, R11
	ORQ  $1, R11
	CMPQ R11, DX
	SETEQ AX
	MOVQ R14, R11
	ORQ  $1, R11
	CMPQ R11, DX
	SETEQ BX
	ORQ  AX, R13
	ORQ  BX, R14
	MOVQ R13, (R12)
	MOVQ R14, 8(R12)
	ORL  BX, AX
	PASS
	JMP  ask

// func serve4(tags *tag, mask, shift uint64, in []transfer, out *transfer) int
TEXT ·serve4(SB), NOSPLIT, $0-64
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
	SPREAD
	SHLQ $5, R12
	ADDQ R9, R12
	LOAD(0, Y0, Y4)
	VMOVMSKPD Y4, R13
	ORL  $0x8, R13
	TZCNTL R13, R13
	MOVQ (R12)(R13*8), AX
	NEGQ R13
	ASK
	VMOVQ BX, X8
	BACK(Y0, Y4)
	KEEP(0, Y0, Y4, Y8)

next:
	ADDQ $24, SI

more:
	CMPQ SI, R8
	JB   each
	LEAVE

write:
	WANT
	SPREAD
	SHLQ $5, R12
	ADDQ R9, R12
	LOAD(0, Y0, Y4)
	MARK(0, Y0, Y4)
	VMOVMSKPD Y4, AX
	PASS
	JMP  ask

// func serve8(tags *tag, mask, shift uint64, in []transfer, out *transfer) int
TEXT ·serve8(SB), NOSPLIT, $0-64
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
	SPREAD
	SHLQ $6, R12
	ADDQ R9, R12
	LOAD(0, Y0, Y4)
	LOAD(32, Y1, Y5)
	VMOVMSKPD Y4, R13
	VMOVMSKPD Y5, R14
	SHLL $4, R14
	ORL  R14, R13
	ORL  $0x80, R13
	TZCNTL R13, R13
	MOVQ (R12)(R13*8), AX
	NEGQ R13
	ASK
	VMOVQ BX, X8
	BACK(Y0, Y4)
	BACK(Y1, Y5)
	KEEP(0, Y0, Y4, Y8)
	KEEP(32, Y1, Y5, Y4)

next:
	ADDQ $24, SI

more:
	CMPQ SI, R8
	JB   each
	LEAVE

write:
	WANT
	SPREAD
	SHLQ $6, R12
	ADDQ R9, R12
	LOAD(0, Y0, Y4)
	LOAD(32, Y1, Y5)
	MARK(0, Y0, Y4)
	MARK(32, Y1, Y5)
	VPOR Y5, Y4, Y4
	VMOVMSKPD Y4, AX
	PASS
	JMP  ask

// func serve12(tags *tag, mask, shift uint64, in []transfer, out *transfer) int
TEXT ·serve12(SB), NOSPLIT, $0-64
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
	SPREAD
	LEAQ (R12)(R12*2), R12
	SHLQ $5, R12
	ADDQ R9, R12
	LOAD(0, Y0, Y4)
	LOAD(32, Y1, Y5)
	LOAD(64, Y2, Y6)
	VMOVMSKPD Y4, R13
	VMOVMSKPD Y5, R14
	SHLL $4, R14
	ORL  R14, R13
	VMOVMSKPD Y6, R14
	SHLL $8, R14
	ORL  R14, R13
	ORL  $0x800, R13
	TZCNTL R13, R13
	MOVQ (R12)(R13*8), AX
	NEGQ R13
	ASK
	VMOVQ BX, X8
	BACK(Y0, Y4)
	BACK(Y1, Y5)
	BACK(Y2, Y6)
	KEEP(0, Y0, Y4, Y8)
	KEEP(32, Y1, Y5, Y4)
	KEEP(64, Y2, Y6, Y5)

next:
	ADDQ $24, SI

more:
	CMPQ SI, R8
	JB   each
	LEAVE

write:
	WANT
	SPREAD
	LEAQ (R12)(R12*2), R12
	SHLQ $5, R12
	ADDQ R9, R12
	LOAD(0, Y0, Y4)
	LOAD(32, Y1, Y5)
	LOAD(64, Y2, Y6)
	MARK(0, Y0, Y4)
	MARK(32, Y1, Y5)
	MARK(64, Y2, Y6)
	VPOR Y5, Y4, Y4
	VPOR Y6, Y4, Y4
	VMOVMSKPD Y4, AX
	PASS
	JMP  ask

// func serve16(tags *tag, mask, shift uint64, in []transfer, out *transfer) int
TEXT ·serve16(SB), NOSPLIT, $0-64
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
	SPREAD
	SHLQ $7, R12
	ADDQ R9, R12
	LOAD(0, Y0, Y4)
	LOAD(32, Y1, Y5)
	LOAD(64, Y2, Y6)
	LOAD(96, Y3, Y7)
	VMOVMSKPD Y4, R13
	VMOVMSKPD Y5, R14
	SHLL $4, R14
	ORL  R14, R13
	VMOVMSKPD Y6, R14
	SHLL $8, R14
	ORL  R14, R13
	VMOVMSKPD Y7, R14
	SHLL $12, R14
	ORL  R14, R13
	ORL  $0x8000, R13
	TZCNTL R13, R13
	MOVQ (R12)(R13*8), AX
	NEGQ R13
	ASK
	VMOVQ BX, X8
	BACK(Y0, Y4)
	BACK(Y1, Y5)
	BACK(Y2, Y6)
	BACK(Y3, Y7)
	KEEP(0, Y0, Y4, Y8)
	KEEP(32, Y1, Y5, Y4)
	KEEP(64, Y2, Y6, Y5)
	KEEP(96, Y3, Y7, Y6)

next:
	ADDQ $24, SI

more:
	CMPQ SI, R8
	JB   each
	LEAVE

write:
	WANT
	SPREAD
	SHLQ $7, R12
	ADDQ R9, R12
	LOAD(0, Y0, Y4)
	LOAD(32, Y1, Y5)
	LOAD(64, Y2, Y6)
	LOAD(96, Y3, Y7)
	MARK(0, Y0, Y4)
	MARK(32, Y1, Y5)
	MARK(64, Y2, Y6)
	MARK(96, Y3, Y7)
	VPOR Y5, Y4, Y4
	VPOR Y6, Y4, Y4
	VPOR Y7, Y4, Y4
	VMOVMSKPD Y4, AX
	PASS
	JMP  ask

// kept has lanes of 0, then as many of all ones: 4 of them, from 8 times the place of a tag
// before the last 0, choose those behind it.
DATA kept<>+128(SB)/8, $-1
DATA kept<>+136(SB)/8, $-1
DATA kept<>+144(SB)/8, $-1
DATA kept<>+152(SB)/8, $-1
DATA kept<>+160(SB)/8, $-1
DATA kept<>+168(SB)/8, $-1
DATA kept<>+176(SB)/8, $-1
DATA kept<>+184(SB)/8, $-1
DATA kept<>+192(SB)/8, $-1
DATA kept<>+200(SB)/8, $-1
DATA kept<>+208(SB)/8, $-1
DATA kept<>+216(SB)/8, $-1
DATA kept<>+224(SB)/8, $-1
DATA kept<>+232(SB)/8, $-1
DATA kept<>+240(SB)/8, $-1
DATA kept<>+248(SB)/8, $-1
GLOBL kept<>(SB), RODATA|NOPTR, $256
