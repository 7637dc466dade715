package rv64

import "presage/perf/isa"

// Decoder decodes like Decode and caches the results: an encoding that recurs, as
// most in a program do, costs one map look-up. It is not safe for concurrent use.
type Decoder struct {
	known map[uint32]isa.Inst // at pc 0
}

// NewDecoder returns a Decoder.
func NewDecoder() *Decoder { return &Decoder{known: make(map[uint32]isa.Inst)} }

// Decode returns the same as the function Decode.
func (d *Decoder) Decode(code []byte, pc uint64) (isa.Inst, error) {
	n := length(code)
	if n == 0 || int(n) > len(code) {
		return Decode(code, pc)
	}
	raw := encoding(code, n)
	in, ok := d.known[raw]
	if !ok {
		var err error
		if in, err = Decode(code, 0); err != nil {
			return Decode(code, pc) // for the error's pc
		}
		d.known[raw] = in
	}
	in.PC = pc
	if in.Op == "AUIPC" {
		in.Value.Imm += int64(pc)
	}
	if in.HasTarget && in.Class != isa.IndirectJump && in.Op != "JALR" { // those are relative to address 0
		in.Target += pc
	}
	return in, nil
}
