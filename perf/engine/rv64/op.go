package rv64

// code identifies an internal operation, executed by one dispatch of the
// interpreter.
type code uint8

// The operations. Loads and stores are followed by their traced variants in
// the same order: code + tracedLoad or tracedStore.
const (
	opConst code = iota // rd = 64-bit constant
	opMv
	opAddi
	opSlti
	opSltiu
	opXori
	opOri
	opAndi
	opSlli
	opSrli
	opSrai
	opAdd
	opSub
	opSll
	opSlt
	opSltu
	opXor
	opSrl
	opSra
	opOr
	opAnd
	opAddiw
	opSlliw
	opSrliw
	opSraiw
	opAddw
	opSubw
	opSllw
	opSrlw
	opSraw

	opMul
	opMulh
	opMulhsu
	opMulhu
	opDiv
	opDivu
	opRem
	opRemu
	opMulw
	opDivw
	opDivuw
	opRemw
	opRemuw

	opAddUw
	opSh1add
	opSh2add
	opSh3add
	opSh1addUw
	opSh2addUw
	opSh3addUw
	opSlliUw
	opAndn
	opOrn
	opXnor
	opClz
	opCtz
	opCpop
	opClzw
	opCtzw
	opCpopw
	opMax
	opMaxu
	opMin
	opMinu
	opSextB
	opSextH
	opZextH
	opRol
	opRolw
	opRor
	opRori
	opRoriw
	opRorw
	opOrcB
	opRev8
	opBclr
	opBclri
	opBext
	opBexti
	opBinv
	opBinvi
	opBset
	opBseti
	opCzeroEqz
	opCzeroNez
	opClmul
	opClmulh
	opClmulr

	opLb
	opLh
	opLw
	opLd
	opLbu
	opLhu
	opLwu
	opFlw
	opLbT
	opLhT
	opLwT
	opLdT
	opLbuT
	opLhuT
	opLwuT
	opFlwT
	opSb
	opSh
	opSw
	opSd
	opSbT
	opShT
	opSwT
	opSdT
	opAtomic // imm: an atomicKind; rm: log2 of the size
	opAtomicT

	opFaddD
	opFsubD
	opFmulD
	opFdivD
	opFsqrtD
	opFmaddD // as in all fused multiply-adds, tag and imm: sign changes of product and addend
	opFmsubD
	opFnmsubD
	opFnmaddD
	opFaddS
	opFsubS
	opFmulS
	opFdivS
	opFsqrtS
	opFmaddS
	opFmsubS
	opFnmsubS
	opFnmaddS
	opFsgnjD
	opFsgnjnD
	opFsgnjxD
	opFsgnjS
	opFsgnjnS
	opFsgnjxS
	opFeqD
	opFltD
	opFleD
	opFeqS
	opFltS
	opFleS
	opFcvtDW
	opFcvtDL
	opFcvtWD
	opFcvtLD
	opFcvtDS
	opFcvtSD
	opFmvXW
	opFmvWX
	opFloat   // imm: a floatKind, computed by floatOp
	opRounded // imm: the code of an arithmetic op with a static rounding mode other than to nearest even

	opCsr   // imm: CSR number; rs2: a csrKind; tag: instructions before it in the block
	opCheck // first in a traced block: ensures room in the batch; imm: planned accesses, tag: 1 + block ID or 0
	opCount // count an execution or transfer; imm: the counter's index

	// Fused pairs.
	opShlAdd    // rd = rs1<<imm + rs2, with the shifted value left in rs3
	opShlAddLd  // opShlAdd, then ld of rm from there
	opShlAddLdT //

	// The last operation of a block.
	opNext
	opCountNext // opCount, then opNext
	opJ
	opJal
	opJalr
	opBeq
	opBne
	opBlt
	opBge
	opBltu
	opBgeu
	opAddiBeq // rd = rs1 + imm, then compare rs2 with rs3
	opAddiBne
	opAddiBlt
	opAddiBge
	opAddiBltu
	opAddiBgeu
	opEcall
	opEbreak
	opFenceI
	opJalrCount // opJalr that counts its destination; tag: index of the plan's jump
	opIllegal
	opFetchFault // the block's address is not executable
	opHook       // the block has nothing else: see machine.hooked

	// Combined ops of the interpreter, whose parts follow them: see combine.
	// The second part of an op whose name ends in B is a compare-and-branch, with
	// the comparison in rm.
	opAddLd
	opAddLdT
	opAddSd
	opAddSdT
	opShlAddSd
	opShlAddSdT
	opConstLd // constant: the address
	opConstLdT
	opLdLd
	opLdLdT
	opSdSd
	opSdSdT
	opFmaSd // the first part's operands too
	opFmaSdT
	opShlAddLdB
	opShlAddLdBT
	opShlAddLdFadd // the parts are opShlAddLd and opFaddD
	opShlAddLdFaddT
	opLdB
	opLdBT
	opAddB
	opSubB
	opMvB
	opAddiB
	opAndiB
	opConstB
	opFeqDB
	opFltDB
	opFleDB

	opLast code = 255 // all of the type's values are between the switch's
)

