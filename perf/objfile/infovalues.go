package objfile

import "fmt"

// Forms that occur in .debug_info but not in line tables (DWARF 5, section
// 7.5.6), and gcc's version 4 extensions for split and shared debugging
// information.
const (
	formAddr          = 0x01
	formFlag          = 0x0c
	formSdata         = 0x0d
	formRefAddr       = 0x10
	formRef1          = 0x11
	formRef2          = 0x12
	formRef4          = 0x13
	formRef8          = 0x14
	formRefUdata      = 0x15
	formIndirect      = 0x16
	formSecOffset     = 0x17
	formExprloc       = 0x18
	formFlagPresent   = 0x19
	formStrx          = 0x1a
	formAddrx         = 0x1b
	formRefSup4       = 0x1c
	formStrpSup       = 0x1d
	formRefSig8       = 0x20
	formImplicitConst = 0x21
	formLoclistx      = 0x22
	formRnglistx      = 0x23
	formRefSup8       = 0x24
	formStrx1         = 0x25
	formStrx2         = 0x26
	formStrx3         = 0x27
	formStrx4         = 0x28
	formAddrx1        = 0x29
	formAddrx2        = 0x2a
	formAddrx3        = 0x2b
	formAddrx4        = 0x2c
	formGNURefAlt     = 0x1f20
	formGNUStrpAlt    = 0x1f21
)

// infoValues holds the attributes of an entry that matter here.
type infoValues struct {
	name, linkage text
	from          uint64 // offset in .debug_info, 0 for none

	low, high          uint64
	hasLow, hasHigh    bool
	lowIndexed         bool // low is an index in .debug_addr
	highIndexed        bool
	highIsSize         bool
	ranges             uint64
	hasRanges          bool
	rangesIndexed      bool
	callFile, callLine uint64
	hasDeclFile        bool
	declFile, declLine uint64
	stmtList           uint64
	hasStmtList        bool
	strOffsetsBase     uint64
	addrBase           uint64
	rnglistsBase       uint64
}

// value is the value of an attribute: a number, or where a name begins.
type value struct {
	form   uint64
	number uint64
	text   text
}

// attributes reads the attributes of an entry, or only skips them if the tag
// does not matter here.
func (d *infoDecoder) attributes(c *cursor, a *abbrev, first bool) (*infoValues, error) {
	var v infoValues
	matters := first || a.tag == tagSubprogram || a.tag == tagInlined
	for _, attr := range a.attrs {
		before := len(c.data)
		x, err := d.value(c, attr, before)
		if err != nil {
			return nil, err
		}
		if len(c.data) == before {
			if d.emptyBudget--; d.emptyBudget < 0 {
				return nil, fmt.Errorf("too many attributes without bytes")
			}
		}
		if matters {
			v.set(d, attr.name, x)
		}
	}
	return &v, nil
}

func (v *infoValues) set(d *infoDecoder, name uint64, x value) {
	switch name {
	case attrName:
		v.name = x.text
	case attrLinkageName, attrMIPSLinkage:
		v.linkage = x.text
	case attrAbstractOrigin, attrSpecification:
		v.from = d.reference(x)
	case attrLow:
		v.low, v.hasLow, v.lowIndexed = x.number, true, indexed(x.form)
	case attrHigh:
		v.high, v.hasHigh, v.highIndexed = x.number, true, indexed(x.form)
		v.highIsSize = x.form != formAddr && !v.highIndexed
	case attrRanges:
		v.ranges, v.hasRanges, v.rangesIndexed = x.number, true, x.form == formRnglistx
	case attrCallFile:
		v.callFile = x.number
	case attrCallLine:
		v.callLine = x.number
	case attrDeclFile:
		v.declFile, v.hasDeclFile = x.number, true
	case attrDeclLine:
		v.declLine = x.number
	case attrStmtList:
		v.stmtList, v.hasStmtList = x.number, true
	case attrStrOffsetsBase:
		v.strOffsetsBase = x.number
	case attrAddrBase:
		v.addrBase = x.number
	case attrRnglistsBase:
		v.rnglistsBase = x.number
	}
}

// indexed reports whether a value of the form is an index into .debug_addr.
func indexed(form uint64) bool {
	return form == formAddrx || form >= formAddrx1 && form <= formAddrx4
}

// reference returns the offset in .debug_info that an attribute refers to, or 0
// if it refers to another section.
func (d *infoDecoder) reference(x value) uint64 {
	switch x.form {
	case formRefAddr:
		return x.number
	case formRef1, formRef2, formRef4, formRef8, formRefUdata:
		return d.unit.at + x.number
	}
	return 0
}

// value reads an attribute; left is the number of bytes before it.
func (d *infoDecoder) value(c *cursor, attr abbrevAttr, left int) (value, error) {
	x := value{form: attr.form}
	for range 2 {
		if x.form != formIndirect {
			break
		}
		x.form = c.uleb()
	}
	switch x.form {
	case formImplicitConst:
		x.number = uint64(attr.value)
	case formFlagPresent:
	case formAddr, formData8, formRef8, formRefSig8, formRefSup8:
		x.number = c.uint64()
	case formData1, formRef1, formFlag, formStrx1, formAddrx1:
		x.number = uint64(c.byte())
	case formData2, formRef2, formStrx2, formAddrx2:
		x.number = uint64(c.uint16())
	case formStrx3, formAddrx3:
		x.number = uint64(c.uint16()) | uint64(c.byte())<<16
	case formData4, formRef4, formStrx4, formAddrx4, formRefSup4:
		x.number = uint64(c.uint32())
	case formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx:
		x.number = c.uleb()
	case formSdata:
		x.number = uint64(c.sleb())
	case formSecOffset, formStrp, formLineStr, formStrpSup, formGNURefAlt, formGNUStrpAlt:
		x.number = c.offset(d.unit.wide)
	case formRefAddr:
		x.number = c.offset(d.unit.wide && d.unit.version > 2)
		if d.unit.version == 2 { // of the size of an address
			x.number |= uint64(c.uint32()) << 32
		}
	case formString:
		x.text = text{in: c.data}
		c.skipString()
	case formData16:
		c.take(16)
	case formBlock, formExprloc:
		c.take(c.uleb())
	case formBlock1:
		c.take(uint64(c.byte()))
	case formBlock2:
		c.take(uint64(c.uint16()))
	case formBlock4:
		c.take(uint64(c.uint32()))
	default:
		return x, fmt.Errorf("unknown form %#x", x.form)
	}
	if c.bad {
		return x, fmt.Errorf("truncated, %d bytes before the end of the unit", left)
	}
	d.setText(&x)
	return x, nil
}

// setText locates the name that an attribute refers to.
func (d *infoDecoder) setText(x *value) {
	switch x.form {
	case formStrp:
		x.text = text{d.str, x.number}
	case formLineStr:
		x.text = text{d.lineStr, x.number}
	case formStrx, formStrx1, formStrx2, formStrx3, formStrx4:
		size := uint64(4)
		if d.unit.wide {
			size = 8
		}
		if at := d.unit.strOffsetsBase; at < uint64(len(d.strOffsets)) && x.number < uint64(len(d.strOffsets)) {
			c := cursor{data: d.strOffsets[at:]}
			c.take(x.number * size)
			if off := c.offset(d.unit.wide); !c.bad {
				x.text = text{d.str, off}
			}
		}
	}
}
