package shard

// Distances are distances in instructions: 1 from an instruction to the next.
type Distances struct{ Count, Sum uint64 }

// Mean returns the mean distance, or 0 if there are none.
func (d Distances) Mean() float64 {
	if d.Count == 0 {
		return 0
	}
	return float64(d.Sum) / float64(d.Count)
}

func (d *Distances) add(distance uint64) {
	d.Count++
	d.Sum += distance
}

// Shard is the event counts of a stretch of a run.
type Shard struct {
	From         uint64 // instructions that the program had executed before it
	Instructions uint64

	// Instructions by kind. Those of no kind, such as system calls, fences and
	// vector instructions, count among Instructions alone.
	Control     uint64 // branches, jumps, calls, returns
	Taken       uint64 // of Control: those that do not lead to the next instruction in memory
	FloatALU    uint64 // floating-point add, subtract, convert, move, compare
	FloatMulDiv uint64 // floating-point multiply, divide, square root, multiply-add
	IntMulDiv   uint64
	IntALU      uint64 // add, logic, shift, compare
	Memory      uint64 // loads, stores, atomic accesses

	// Distances between consecutive accesses to one block of BlockBytes. Each
	// instruction accesses the block of code that its first byte is in, and the
	// blocks of data that its memory operand touches.
	Data, Code Distances
	// Blocks that were touched, each counted once. They are not among the
	// characteristics of Table 1.
	DataBlocks, CodeBlocks uint64

	// Distances from instructions to the first one that uses their result.
	FloatALUUse, FloatMulUse, IntMulUse Distances
}

// BlockBytes is the size of the blocks of data and code (2012, Table 1).
const BlockBytes = 64

// Characteristic is one of the thirteen of 2012, Table 1.
type Characteristic struct {
	Symbol string // x1 to x13
	Name   string // a column's name
	Text   string // what it is
}

// Characteristics returns those of Table 1, in its order. Counts are per
// instruction, so that shards of different lengths compare.
func Characteristics() []Characteristic {
	return []Characteristic{
		{"x1", "control", "control instructions per instruction"},
		{"x2", "taken", "taken branches per instruction"},
		{"x3", "float_alu", "floating-point ALU instructions per instruction"},
		{"x4", "float_muldiv", "floating-point multiplies and divides per instruction"},
		{"x5", "int_muldiv", "integer multiplies and divides per instruction"},
		{"x6", "int_alu", "integer ALU instructions per instruction"},
		{"x7", "memory", "memory instructions per instruction"},
		{"x8", "data_reuse_instructions", "mean instructions between accesses to a 64-byte block of data"},
		{"x9", "code_reuse_instructions", "mean instructions between accesses to a 64-byte block of code"},
		{"x10", "float_alu_use_instructions", "mean instructions from a floating-point ALU instruction to its consumer"},
		{"x11", "float_mul_use_instructions", "mean instructions from a floating-point multiply to its consumer"},
		{"x12", "int_mul_use_instructions", "mean instructions from an integer multiply to its consumer"},
		{"x13", "block_instructions", "instructions per control instruction: mean size of a basic block"},
	}
}

// Values returns the thirteen characteristics in the order of Characteristics. A mean
// without distances is 0, and a shard without control instructions counts as one
// block. It panics on a shard without instructions.
func (s *Shard) Values() []float64 {
	if s.Instructions == 0 {
		panic("shard: Values of a shard without instructions")
	}
	n := float64(s.Instructions)
	return []float64{
		float64(s.Control) / n, float64(s.Taken) / n, float64(s.FloatALU) / n, float64(s.FloatMulDiv) / n,
		float64(s.IntMulDiv) / n, float64(s.IntALU) / n, float64(s.Memory) / n,
		s.Data.Mean(), s.Code.Mean(),
		s.FloatALUUse.Mean(), s.FloatMulUse.Mean(), s.IntMulUse.Mean(),
		n / float64(max(s.Control, 1)),
	}
}
