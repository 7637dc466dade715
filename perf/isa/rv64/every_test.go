package rv64

import (
	"fmt"
	"strings"

	asm "golang.org/x/arch/riscv64/riscv64asm"
)

const assembleFor = "-march=rv64gc_zba_zbb_zbc_zbs"

func asmName(op int) string { return asm.Op(op).String() }

// everyInstruction is an assembly program with each instruction of RV64GC,
// Zba, Zbb, Zbc and Zbs, compressed forms among them.
func everyInstruction() string {
	var b strings.Builder
	b.WriteString(".globl _start\n_start:\n.option norvc\n1:\n")
	each := func(format, names string) {
		for name := range strings.FieldsSeq(names) {
			fmt.Fprintf(&b, "\t"+format+"\n", name)
		}
	}
	each("%s x10, x11, x12", "add addw and or sub subw xor slt sltu sll sllw sra sraw srl srlw mul mulh mulhsu mulhu mulw div divu divuw divw rem remu remuw remw")
	each("%s x10, x11, x12", "add.uw sh1add sh1add.uw sh2add sh2add.uw sh3add sh3add.uw andn orn xnor max maxu min minu rol rolw ror rorw clmul clmulh clmulr bclr bext binv bset")
	each("%s x10, x11, 7", "addi addiw andi ori xori slti sltiu slli slliw srai sraiw srli srliw slli.uw rori roriw bclri bexti binvi bseti")
	each("%s x10, x11", "clz clzw ctz ctzw cpop cpopw sext.b sext.h zext.h orc.b rev8")
	each("%s x10, 5", "lui auipc")
	each("%s x10, x11, 1b", "beq bne blt bltu bge bgeu")
	each("%s", "ecall ebreak fence.i nop unimp ret")
	each("%s r, w", "fence")
	each("%s x10, -16(x11)", "lb lbu lh lhu lw lwu ld sb sh sw sd")
	each("%s f10, -16(x11)", "flw fld fsw fsd")
	each("%s x10, fflags, x11", "csrrc csrrs csrrw")
	each("%s x10, fflags, 3", "csrrci csrrsi csrrwi")
	each("%s x0, 1b", "jal")
	each("%s x1, 1b", "jal")
	each("jalr x%s, 4(x12)", "0 1 7")
	for _, order := range []string{"", ".aq", ".rl", ".aqrl"} {
		for _, width := range []string{".w", ".d"} {
			each("%s"+width+order+" x10, x12, (x11)", "sc amoadd amoand amomax amomaxu amomin amominu amoor amoswap amoxor")
			each("%s"+width+order+" x10, (x11)", "lr")
		}
	}
	for _, width := range []string{".s", ".d"} {
		each("%s"+width+" f10, f11, f12", "fadd fsub fmul fdiv fsgnj fsgnjn fsgnjx fmin fmax")
		each("%s"+width+" f10, f11", "fsqrt")
		each("%s"+width+" f10, f11, f12, f13", "fmadd fmsub fnmadd fnmsub")
		each("%s"+width+" x10, f11, f12", "feq flt fle")
		each("%s"+width+" x10, f11", "fclass fcvt.w fcvt.wu fcvt.l fcvt.lu")
		each("fcvt"+width+"%s f10, x11", ".w .wu .l .lu")
	}
	each("%s f10, f11", "fcvt.s.d fcvt.d.s")
	each("%s x10, f11", "fmv.x.w fmv.x.d")
	each("%s f10, x11", "fmv.w.x fmv.d.x")
	b.WriteString(".option rvc\n2:\n")
	each("%s x10, x11", "c.mv c.add c.and c.or c.xor c.sub c.subw c.addw")
	each("%s x10, 3", "c.addi c.addiw c.li c.lui c.andi c.slli c.srli c.srai")
	each("%s", "c.nop c.ebreak c.unimp")
	each("%s 2b", "c.j")
	each("%s x10, 2b", "c.beqz c.bnez")
	each("%s x10", "c.jr c.jalr")
	each("%s x10, 8(x11)", "c.lw c.ld c.sw c.sd")
	each("%s f10, 8(x11)", "c.fld c.fsd")
	each("%s x10, 8(x2)", "c.lwsp c.ldsp c.swsp c.sdsp")
	each("%s f10, 8(x2)", "c.fldsp c.fsdsp")
	b.WriteString("\tc.addi4spn x10, x2, 16\n\tc.addi16sp x2, -32\n")
	return b.String()
}
