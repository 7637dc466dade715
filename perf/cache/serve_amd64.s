#include "textflag.h"

// Registers of all functions:
//
//	SI, R8   the transfer at hand, and the end of in
//	DI       where the next transfer of out goes
//	R9, R10  tags, and the mask of sets
//	CX       by how much blocks are shifted
//	R11      in kept
//	R12      the set at hand
//	DX       the tag wanted, as if dirty; in all lanes of Y14
//	BX       the mark of the transfer
//	AX       the tag found or else that of the victim
//	R13      its place, negative
//	Y15      1 in each lane

#define ENTER \
	MOVQ tags+0(FP), R9      \
	MOVQ mask+8(FP), R10     \
	MOVQ shift+16(FP), CX    \
	MOVQ in_base+24(FP), SI  \
	MOVQ in_len+32(FP), R8   \
	MOVQ out+48(FP), DI      \
	LEAQ (R8)(R8*2), R8      \
	LEAQ (SI)(R8*8), R8      \
	LEAQ kept<>+120(SB), R11 \
	VPCMPEQQ Y15, Y15, Y15   \
	VPSRLQ $63, Y15, Y15

#define LEAVE \
	SUBQ out+48(FP), DI      \
	MOVQ DI, ret+56(FP)      \
	VZEROUPPER               \
	RET

// WANT turns the tag in DX of a block above into the one wanted, and sets R12 to the number
// of its set.
#define WANT \
	SHRQ $1, DX              \
	DECQ DX                  \
	SHRXQ CX, DX, DX         \
	MOVQ DX, R12             \
	ANDQ R10, R12            \
	LEAQ 3(DX)(DX*1), DX

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

// ASK appends to out what a miss asks for, if the tag in AX is not the one wanted, and
// turns BX into the new first tag. The two tags differ by 1 at most if both are of one block.
#define ASK \
	LEAQ -1(DX), R14         \
	MOVQ R14, (DI)           \
	MOVQ AX, 8(DI)           \
	XORQ AX, DX              \
	CMPQ DX, $2              \
	MOVQ 16(SI), DX          \
	MOVQ DX, 16(DI)          \
	CMOVQCS AX, R14          \
	LEAQ 24(DI), DX          \
	CMOVQCC DX, DI           \
	ORQ  R14, BX

// PASS appends a write to out, unless AX tells that the set has its block.
#define PASS \
	MOVQ $0, (DI)            \
	MOVQ DX, 8(DI)           \
	MOVQ 16(SI), R14         \
	MOVQ R14, 16(DI)         \
	LEAQ 24(DI), R14         \
	TESTL AX, AX             \
	CMOVQEQ R14, DI

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
