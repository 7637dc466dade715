package rv64

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"testing"
)

// TestBranchesAgainstBig takes every conditional branch on all pairs of corner
// numbers, forwards.
func TestBranchesAgainstBig(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for name, c := range map[string]struct {
		funct3 uint32
		taken  func(a, b number) bool
	}{
		"beq":  {0, func(a, b number) bool { return a.u().Cmp(b.u()) == 0 }},
		"bne":  {1, func(a, b number) bool { return a.u().Cmp(b.u()) != 0 }},
		"blt":  {4, func(a, b number) bool { return a.s().Cmp(b.s()) < 0 }},
		"bge":  {5, func(a, b number) bool { return a.s().Cmp(b.s()) >= 0 }},
		"bltu": {6, func(a, b number) bool { return a.u().Cmp(b.u()) < 0 }},
		"bgeu": {7, func(a, b number) bool { return a.u().Cmp(b.u()) >= 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			var a asm
			var data []byte
			var want []byte
			a.set(20, testData)
			numbers := cornerNumbers()
			for _, x := range numbers {
				for _, y := range numbers {
					data = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(data, x), y)
					want = append(want, byte(bit(c.taken(number(x), number(y)))))
				}
			}
			out := int32(testData + pageUp(uint64(len(data))))
			a.set(21, out)
			a.set(22, int32(len(want)))
			top := len(a.text)
			a.word(
				wordI(opcodeLoad, 3, 5, 20, 0), wordI(opcodeLoad, 3, 6, 20, 8),
				wordI(opcodeImm, 0, 7, 0, 1),
				wordB(c.funct3, 5, 6, 8),
				wordI(opcodeImm, 0, 7, 0, 0),
				wordS(opcodeStore, 0, 21, 7, 0),
				wordI(opcodeImm, 0, 20, 20, 16), wordI(opcodeImm, 0, 21, 21, 1), wordI(opcodeImm, 0, 22, 22, -1))
			a.word(wordB(1, 22, 0, int32(top-len(a.text))))
			a.finish(out, int32(len(want)))
			got, _, err := runGuest(t, readFile(t, assemble(a.text, data, int(out)-testData+len(want))), options{})
			if err != nil || got != string(want) {
				t.Errorf("branches differ (%v)", err)
			}
		})
	}
}

// TestUnalignedAgainstBytes loads and stores every size at every alignment,
// within and across 8, 64 and 4096 bytes.
func TestUnalignedAgainstBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	const page = testData + pageBytes // the boundary
	memory := make([]byte, 2*pageBytes)
	for i := range memory {
		memory[i] = byte(i*7 + i>>8*3)
	}
	initial := append([]byte(nil), memory...)
	var a asm
	var want []byte
	const out = testData + 2*pageBytes
	a.set(20, page)
	a.set(21, out)
	loads := []struct {
		funct3 uint32
		size   int
		signed bool
	}{{0, 1, true}, {1, 2, true}, {2, 4, true}, {3, 8, true}, {4, 1, false}, {5, 2, false}, {6, 4, false}}
	value := uint64(0x8899aabbccddeeff)
	for off := -72; off <= 8; off++ {
		for _, l := range loads {
			at := pageBytes + off
			if l.signed { // there are as many stores
				value = value*0x9e3779b97f4a7c15 + 1
				a.set(5, int32(value))
				a.word(wordI(opcodeImm, 1, 5, 5, 32), wordI(opcodeImm, 0, 5, 5, int32(off)), wordI(opcodeImm, 4, 5, 5, 0x2a5))
				v := (uint64(int64(int32(value)))<<32 + uint64(int64(off))) ^ 0x2a5
				a.word(wordS(opcodeStore, l.funct3, 20, 5, int32(off)))
				for i := range l.size {
					memory[at+i] = byte(v >> (8 * i))
				}
			}
			a.word(wordI(opcodeLoad, l.funct3, 6, 20, int32(off)+3), wordS(opcodeStore, 3, 21, 6, 0), wordI(opcodeImm, 0, 21, 21, 8))
			v := new(big.Int)
			for i := l.size - 1; i >= 0; i-- {
				v.Or(v.Lsh(v, 8), big.NewInt(int64(memory[at+3+i])))
			}
			if l.signed && v.Bit(8*l.size-1) == 1 {
				v.Sub(v, pow2(uint(8*l.size)))
			}
			want = binary.LittleEndian.AppendUint64(want, low(v))
		}
	}
	a.finish(testData, int32(2*pageBytes+len(want)))
	got, _, err := runGuest(t, readFile(t, assemble(a.text, initial, 2*pageBytes+len(want))), options{})
	if err != nil || len(got) != 2*pageBytes+len(want) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	if got[:2*pageBytes] != string(memory) {
		t.Error("memory differs after the stores")
	}
	for i := range len(want) / 8 {
		if g := got[2*pageBytes+8*i:][:8]; g != string(want[8*i:][:8]) {
			t.Errorf("load %d of size %d: % x, want % x", i, loads[i%len(loads)].size, g, want[8*i:][:8])
		}
	}
}