const (
	tracedLoad  = opLbT - opLb
	tracedStore = opSbT - opSb
)

// Register file indices. x1 to x31 are at their numbers; writes to x0 go to a
// register that is never read, so that r[0] stays zero.
const (
	regSink  = 32
	regFloat = 64 // f0
)

// op is one operation of a decoded block.
type op struct {
	code              code
	rd, rs1, rs2, rs3 uint8
	rm                uint8
	slot              uint16 // of a traced access: its index among the block's; of opCheck: their number
	imm               int32
	tag               uint32 // of a traced access: the high half of its trace.Tag
}

// constant returns the 64-bit constant of an opConst.
func (o *op) constant() uint64 { return uint64(o.tag)<<32 | uint64(uint32(o.imm)) }

func (o *op) setConstant(v uint64) { o.imm, o.tag = int32(uint32(v)), uint32(v>>32) }

// Conditions of a combined op whose name ends in B: the operands of its second
// part are equal, or the first is less than the second. Both operands are first
// exclusive-ored with the combined op's constant, the sign bit for a signed
// comparison.
const (
	compareLess uint8 = iota
	compareEqual
)

// parts is a combined op and its parts.
type parts [3]op

// block is a decoded run of instructions that is entered only at the first.
type block struct {
	first *op    // &ops[0]
	n     int64  // instructions
	pc    uint64 // of the first instruction

	takenPC, fallPC uint64
	taken, fall     *block // nil until first needed

	takenCount, fallCount counter // of a branch
	behind                *block  // of a hook: the block that holds the code
	arrival               *block  // the block that indirect jumps to pc enter; nil until first needed, or without a flow
	refs                  uintptr // accesses reserved on entry to the block if it has no opCheck

	ops  []op
	meta []opMeta // of the op with the same index

	heat  int // executions by the interpreter; only with a jit
	entry int // arena offset of its translation; 0: none
	stub  int // arena offset of the code that counts indirect jumps to entry; 0: none yet
	home  *jitHome
	body  int // its offset in home
}

// opMeta is the origin of an op. For a fused op it describes the last instruction,
// the only one that can fault.
type opMeta struct {
	offset uint16 // bytes from the block's pc to the instruction
	index  uint16 // instructions of the block before it
	refs   uint16 // planned accesses of the block before it
}

// maxBlock bounds the instructions in a block. Longer straight-line code is cut
// with opNext.
const maxBlock = 1024

type atomicKind int32

const (
	atomicLR atomicKind = iota
	atomicSC
	atomicSwap
	atomicAdd
	atomicXor
	atomicAnd
	atomicOr
	atomicMin
	atomicMax
	atomicMinu
	atomicMaxu
)

type csrKind uint8

const (
	csrWrite csrKind = iota
	csrSet
	csrClear
	csrWriteImm
	csrSetImm
	csrClearImm
)

// floatKind is a floating-point operation without a case of its own in the
// interpreter's switch.
type floatKind int32

const (
	floatMinD floatKind = iota
	floatMaxD
	floatMinS
	floatMaxS
	floatClassD
	floatClassS
	floatCvtWuD
	floatCvtLuD
	floatCvtDWu
	floatCvtDLu
	floatCvtWS
	floatCvtWuS
	floatCvtLS
	floatCvtLuS
	floatCvtSW
	floatCvtSWu
	floatCvtSL
	floatCvtSLu
)
