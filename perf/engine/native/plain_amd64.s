//go:build linux

#include "go_asm.h"
#include "textflag.h"

// EXPAND writes the access of reference h, whose to off(R11).
//
//	AX+h  the reference   SI  the record   R10 the table of chunks   DX, BX lost
#define EXPAND(h, off) \
	MOVL (hotBlock_few+h*hotRef__size+hotRef_slot)(AX), DX; \
	MOVQ (SI)(DX*8), DX; \
	ADDQ (hotBlock_few+h*hotRef__size+hotRef_delta)(AX), DX; \
	MOVQ DX, BX; \
	SHRQ $(const_chunkBits-4), BX; \
	ANDL $((const_chunks-1)*16), BX; \
	ADDQ (R10)(BX*1), DX; \
	ANDQ R9, DX; \
	ORQ  (hotBlock_few+h*hotRef__size+hotRef_tag)(AX), DX; \
	MOVQ DX, off(R11)

// func runExpansion(e *expansion)
TEXT ·runExpansion(SB), NOSPLIT, $0-8
	MOVQ e+0(FP), R14
	MOVQ expansion_record(R14), SI
	MOVQ expansion_hot(R14), R8
	MOVQ $const_addrMask, R9
	MOVQ expansion_chunks(R14), R10
	MOVQ expansion_access(R14), R11
	MOVQ expansion_limit(R14), R12
	MOVQ expansion_block(R14), R13
	MOVQ expansion_count(R14), R15

record:
	CMPQ SI, expansion_end(R14)
	JAE  done
	PREFETCHT0 512(SI) // the next lines come from the processor that wrote them
	MOVL (SI), AX
	MOVL AX, DI
	SHRL $const_idBits, DI // the span
	ANDL $((1<<const_idBits)-1), AX
	CMPQ AX, expansion_known(R14)
	JAE  done
	IMULQ $hotBlock__size, AX
	ADDQ R8, AX
	MOVL hotBlock_all(AX), CX
	LEAQ (R11)(CX*8), BX
	CMPQ BX, R12
	JA   done
	CMPQ R13, expansion_most(R14)
	JAE  done

	MOVL hotBlock_opens(AX), DX
	MOVQ expansion_counts(R14), BX
	CMPL hotBlock_continues(AX), $0
	JNE  continues

blocks:
	MOVOU hotBlock_ids(AX), X0
	MOVOU hotBlock_counts(AX), X1
	MOVOU X0, (R13)
	MOVOU X1, (R13)(BX*1)
	ADDQ DX, R13
	MOVL hotBlock_mark(AX), BX
	ADDQ R11, BX
	MOVQ BX, expansion_mark(R14)
	MOVL hotBlock_begun(AX), BX
	ADDQ R15, BX
	MOVQ BX, expansion_begun(R14)

expand:
	MOVQ AX, expansion_before(R14)
	EXPAND(0, 0)
	EXPAND(1, 8)
	CMPL CX, $2
	JA   third

next:
	MOVL hotBlock_instructions(AX), BX
	ADDQ BX, R15
	LEAQ (R11)(CX*8), R11
	LEAQ (SI)(DI*8), SI
	JMP  record

third:
	EXPAND(2, 16)
	EXPAND(3, 24)
	CMPL CX, $const_fewRefs
	JBE  next
	JMP  many

continues: // the planned block before it: if it follows that in memory
	MOVQ expansion_before(R14), BX
	TESTQ BX, BX
	JZ   done
	MOVL hotBlock_from(AX), DX
	CMPL DX, hotBlock_within(BX)
	JNE  done
	MOVQ hotBlock_pc(AX), DX
	CMPQ DX, hotBlock_end(BX)
	JNE  done
	MOVQ expansion_counts(R14), BX
	MOVL hotBlock_first(AX), DX
	ADDL DX, -4(R13)(BX*1)
	MOVL hotBlock_opens(AX), DX
	TESTL DX, DX
	JZ   expand
	JMP  blocks

many: // references behind the first
	MOVQ R13, expansion_block(R14)
	MOVQ hotBlock_more(AX), R13
	LEAQ (R11)(CX*8), CX
	ADDQ $(8*const_fewRefs), R11

one:
	MOVL hotRef_slot(R13), DX
	MOVQ (SI)(DX*8), DX
	ADDQ hotRef_delta(R13), DX
	MOVQ DX, BX
	SHRQ $(const_chunkBits-4), BX
	ANDL $((const_chunks-1)*16), BX
	ADDQ (R10)(BX*1), DX
	ANDQ R9, DX
	ORQ  hotRef_tag(R13), DX
	MOVQ DX, (R11)
	ADDQ $hotRef__size, R13
	ADDQ $8, R11
	CMPQ R11, CX
	JB   one
	MOVQ expansion_block(R14), R13
	XORL CX, CX
	JMP  next

done:
	MOVQ SI, expansion_record(R14)
	MOVQ R11, expansion_access(R14)
	MOVQ R13, expansion_block(R14)
	MOVQ R15, expansion_count(R14)
	RET

// func askProcessor(leaf, sub uint32, r *[4]uint32)
TEXT ·askProcessor(SB), NOSPLIT, $0-16
	MOVL leaf+0(FP), AX
	MOVL sub+4(FP), CX
	MOVQ r+8(FP), DI
	CPUID
	MOVL AX, 0(DI)
	MOVL BX, 4(DI)
	MOVL CX, 8(DI)
	MOVL DX, 12(DI)
	RET
