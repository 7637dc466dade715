package rv64

// code names an internal operation: what one dispatch of the interpreter does.
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
	opFmaddD // as all fused ones, tag and imm: sign changes of product and addend
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
	opCheck // first in a traced block: room in the batch; imm: planned accesses, tag: 1 + block ID or 0
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
	opJalrCount // opJalr that counts where it leads; tag: index of the plan's jump
	opIllegal
	opFetchFault // the block's address is not executable

	// Combined ops of the interpreter, whose parts follow them: see combine.
	// Those that end in B compare and branch in their second part, as rm says.
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

// Register file indices. x1 to x31 stand at their number; what is written to
// x0 goes to a register that nothing reads, so that r[0] stays zero.
const (
	regSink  = 32
	regFloat = 64 // f0
)

// op is one operation of a decoded block.
type op struct {
	code              code
	rd, rs1, rs2, rs3 uint8
	rm                uint8
	slot              uint16 // of a traced access: its place among the block's; of opCheck: their number
	imm               int32
	tag               uint32 // of a traced access: the high half of its trace.Tag
}

// constant returns the 64-bit constant of an opConst.
func (o *op) constant() uint64 { return uint64(o.tag)<<32 | uint64(uint32(o.imm)) }

func (o *op) setConstant(v uint64) { o.imm, o.tag = int32(uint32(v)), uint32(v>>32) }

// What a combined op that ends in B branches on: its second part's operands
// equal, or the first less than the second, both with the bits of the combined
// op's constant flipped: its sign bit, to compare signed numbers.
const (
	compareLess uint8 = iota
	compareEqual
)

// parts is a combined op and what follows it.
type parts [3]op

// block is a decoded run of instructions that is entered only at its first.
type block struct {
	first *op    // of ops
	n     int64  // instructions
	pc    uint64 // of the first instruction

	takenPC, fallPC uint64
	taken, fall     *block // nil until first needed

	takenCount, fallCount counter // of a branch
	arrival               *block  // where indirect jumps to here lead; nil until first needed, or without a flow
	refs                  uintptr // accesses that entering the block reserves, where no opCheck does

	ops  []op
	meta []opMeta // of the op with the same index

	heat  int // how often the interpreter was asked for it; only with a jit
	entry int // where its translation starts in the arena; 0: none
	stub  int // where indirect jumps to entry are counted; 0: nowhere yet
	home  *jitHome
	body  int // where it is in home
}

// opMeta tells where an op came from. Of a fused op, the last instruction
// counts: the only one that can fault.
type opMeta struct {
	offset uint16 // bytes from the block's pc to the instruction
	index  uint16 // instructions of the block before it
	refs   uint16 // planned accesses of the block before it
}

// maxBlock bounds the instructions of a block. A longer straight line is cut
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
