#include "textflag.h"

// func readVectors(data []byte)
TEXT ·readVectors(SB), NOSPLIT, $0-24
	MOVQ data_base+0(FP), SI
	MOVQ data_len+8(FP), CX
	SHRQ $6, CX
	JZ   done
loop:
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1
	ADDQ $64, SI
	DECQ CX
	JNZ  loop
	VZEROUPPER
done:
	RET
