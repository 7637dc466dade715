package amd64

import (
	"fmt"
	"regexp"
	"strings"
)

// This file says what instructions do to memory, and of what kind they are, by
// their names alone: a second description, to hold the tables against.

// memoryReaders only read an operand in memory that stands first.
var memoryReaders = regexp.MustCompile(`^(cmp|test|bt|push|call|jmp|div|idiv|mul|imul|f(add|sub|mul|div|iadd|isub|imul|idiv|com|icom|ld|ild|bld|rstor|nop)\w*|ldmxcsr|vldmxcsr|fxrstor\w*|xrstor\w*|lldt|ltr|verr|verw|lmsw|lgdt|lidt|vmptrld|vmclear|vmxon|scas|outs|ptwrite|aes\w*wide\w*|xlat|cmps|ldtilecfg|vscatterpf\w*|vgatherpf\w*)[bwlq]?$`)

// memoryWriters only write it.
var memoryWriters = regexp.MustCompile(`^(v?mov\w*|mov|set\w+|stos|movs|pop|f(st|stp|ist|istp|isttp|bstp)|fn?stcw|fn?stsw|fn?stenv|fn?savew?|fn?stenvw?|v?stmxcsr|fxsave\w*|xsave\w*|s[gil]dt|str|smsw|vpmov\w+|v?pextr\w|v?extractps|vextract\w+|vp?compress\w+|vp?scatter\w+|vmaskmov\w+|vpmaskmov\w+|vcvtps2ph\w*|kmov\w|ins|vmptrst|wrs?s?s\w|wruss\w|sttilecfg|tilestored|bndmov|bndstx|vmread|rdsspq)$`)

// notAccessed only compute an address.
var notAccessed = regexp.MustCompile(`^(lea|nop|prefetch\w*|clflush\w*|clwb|cldemote|invlpg|bndldx|bndstx|bndmk|vscatterpf\w*|vgatherpf\w*)$`)

// meaning checks the explicit operand in memory and the kind.
func meaning(in *Inst, name string, operands []string) string {
	at := -1
	for i, o := range operands {
		if strings.ContainsAny(o, "[") || strings.Contains(o, "s:0x") {
			at = i
			break
		}
	}
	want := Access(0)
	switch {
	case at < 0 || notAccessed.MatchString(name):
	case at > 0 && name != "xchg":
		want = Read
	case memoryReaders.MatchString(name):
		want = Read
	case memoryWriters.MatchString(name):
		want = Write
	default:
		want = ReadWrite
	}
	got := Access(0)
	for _, m := range in.Mems(nil) {
		if m.Explicit || in.Kind() == String {
			got |= m.Access
			if in.Kind() == String && at >= 0 {
				want |= m.Access // two operands
			}
		}
	}
	if got != want && name != "xlat" {
		return fmt.Sprintf("memory is accessed %d, want %d", got, want)
	}
	k := kindByName(name, operands)
	if name == "xchg" && in.Map == 0 && in.Opcode == 0x87 { // it clears the upper half
		k = Exchange
	}
	if k != in.Kind() {
		return fmt.Sprintf("%v, want %v", in.Kind(), k)
	}
	return ""
}

