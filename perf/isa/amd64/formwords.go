package amd64

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// conditionBits are the bits that a condition allows, and the group they are of.
var conditionBits = map[string]struct{ allow, group uint64 }{
	"np": {1 << keyPP, 15 << keyPP}, "66": {2 << keyPP, 15 << keyPP}, "f3": {4 << keyPP, 15 << keyPP}, "f2": {8 << keyPP, 15 << keyPP},
	"np66": {3 << keyPP, 15 << keyPP},
	"w0":   {1 << keyW, 3 << keyW}, "w1": {2 << keyW, 3 << keyW},
	"l0": {1 << keyL, 7 << keyL}, "l1": {2 << keyL, 7 << keyL}, "l2": {4 << keyL, 7 << keyL}, "l01": {3 << keyL, 7 << keyL}, "l12": {6 << keyL, 7 << keyL},
	"mem": {1 << keyMod, 3 << keyMod}, "reg": {2 << keyMod, 3 << keyMod},
	"o16": {1 << keySize, 7 << keySize}, "o32": {2 << keySize, 7 << keySize}, "o64": {4 << keySize, 7 << keySize},
	"x0": {1 << keyB, 3 << keyB}, "x1": {2 << keyB, 3 << keyB},
	"a64": {1 << keyAddr, 3 << keyAddr}, "a32": {2 << keyAddr, 3 << keyAddr},
}

func parseConditions(text string, enc byte, mmx bool) (uint64, error) {
	var allow, groups uint64
	if text != "-" {
		for c := range strings.SplitSeq(text, ",") {
			a, g, err := condition(c, enc, mmx)
			if err != nil {
				return 0, err
			}
			allow |= a
			groups |= g
		}
	}
	if allow&(15<<keyPP) == 2<<keyPP && allow&(2<<keySize) != 0 {
		allow |= 1 << keySize // the prefix does not set the operand size
	}
	return allow | (1<<keyTotal-1)&^groups, nil
}

func condition(c string, enc byte, mmx bool) (allow, group uint64, err error) {
	if rest, ok := strings.CutPrefix(c, "e"); ok {
		if enc != 'e' {
			return 0, 0, nil
		}
		c = rest
	}
	if mmx && c == "66" {
		c = "np"
	}
	if b, ok := conditionBits[c]; ok {
		if enc == 'l' && b.group == 7<<keyL {
			return 0, 0, nil
		}
		return b.allow, b.group, nil
	}
	for prefix, shift := range map[string]int{"/": keyReg, "rm": keyRM} {
		if digit, ok := strings.CutPrefix(c, prefix); ok && len(digit) == 1 && digit[0] < '8' {
			return 1 << (shift + int(digit[0]-'0')), 255 << shift, nil
		}
	}
	return 0, 0, fmt.Errorf("unknown condition %q", c)
}

// parseWord reads an operand, a set of flags or an attribute.
func (f *form) parseWord(w string, implicit bool) error {
	if flags, ok := strings.CutPrefix(w, "w:"); ok {
		return addFlags(&f.written, flags)
	}
	if flags, ok := strings.CutPrefix(w, "r:"); ok {
		return addFlags(&f.read, flags)
	}
	if flags, ok := strings.CutPrefix(w, "m:"); ok {
		return addFlags(&f.maybe, flags)
	}
	switch w {
	case "priv":
		f.priv = true
		return nil
	case "bits":
		f.bits = true
		return nil
	}
	if implicit {
		return f.addImplicit(w)
	}
	s, err := f.parseOperand(w)
	if err != nil {
		return err
	}
	if int(f.n) == len(f.ops) {
		return errors.New("too many operands")
	}
	f.ops[f.n] = s
	f.n++
	return nil
}

func addFlags(set *Flags, letters string) error {
	for _, c := range letters {
		i := strings.IndexRune(flagLetters, c)
		if i < 0 {
			return fmt.Errorf("no flag %c", c)
		}
		*set |= 1 << i
	}
	return nil
}

// implicitMemory are implicit operands in memory and what they do to registers.
var implicitMemory = map[string][]spec{
	"push": {{place: atTop, size: 's', access: Write, memOnly: true}, {place: fixed, first: RSP, access: ReadWrite, bytes: 8}},
	"pop":  {{place: atTop, size: 's', access: Read, memOnly: true}, {place: fixed, first: RSP, access: ReadWrite, bytes: 8}},
	"leave": {
		{place: atFrame, size: 's', access: Read, memOnly: true},
		{place: fixed, first: RBP, access: ReadWrite, bytes: 8},
		{place: fixed, first: RSP, access: Write, bytes: 8},
	},
	"xlat":    {{place: atRBX, bytes: 1, access: Read, memOnly: true}},
	"clzero":  {{place: atRAX, bytes: 64, access: Write, memOnly: true}},
	"movdir":  {{place: atRegular, bytes: 64, access: Write, memOnly: true}},
	"maskmov": {{place: atRDI, size: 'x', element: 1, byVVVV: true, access: Write, memOnly: true}, {place: fixed, first: RDI, access: Read, bytes: 8}},
}

func (f *form) addImplicit(w string) error {
	if m, ok := implicitMemory[w]; ok {
		f.implicit = append(f.implicit, m...)
		return nil
	}
	w, access := cutAccess(w)
	s := spec{place: fixed, access: access, bytes: 8}
	switch {
	case w == "st":
		s.first, s.bytes = ST0, 10
	case w == "xmm0":
		s.first, s.bytes = V0, 16
	default:
		s.first = NoReg
		for r := range RIP {
			if r.String() == w {
				s.first = r
			}
		}
		if s.first == NoReg {
			return errors.New("unknown implicit operand")
		}
	}
	f.implicit = append(f.implicit, s)
	return nil
}

