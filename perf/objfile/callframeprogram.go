package objfile

import (
	"cmp"
	"maps"
	"slices"
)

// maxFrameStates bounds the rows that a program of call frame instructions remembers.
const maxFrameStates = 64

// frameRow is a row of the call frame table (DWARF 5, section 6.4.1): the rules at an
// instruction.
type frameRow struct {
	register   uint64
	offset     int64
	expression bool // the canonical frame address is computed in another way
	saved      map[uint64]int64
	undefined  map[uint64]bool
	unknown    map[uint64]bool // kept in a register, or computed
}

func (r *frameRow) clone() frameRow {
	c := *r
	c.saved, c.undefined, c.unknown = maps.Clone(r.saved), maps.Clone(r.undefined), maps.Clone(r.unknown)
	return c
}

// set replaces the rule of a register.
func (r *frameRow) set(register uint64, rule func(r *frameRow)) {
	delete(r.saved, register)
	delete(r.undefined, register)
	delete(r.unknown, register)
	if rule != nil {
		rule(r)
	}
}

// frameMachine runs call frame instructions (DWARF 5, section 6.4.2) up to pc.
type frameMachine struct {
	common  *frameCommon
	pc      uint64 // that is asked for
	at      uint64 // where the current row begins
	row     frameRow
	initial frameRow // after the CIE's instructions
	stack   []frameRow
}

// run executes a program until it ends or passes pc, and reports whether it was
// understood.
func (m *frameMachine) run(program string) bool {
	c := cursor{data: program}
	for len(c.data) > 0 {
		if c.data[0]>>6 == cfaAdvance || c.data[0] >= 0x02 && c.data[0] <= 0x04 {
			next := *m
			if ahead := c; next.step(&ahead) && !ahead.bad && next.at > m.pc {
				return true // the row holds up to there
			}
		}
		if !m.step(&c) || c.bad {
			return false
		}
	}
	return true
}

// The primary opcodes, in the upper two bits.
const (
	cfaAdvance = 1
	cfaOffset  = 2
	cfaRestore = 3
)

func (m *frameMachine) step(c *cursor) bool {
	b := c.byte()
	low := uint64(b & 0x3f)
	switch b >> 6 {
	case cfaAdvance:
		m.at += low * m.common.codeAlign
		return true
	case cfaOffset:
		m.save(low, int64(c.uleb())*m.common.dataAlign)
		return true
	case cfaRestore:
		m.restore(low)
		return true
	}
	switch b {
	case 0x00: // nop
	case 0x02: // advance_loc1
		m.at += uint64(c.byte()) * m.common.codeAlign
	case 0x03: // advance_loc2
		m.at += uint64(c.uint16()) * m.common.codeAlign
	case 0x04: // advance_loc4
		m.at += uint64(c.uint32()) * m.common.codeAlign
	case 0x0a: // remember_state
		if len(m.stack) == maxFrameStates {
			return false
		}
		m.stack = append(m.stack, m.row.clone())
	case 0x0b: // restore_state
		if len(m.stack) == 0 {
			return false
		}
		m.row, m.stack = m.stack[len(m.stack)-1], m.stack[:len(m.stack)-1]
	case 0x2e: // GNU_args_size
		c.uleb()
	default:
		return m.address(b, c) || m.register(b, c)
	}
	return true
}

// address executes an instruction that defines the canonical frame address, and reports
// whether b is one.
func (m *frameMachine) address(b byte, c *cursor) bool {
	switch b {
	case 0x0c: // def_cfa
		m.row.register, m.row.offset, m.row.expression = c.uleb(), int64(c.uleb()), false
	case 0x0d: // def_cfa_register
		m.row.register = c.uleb()
	case 0x0e: // def_cfa_offset
		m.row.offset = int64(c.uleb())
	case 0x0f: // def_cfa_expression
		c.take(c.uleb())
		m.row.expression = true
	case 0x12: // def_cfa_sf
		m.row.register, m.row.offset, m.row.expression = c.uleb(), c.sleb()*m.common.dataAlign, false
	case 0x13: // def_cfa_offset_sf
		m.row.offset = c.sleb() * m.common.dataAlign
	default:
		return false
	}
	return true
}

// register executes an instruction that sets a register's rule, and reports whether b
// is one.
func (m *frameMachine) register(b byte, c *cursor) bool {
	switch b {
	case 0x05: // offset_extended
		m.save(c.uleb(), int64(c.uleb())*m.common.dataAlign)
	case 0x06: // restore_extended
		m.restore(c.uleb())
	case 0x07: // undefined
		r := c.uleb()
		m.row.set(r, func(row *frameRow) { setRule(&row.undefined, r, true) })
	case 0x08: // same_value
		m.row.set(c.uleb(), nil)
	case 0x09, 0x14: // register, val_offset
		r := c.uleb()
		c.uleb()
		m.lose(r)
	case 0x10, 0x16: // expression, val_expression
		r := c.uleb()
		c.take(c.uleb())
		m.lose(r)
	case 0x11: // offset_extended_sf
		m.save(c.uleb(), c.sleb()*m.common.dataAlign)
	case 0x15: // val_offset_sf
		r := c.uleb()
		c.sleb()
		m.lose(r)
	default:
		return false
	}
	return true
}

func (m *frameMachine) save(register uint64, offset int64) {
	m.row.set(register, func(row *frameRow) { setRule(&row.saved, register, offset) })
}

// lose notes that the register's value for the caller is kept in a way that is not
// followed.
func (m *frameMachine) lose(register uint64) {
	m.row.set(register, func(row *frameRow) { setRule(&row.unknown, register, true) })
}

// restore sets a register's rule to that of the CIE.
func (m *frameMachine) restore(register uint64) {
	m.row.set(register, func(row *frameRow) {
		if offset, ok := m.initial.saved[register]; ok {
			setRule(&row.saved, register, offset)
		}
		if m.initial.undefined[register] {
			setRule(&row.undefined, register, true)
		}
	})
}

func setRule[V any](m *map[uint64]V, register uint64, v V) {
	if *m == nil {
		*m = make(map[uint64]V)
	}
	(*m)[register] = v
}

// frame returns the current row.
func (m *frameMachine) frame() CallFrame {
	f := CallFrame{CFARegister: m.row.register, CFAOffset: m.row.offset, Return: m.common.back}
	for register, offset := range m.row.saved {
		f.Saved = append(f.Saved, SavedRegister{register, offset})
	}
	slices.SortFunc(f.Saved, func(a, b SavedRegister) int { return cmp.Compare(a.Register, b.Register) })
	f.Outermost = m.row.undefined[f.Return]
	return f
}
