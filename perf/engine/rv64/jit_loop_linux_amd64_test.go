package rv64

import "testing"

// TestLinear follows ops that write several registers.
func TestLinear(t *testing.T) {
	var v registers
	for r := range 32 {
		v[r] = linear{valid: true}
		v[r].coef[r] = 1
	}
	v.execute(&op{code: opShlAddLd, rd: 10, rs1: 11, rs2: 12, rs3: 13, rm: 5, imm: 3 | 8<<8})
	shifted := linear{valid: true}
	shifted.coef[11] = 8
	sum := shifted
	sum.coef[12] = 1
	if v[13] != shifted || v[10] != sum || v[5].valid || !v[6].valid {
		t.Errorf("x13 %+v, x10 %+v, x5 %+v", v[13], v[10], v[5])
	}
	v.execute(&op{code: opSub, rd: 14, rs1: 10, rs2: 13})
	if v[14] != v[12] {
		t.Errorf("x14 %+v, want x12 alone", v[14])
	}
	v.execute(&op{code: opAtomic, rd: 14})
	if v[14].valid {
		t.Errorf("x14 %+v after an atomic operation", v[14])
	}
}