// TestAtomicsAgainstBig runs every AMO on all pairs of corner numbers and checks
// the value left in memory and the old value returned.
func TestAtomicsAgainstBig(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	const opcodeAMO = 0x2f
	type amoCase struct {
		name   string
		funct5 uint32
		f      func(m, x number) *big.Int
	}
	cases := []amoCase{
		{"amoswap", 1, func(_, x number) *big.Int { return x.u() }},
		{"amoadd", 0, func(m, x number) *big.Int { return newInt().Add(m.u(), x.u()) }},
		{"amoxor", 4, func(m, x number) *big.Int { return newInt().Xor(m.u(), x.u()) }},
		{"amoand", 12, func(m, x number) *big.Int { return newInt().And(m.u(), x.u()) }},
		{"amoor", 8, func(m, x number) *big.Int { return newInt().Or(m.u(), x.u()) }},
		{"amomin", 16, func(m, x number) *big.Int { return least(m.s(), x.s()) }},
		{"amomax", 20, func(m, x number) *big.Int { return most(m.s(), x.s()) }},
		{"amominu", 24, func(m, x number) *big.Int { return least(m.u(), x.u()) }},
		{"amomaxu", 28, func(m, x number) *big.Int { return most(m.u(), x.u()) }},
	}
	numbers := cornerNumbers()
	for _, c := range cases {
		for _, size := range []uint32{2, 3} {
			t.Run(fmt.Sprintf("%s.%c", c.name, "..wd"[size]), func(t *testing.T) {
				var a asm
				var data, want []byte
				for _, m := range numbers {
					for _, x := range numbers {
						data = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(data, m), x), 0)
						old, after := m, uint64(0)
						if size == 2 {
							// Words are compared as words, signed or not.
							narrow := func(v uint64) number {
								if c.funct5 >= 24 {
									return number(uint32(v))
								}
								return number(int64(int32(v)))
							}
							old = uint64(int64(int32(m)))
							after = m&^0xffffffff | low(c.f(narrow(m), narrow(x)))&0xffffffff
						} else {
							after = low(c.f(number(m), number(x)))
						}
						want = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(want, after), x), old)
					}
				}
				a.set(20, testData)
				a.set(22, int32(len(numbers)*len(numbers)))
				top := len(a.text)
				a.word(wordI(opcodeLoad, 3, 5, 20, 8), wordR(opcodeAMO, size, c.funct5<<2|3, 6, 20, 5), wordS(opcodeStore, 3, 20, 6, 16),
					wordI(opcodeImm, 0, 20, 20, 24), wordI(opcodeImm, 0, 22, 22, -1))
				a.word(wordB(1, 22, 0, int32(top-len(a.text))))
				a.finish(testData, int32(len(data)))
				got, _, err := runGuest(t, readFile(t, assemble(a.text, data, len(data))), options{})
				if err != nil || got != string(want) {
					t.Errorf("results differ (%v)", err)
				}
			})
		}
	}
}

// words runs a program and returns its output as n 64-bit words.
func words(t *testing.T, n int, build func(a *asm)) []uint64 {
	t.Helper()
	out, _, err := assembled(t, options{}, func(a *asm) {
		a.set(regTestOut, testData+64)
		build(a)
		a.finish(testData+64, int32(8*n))
	})
	if err != nil || len(out) != 8*n {
		t.Fatalf("%d bytes, %v", len(out), err)
	}
	var v []uint64
	for i := range n {
		v = append(v, binary.LittleEndian.Uint64([]byte(out[8*i:])))
	}
	return v
}

const regTestOut = 30

// emit appends a register to the output as a 64-bit word.
func (a *asm) emit(reg uint32) {
	a.word(wordS(opcodeStore, 3, regTestOut, reg, 0), wordI(opcodeImm, 0, regTestOut, regTestOut, 8))
}