// kindPatterns give kinds by names; the first that matches counts.
var kindPatterns = []struct {
	kind    Kind
	pattern *regexp.Regexp
}{
	{Syscall, re(`syscall`)},
	{Trap, re(`int3|int1|icebp`)},
	{Undefined, re(`ud[012]`)},
	{Return, re(`retw?`)},
	{Jump, re(`jmpw?`)},
	{Call, re(`callw?`)},
	{Branch, re(`j\w+|loop\w*`)},
	{Enter, re(`enterw?`)},
	{Fence, re(`[lms]fence|clflush(opt)?|clwb|serialize`)},
	{State, re(`f?xsave\w*|f?xrstor\w*|v?ldmxcsr|v?stmxcsr|ldtilecfg|sttilecfg|tilerelease`)},
	{Prefetch, re(`prefetch\w*|cldemote|v(gather|scatter)pf\w+`)},
	{Nop, re(`nop|pause|endbr\d+|xchg ax`)},
	{Lea, re(`lea`)},
	{String, re(`(rep )?(movs|stos|lods|cmps|scas|ins|outs)`)},
	{CMov, re(`cmov\w+`)},
	{SetCC, re(`set[a-z]{1,3}`)},
	{Exchange, re(`xchg|xadd|cmpxchg\w*|cmp\w*xadd|aadd|aand|aor|axor`)},
	{Tile, re(`tdp\w+|tileload\w+|tilestored`)},
	{Move, re(`movdiri|movdir64b|clzero|movnti|mov(abs|sxd?|zx|be)?|push\w*|pop(w|f|fw|fq)?|c[bwd][wdq]e|cbw|xlat|leavew?`)},
	{ALU, re(`lahf|sahf|add|adc|sub|sbb|and|or|xor|not|neg|inc|dec|cmp|test|cwd|cdq|cqo|cl[cd]|st[cd]|cmc|bswap|adcx|adox|andn|bls(r|i|msk)|blc\w*|bls(fill|ic)|tzmsk|t1mskc|bzhi`)},
	{Shift, re(`s[ah][lr]|ro[lr]|rc[lr]|sh[lr]d|s[ah][lr]x|rorx`)},
	{Bits, re(`bt[src]?|bs[fr]|[tl]zcnt|popcnt|pext|pdep|bextr|crc32`)},
	{Multiply, re(`i?mul|mulx`)},
	{Divide, re(`i?div`)},

	{Crypto, re(`v?(aes\w+|sha\d\w+|pclmul\w+|gf2p8\w+)|loadiwkey|encodekey\d+`)},
	{StringCompare, re(`v?pcmp[ei]str[im]q?`)},
	{MaskOp, re(`k(and|andn|or|xor|xnor|not|add|unpck|mov|ortest|test|shift[lr])[bwdq]{1,2}|vpmovm2\w|vpmov\w2m|vpbroadcastm\w+`)},
	{Gather, re(`vp?gather[dq]\w+`)},
	{Scatter, re(`vp?scatter[dq]\w+`)},
	{FPFused, re(`vf(c?m|nm)(add|sub)\w+|vfc?madd\w+|v?dpp[sd]|vdpbf16ps|v4fn?madd\w+`)},
	{FPTrans, re(`f(2xm1|yl2xp?1?|ptan|patan|xtract|sincos|sin|cos)|vexp2\w+`)},
	{FPMove, re(`f(ld|ldz|ld1|ldpi|ldl2[te]|ldlg2|ldln2|st|stp|xch|chs|abs|cmov\w+)|v?mov([ahlu]p[sd]|nt[sp][sd]|hlps|lhps|s[sdh]|mskp[sd])|vmaskmovp[sd]`)},
	{FPConvert, re(`f(i?st(tp|p)?|ild|ist|isttp|istp|bld|bstp|rndint)|v?(cvt|round|rndscale|getexp|getmant|reduce|bcstne|frcz)\w+`)},
	{FPCompare, re(`fu?comi?p?p?|fi?comp?|ftst|fxam|fu?comp?p?|v?u?comis[sdh]|v?(min|max)[ps][sdh]|v?cmp\w*[ps][sdh]|v?cmp[sp][sdh]|vfpclass\w+|vrange\w+|vfixupimm\w+|vtestp[sd]`)},
	{FPAdd, re(`fi?(add|sub)r?p?|v?(add|sub|hadd|hsub|addsub)[ps][sdh]`)},
	{FPMultiply, re(`fi?mulp?|fscale|v?(mul|scalef)[ps][sdh]|vfc?mulc[ps]h`)},
	{FPDivide, re(`fi?divr?p?|fprem1?|v?div[ps][sdh]`)},
	{FPSqrt, re(`fsqrt|v?sqrt[ps][sdh]`)},
	{FPReciprocal, re(`v?(rcp|rsqrt)(14|28)?[ps][sdh]`)},
	{X87, re(`f(nop|n?stenv|ldenv|n?stenvw|ldenvw|n?savew|rstorw|n?stcw|ldcw|n?stsw|n?save|rstor|n?init|n?clex|free|freep|wait|decstp|incstp|neni\S*|ndisi\S*|nsetpm\S*|rstpm\S*)|f?emms`)},

	{VectorMultiply, re(`v?(pmul(lw|ld|lq|hw|huw|hrsw|udq|dq)|pmadd\w+)|vpdp\w+|vp4dp\w+|vpmac\w+|vpmadcs\w+`)},
	{Shuffle, re(`v?ps[rl]ldq`)},
	{VectorShift, re(`v?ps(ll|rl|ra)[vwdq]{1,2}|vpro[lr]v?[dq]|vpsh[lr]dv?[wdq]|vprot[bwdq]|vpsh[la][bwdq]`)},
	{VectorCompare, re(`v?pcmp\w+|vptestn?m[bwdq]|vp2intersect\w|vpshufbitqmb|vpcom(lt|le|gt|ge|eq|neq|false|true)?u?[bwdq]`)},
	{VectorMove, re(`v?mov([dq]|dq[au]\d*|ntdqa?|ntq|q2dq|dq2q|w)|v?lddqu|v?p(insr|extr)[bwdq]|v?extractps|v?pmovmskb|v?maskmov(q|dqu)|vpmaskmov[dq]|vzero\w+|extrq|insertq|vmovw|tilezero`)},
	{Shuffle, re(`v?p?(unpck|shuf)\w+|v?mov(ddup|s[lh]dup)|vp?(perm|broadcast|compress|expand)\w+|v?pack\w+|v?pack[su]s\w+|v?p(ack|alignr)\w*|v?ps[rl]ldq|valign[dq]|vp?(insert|extract)\w+|v?insertps|v?pmov[sz]x\w+|vpmov(u?s)?[wdq][bwd]|vpperm|v?p?shuf\w+`)},
	{VectorALU, re(`v?p(add|sub|hadd|hsub|abs|avg|min|max|sign|sad|and|or|xor|andn|blend|hmin)\w*|v?mpsadbw|vdbpsadbw|v?(and|andn|or|xor|p?blend)v?m?\w+|vpternlog[dq]|v?ptest|vplzcnt[dq]|vpconflict[dq]|vpopcnt[bwdq]|vpmultishiftqb|vpcmov|vph(add|sub)\w+|pi2f[dw]|pf\w+|p(swapd|mulhrw)|3dnow`)},
}

var (
	controlRegister = regexp.MustCompile(`\b[cd]r\d`)
	constantTarget  = regexp.MustCompile(`^(0x)?[0-9a-f]+$`)
)

func re(text string) *regexp.Regexp { return regexp.MustCompile(`^(` + text + `)$`) }

func kindByName(name string, operands []string) Kind {
	text := strings.Join(operands, ",")
	switch {
	case name == "mov" && controlRegister.MatchString(text):
		return System
	case name == "xchg" && (text == "ax,ax" || text == "rax,rax" || text == "eax,eax"):
		return Nop
	case (name == "call" || name == "jmp") && strings.Contains(text, "FWORD"):
		return System
	case name == "call" && !constantTarget.MatchString(text):
		return IndirectCall
	case name == "jmp" && !constantTarget.MatchString(text):
		return IndirectJump
	}
	for _, p := range kindPatterns {
		if p.pattern.MatchString(name) {
			return p.kind
		}
	}
	return System
}