func cutAccess(w string) (string, Access) {
	switch w[0] {
	case '=':
		return w[1:], Write
	case '+':
		return w[1:], ReadWrite
	}
	return w, Read
}

// fixedOperands are explicit operands that need no encoding.
var fixedOperands = map[string]spec{
	"AL": {first: RAX, bytes: 1}, "AX": {first: RAX, bytes: 2}, "rAX": {first: RAX, size: 'v'}, "zAX": {first: RAX, size: 'z'}, "CL": {first: RCX, bytes: 1}, "DX": {first: RDX, bytes: 2},
	"FS": {first: FS, bytes: 8}, "GS": {first: GS, bytes: 8}, "st0": {first: ST0, bytes: 10}, "xmm0": {first: V0, bytes: 16},
}

func (f *form) parseOperand(w string) (spec, error) {
	w, access := cutAccess(w)
	if s, ok := fixedOperands[w]; ok {
		s.place, s.access = fixed, access
		return s, nil
	}
	s := spec{access: access}
	switch w {
	case "1":
		s.place = constantOne
		return s, nil
	case "sti":
		s.place, s.first, s.bytes = inRM, ST0, 10
		return s, nil
	case "BND":
		s.place, s.first, s.bytes = inReg, BND0, 16
		return s, nil
	case "BNDE":
		s.place, s.first, s.bytes = inRM, BND0, 16
		return s, nil
	case "Mtile":
		s.place, s.memory, s.memOnly = tileRM, true, true
		return s, nil
	}
	rest, err := s.parsePlace(w, f.mmx)
	if err != nil {
		return s, err
	}
	return s, s.parseSize(rest, f)
}

var places = map[string]spec{
	"E": {place: inRM, first: RAX, memory: true}, "M": {place: inRM, memory: true, memOnly: true}, "R": {place: inRM, first: RAX, regOnly: true},
	"G": {place: inReg, first: RAX}, "B": {place: inVVVV, first: RAX}, "Z": {place: inOpcode, first: RAX},
	"V": {place: inReg, first: V0}, "W": {place: inRM, first: V0, memory: true}, "H": {place: inVVVV, first: V0}, "L": {place: inImmediate, first: V0},
	"P": {place: inReg, first: MM0}, "Q": {place: inRM, first: MM0, memory: true},
	"kG": {place: inReg, first: K0}, "kE": {place: inRM, first: K0, memory: true}, "kB": {place: inVVVV, first: K0},
	"tG": {place: inReg, first: TMM0}, "tE": {place: inRM, first: TMM0}, "tB": {place: inVVVV, first: TMM0},
	"T": {place: vectorRM, first: V0, memory: true, memOnly: true},
	"X": {place: atRSI, memory: true, memOnly: true}, "Y": {place: atRDI, memory: true, memOnly: true}, "O": {place: absolute, memory: true, memOnly: true},
	"I": {place: immediate}, "J": {place: relative},
	"S": {place: inReg, first: ES}, "C": {place: inReg, first: CR0}, "D": {place: inReg, first: DR0},
}

func (s *spec) parsePlace(w string, mmx bool) (rest string, err error) {
	n := 1
	if w[0] == 'k' || w[0] == 't' {
		n = 2
	}
	if len(w) < n {
		return "", errors.New("unknown place")
	}
	p, ok := places[w[:n]]
	if !ok {
		return "", errors.New("unknown place")
	}
	if mmx && p.first == V0 {
		p.first = MM0
	}
	access := s.access
	*s = p
	s.access = access
	return w[n:], nil
}

var sizeBytes = map[byte]uint16{'b': 1, 'w': 2, 'd': 4, 'q': 8, 'o': 16, 't': 10, 'a': 0, 'n': 0, 'r': 8}

func (s *spec) parseSize(rest string, f *form) error {
	if s.place == vectorRM {
		return s.parseVectorAddress(rest)
	}
	size, element, masked := strings.Cut(rest, ".")
	if c, granule, ok := strings.Cut(size, ":"); ok {
		size = c
		f.granule = uint8(sizeBytes[granule[0]])
	}
	if n, err := strconv.ParseUint(size, 10, 16); err == nil {
		s.bytes = uint16(n)
	} else if len(size) == 1 {
		s.size = size[0]
		s.bytes = sizeBytes[s.size]
		if !strings.Contains("bwdqotanrvzysxhfep", size) {
			return errors.New("unknown size")
		}
	} else if size == "" && s.first == K0 || s.first == TMM0 {
		s.size = 'q'
		s.bytes = 8
	} else {
		return errors.New("unknown size")
	}
	if s.size == 'n' {
		s.access = 0
	}
	if !masked {
		return nil
	}
	return s.parseElement(element)
}

func (s *spec) parseElement(e string) error {
	switch e[0] {
	case 'D', 'Q', 'H':
		s.bcst = true
	}
	switch e[0] {
	case 'b':
		s.element = 1
	case 'w', 'H':
		s.element = 2
	case 'd', 'D':
		s.element = 4
	case 'q', 'Q':
		s.element = 8
	default:
		return errors.New("unknown element")
	}
	switch e[1:] {
	case "":
	case "*":
		s.packed = true
	case "!H":
		s.byVVVV = true
	default:
		return errors.New("unknown selection")
	}
	return nil
}

// parseVectorAddress reads the size of an index, the length of the index vector
// and the size of an element, as in dx.q.
func (s *spec) parseVectorAddress(rest string) error {
	if len(rest) != 4 || rest[2] != '.' {
		return errors.New("unknown vector address")
	}
	s.index = uint8(sizeBytes[rest[0]])
	s.size = rest[1]
	return s.parseElement(rest[3:])
}
