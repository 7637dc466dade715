package amd64

// Kind is what an instruction does, for schedules and for the mix of a program.
// It says nothing about memory: an instruction of any kind may have operands
// there. See Inst.Mems, and Inst.VectorBytes for the width of a vector.
type Kind uint8

// The kinds.
const (
	Undefined Kind = iota // no instruction, or one defined to trap: ud2
	Nop                   // no effect: nop, pause, endbr64
	Move                  // integer move, extension, push and pop
	Lea                   // address computed into a register
	ALU                   // integer add, logic, comparison, flags
	Shift                 // integer shift or rotate
	Bits                  // bit test, scan, count, extract, deposit; crc32
	Multiply              // integer
	Divide                // integer
	CMov                  // conditional move
	SetCC                 // condition to a byte
	Exchange              // xchg, xadd, cmpxchg: atomic if they access memory with a lock
	String                // movs, stos, lods, cmps, scas, ins, outs; repeated with a rep prefix

	Branch       // conditional, to a constant target
	Jump         // to a constant target
	IndirectJump // to a target in a register or in memory
	Call         // of a constant target
	IndirectCall // of a target in a register or in memory
	Return
	Syscall
	Trap // int3, int1

	FPAdd        // add, subtract; vector and x87
	FPMultiply   // multiply, scale
	FPFused      // multiply and add
	FPDivide     // divide, remainder
	FPSqrt       // square root
	FPReciprocal // approximations of 1/x and 1/√x
	FPConvert    // between formats, to and from integers, rounding
	FPCompare    // comparison, minimum, maximum, classification
	FPMove       // move, sign, constant
	FPTrans      // x87 transcendental functions

	VectorALU      // integer add, logic, minimum, blend
	VectorMultiply // integer multiply, sums of products
	VectorShift    // integer shift or rotate
	VectorCompare  // integer comparison
	VectorMove     // moves, also to and from integer registers
	Shuffle        // permutations, pack and unpack, broadcast, compress, expand, extension
	Gather         // loads of elements at addresses in a vector
	Scatter        // stores of elements at addresses in a vector
	MaskOp         // on mask registers
	Crypto         // AES, SHA, carry-less multiply, Galois field
	StringCompare  // pcmpistri and its kin
	Tile           // AMX

	Prefetch // hints: the address is not accessed
	Fence    // ordering and cache control
	State    // fxsave, xsave, mxcsr
	X87      // x87 control
	Enter    // enter
	System   // all other instructions, among them cpuid and privileged ones

	kinds
)

var kindNames = [kinds]string{
	Undefined: "undefined", Nop: "nop", Move: "move", Lea: "lea", ALU: "alu", Shift: "shift", Bits: "bits", Multiply: "multiply", Divide: "divide",
	CMov: "cmov", SetCC: "setcc", Exchange: "exchange", String: "string",
	Branch: "branch", Jump: "jump", IndirectJump: "indirect jump", Call: "call", IndirectCall: "indirect call", Return: "return", Syscall: "syscall", Trap: "trap",
	FPAdd: "fp add", FPMultiply: "fp multiply", FPFused: "fp fused", FPDivide: "fp divide", FPSqrt: "fp sqrt", FPReciprocal: "fp reciprocal",
	FPConvert: "fp convert", FPCompare: "fp compare", FPMove: "fp move", FPTrans: "fp transcendental",
	VectorALU: "vector alu", VectorMultiply: "vector multiply", VectorShift: "vector shift", VectorCompare: "vector compare", VectorMove: "vector move",
	Shuffle: "shuffle", Gather: "gather", Scatter: "scatter", MaskOp: "mask", Crypto: "crypto", StringCompare: "string compare", Tile: "tile",
	Prefetch: "prefetch", Fence: "fence", State: "state", X87: "x87", Enter: "enter", System: "system",
}

// String returns the kind's name.
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return "Kind(?)"
}

// kindWords are the names of kinds in the opcode tables.
var kindWords = map[string]Kind{
	"undef": Undefined, "nop": Nop, "mov": Move, "lea": Lea, "alu": ALU, "shift": Shift, "bit": Bits, "mul": Multiply, "div": Divide,
	"cmov": CMov, "setcc": SetCC, "xchg": Exchange, "string": String,
	"branch": Branch, "jump": Jump, "ijump": IndirectJump, "call": Call, "icall": IndirectCall, "ret": Return, "syscall": Syscall, "trap": Trap,
	"fadd": FPAdd, "fmul": FPMultiply, "fma": FPFused, "fdiv": FPDivide, "fsqrt": FPSqrt, "frcp": FPReciprocal,
	"fcvt": FPConvert, "fcmp": FPCompare, "fmov": FPMove, "ftrans": FPTrans,
	"valu": VectorALU, "vmul": VectorMultiply, "vshift": VectorShift, "vcmp": VectorCompare, "vmov": VectorMove,
	"shuffle": Shuffle, "gather": Gather, "scatter": Scatter, "mask": MaskOp, "crypto": Crypto, "string2": StringCompare, "tile": Tile,
	"prefetch": Prefetch, "fence": Fence, "state": State, "store": Move, "x87": X87, "enter": Enter, "system": System,
}