// TestReservations checks where SC must succeed, where it must fail, and that a
// failed SC leaves memory alone ("Load-Reserved/Store-Conditional Instructions").
func TestReservations(t *testing.T) {
	lr := func(size uint32, addr uint32) uint32 { return wordR(0x2f, size, 2<<2, 7, addr, 0) }
	sc := func(size uint32, addr, src uint32) uint32 { return wordR(0x2f, size, 3<<2, 8, addr, src) }
	got := words(t, 12, func(a *asm) {
		a.set(5, testData)    // foo
		a.set(6, testData+16) // bar
		a.set(9, -5)
		emit := func(w ...uint32) {
			a.word(w...)
			a.emit(8)
		}
		emit(sc(2, 5, 9))                            // without a reservation
		emit(lr(2, 6), sc(2, 5, 9))                  // of another address
		emit(sc(2, 6, 9))                            // the reservation is used up
		emit(wordI(opcodeLoad, 3, 8, 5, 0))          // foo is untouched
		emit(lr(2, 5), sc(2, 5, 9))                  // success
		emit(wordI(opcodeLoad, 3, 8, 5, 0))          // a word, not more
		emit(sc(2, 5, 9))                            // once only
		emit(lr(3, 6), sc(3, 6, 9))                  // doubleword
		emit(wordI(opcodeLoad, 3, 8, 6, 0))          //
		emit(lr(2, 5), lr(2, 6), sc(2, 5, 9))        // the last one counts
		emit(wordI(opcodeLoad, 3, 8, 5, 0))          //
		emit(lr(2, 5), wordI(opcodeImm, 0, 8, 7, 0)) // LR sign-extends
	})
	minus5 := ^uint64(4)
	want := []uint64{1, 1, 1, 0, 0, minus5 & 0xffffffff, 1, 0, minus5, 1, minus5 & 0xffffffff, minus5}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("step %d: %#x, want %#x", i, got[i], want[i])
		}
	}
}

// TestControlRegisters checks the CSR instructions' forms, and the counters.
func TestControlRegisters(t *testing.T) {
	csr := func(funct3, rd, rs1 uint32, n int32) uint32 { return wordI(opcodeSystem, funct3, rd, rs1, n) }
	const rw, rs, rc, rwi, rsi, rci = 1, 2, 3, 5, 6, 7
	got := words(t, 11, func(a *asm) {
		step := func(w ...uint32) {
			a.word(w...)
			a.emit(8)
		}
		a.set(9, 0x1ff)
		step(csr(rw, 0, 9, csrFcsr), csr(rs, 8, 0, csrFcsr)) // bits 8 and up do not exist
		step(csr(rwi, 8, 0b01010, csrFflags))                // old value
		step(csr(rsi, 8, 0b00101, csrFflags))
		step(csr(rci, 8, 0b00010, csrFflags))
		step(csr(rs, 8, 0, csrFflags))
		step(csr(rwi, 0, 3, csrFrm), csr(rs, 8, 0, csrFcsr))
		a.set(9, 0b101)
		step(csr(rc, 8, 9, csrFrm))
		step(csr(rs, 8, 0, csrFrm))
		// instret counts exactly this sequence; cycle and time are monotonic.
		a.word(csr(rs, 5, 0, csrInstret-4096), 0x13, 0x13, csr(rs, 6, 0, csrInstret-4096))
		step(wordR(opcodeReg, 0, 32, 8, 6, 5))
		a.word(csr(rs, 5, 0, csrTime-4096), csr(rs, 6, 0, csrTime-4096))
		step(wordR(opcodeReg, 3, 0, 8, 5, 6))
		a.word(csr(rs, 5, 0, csrCycle-4096), csr(rs, 6, 0, csrCycle-4096))
		step(wordR(opcodeReg, 3, 0, 8, 5, 6))
	})
	want := []uint64{0xff, 0x1f, 0b01010, 0b01111, 0b01101, 3<<5 | 0b01101, 3, 2, 3, 1, 1}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("step %d: %#x, want %#x", i, got[i], want[i])
		}
	}
}

// TestReservedRoundingModes checks that with a reserved mode in frm every
// instruction whose rounding mode field is dynamic is illegal and changes
// nothing, even if its result does not depend on the mode, and that all other
// instructions stay legal.
func TestReservedRoundingModes(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, c := range floatCases() {
		rounds := c.rounds || c.name == "fcvt.d.s"
		for frm := range int32(8) {
			word := c.word
			if rounds {
				word |= 7 << 12
			}
			_, r, err := assembled(t, options{}, func(a *asm) {
				a.word(wordI(opcodeSystem, 5, 0, uint32(frm), csrFrm), word)
				a.word(wordI(opcodeSystem, 2, regA0, 0, csrFcsr), wordI(opcodeImm, 7, regA0, regA0, 0xe0))
				a.call(93)
			})
			illegal := r.Signal == sigILL
			if want := rounds && frm > rmLast; illegal != want {
				t.Errorf("%s with frm %d: illegal %v, want %v (%v)", c.name, frm, illegal, want, err)
			}
			if !illegal && r.ExitCode != int(frm)<<5 {
				t.Errorf("%s with frm %d: frm is %#x afterwards", c.name, frm, r.ExitCode)
			}
		}
		for _, rm := range []uint32{5, 6} {
			if !rounds {
				continue
			}
			if _, r, _ := assembled(t, options{}, func(a *asm) { a.word(c.word | rm<<12) }); r.Signal != sigILL {
				t.Errorf("%s with static mode %d: signal %d", c.name, rm, r.Signal)
			}
		}
	}
}

