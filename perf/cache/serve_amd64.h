#include "textflag.h"

// What serve_amd64.s and serve512_amd64.s have in common. Registers of all functions:
//
//	SI, R8   the transfer at hand, and the end of in
//	DI       where the next transfer of out goes
//	R9, R10  tags, and the mask of sets
//	CX       by how much blocks are shifted
//	R12      the set at hand
//	DX       the tag wanted, as if dirty
//	BX       the mark of the transfer
//	AX       the tag found or else that of the victim

#define BEGIN \
	MOVQ tags+0(FP), R9      \
	MOVQ mask+8(FP), R10     \
	MOVQ shift+16(FP), CX    \
	MOVQ in_base+24(FP), SI  \
	MOVQ in_len+32(FP), R8   \
	MOVQ out+48(FP), DI      \
	LEAQ (R8)(R8*2), R8      \
	LEAQ (SI)(R8*8), R8

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