// TestHintsAndTraps checks that hints have no effect and that privileged and
// reserved instructions trap in user mode.
func TestHintsAndTraps(t *testing.T) {
	const nothing = 0
	for _, c := range []struct {
		name   string
		word   uint32
		signal int
	}{
		{"fence", 0x0ff0000f, nothing},
		{"fence.tso", 0x8330000f, nothing},
		{"fence with reserved fields", 0x0ff5878f, nothing},
		{"pause", 0x0100000f, nothing},
		{"prefetch.r", wordI(opcodeImm, 6, 0, 5, 1), nothing},
		{"ntl.all", wordR(opcodeReg, 0, 0, 0, 0, 5), nothing},
		{"c.nop with immediate", 0x00010015, nothing}, // and c.nop
		{"lui to x0", 0x12345037, nothing},
		{"csrrs of cycle", wordI(opcodeSystem, 2, 5, 0, csrCycle-4096), nothing},
		{"csrrsi of cycle, 0", wordI(opcodeSystem, 6, 5, 0, csrCycle-4096), nothing},
		{"csrrsi of cycle, 1", wordI(opcodeSystem, 6, 5, 1, csrCycle-4096), sigILL},
		{"csrrwi of cycle, 0", wordI(opcodeSystem, 5, 5, 0, csrCycle-4096), sigILL},
		{"mstatus", wordI(opcodeSystem, 2, 5, 0, 0x300), sigILL},
		{"wfi", 0x10500073, sigILL},
		{"mret", 0x30200073, sigILL},
		{"sret", 0x10200073, sigILL},
		{"sfence.vma", 0x12000073, sigILL},
		{"ebreak", ebreakWord, sigTRAP},
		{"c.ebreak", 0x00019002, sigTRAP},
		{"lr with rs2", wordR(0x2f, 2, 2<<2, 7, 30, 1), sigILL},
		{"slliw by 32", wordI(opcodeImm32, 1, 5, 5, 32), sigILL},
		{"load of funct3 7", wordI(opcodeLoad, 7, 5, 30, 0), sigILL},
		{"vsetvli", 0x0d0572d7, sigILL},
		{"c.addi4spn of 0", 0x00010004, sigILL},
		{"c.lwsp to x0", 0x00014002, sigILL},
		{"c.jr x0", 0x00018002, sigILL},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, r, _ := assembled(t, options{}, func(a *asm) {
				a.set(5, testData)
				a.set(30, testData)
				a.word(c.word)
				a.set(regA0, 0)
				a.call(93)
			})
			if r.Signal != c.signal || c.signal == nothing && r.ExitCode != 0 {
				t.Errorf("signal %d, status %d; want signal %d", r.Signal, r.ExitCode, c.signal)
			}
		})
	}
}

// TestFenceI rewrites instructions of its own segment, which is writable and
// executable: one that was executed before, one in the block that rewrites it.
func TestFenceI(t *testing.T) {
	var a asm
	const fenceI = 0x0000100f
	a.word(wordI(opcodeImm, 0, 20, 0, 100))
	a.word(5<<7|opcodeAUIPC, wordI(opcodeLoad, 2, 6, 5, 44)) // the new instruction: addi x20, x20, 7
	a.word(wordI(opcodeImm, 0, 21, 0, 0))
	a.word(wordJ(0, 4)) // a block begins at the rewritten instruction
	again := len(a.text)
	a.word(wordI(opcodeImm, 0, 20, 20, 1))
	a.word(wordS(opcodeStore, 2, 5, 6, 16)) // over it
	a.word(fenceI)
	a.word(wordI(opcodeImm, 0, 21, 21, 1), wordI(opcodeImm, 2, 7, 21, 3))
	a.word(wordB(1, 7, 0, int32(again-len(a.text))))
	a.word(wordJ(0, 8))
	a.word(wordI(opcodeImm, 0, 20, 20, 7)) // data, jumped over
	a.word(wordI(opcodeImm, 0, regA0, 20, 0))
	a.call(93)
	image := assemble(a.text, nil, pageBytes)
	binary.LittleEndian.PutUint32(image[64+4:], 7) // p_flags of the first segment: all
	_, r, err := runGuest(t, readFile(t, image), options{})
	if want := 100 + 1 + 7 + 7; err != nil || r.ExitCode != want {
		t.Errorf("status %d (%v), want %d", r.ExitCode, err, want)
	}
}
