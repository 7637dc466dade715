package objfile

import (
	"fmt"
	"math"
)

// address returns the address that an attribute or a range list gives, either
// itself or by its index in .debug_addr (DWARF 5, section 7.27).
func (d *infoDecoder) address(v uint64, indexed bool) (uint64, bool) {
	if !indexed {
		return v, true
	}
	base, size := d.unit.addrBase, uint64(len(d.addr))
	if base > size || v >= (size-base)/8 {
		return 0, false
	}
	c := cursor{data: d.addr[base+v*8:]}
	return c.uint64(), true
}

// addRanges adds the addresses of an inlined call.
func (d *infoDecoder) addRanges(v *infoValues, node int32) error {
	switch {
	case v.hasRanges && d.unit.version >= 5:
		return d.rangeList5(v, node)
	case v.hasRanges:
		return d.rangeList2(v.ranges, node)
	case v.hasLow && v.hasHigh:
		low, ok1 := d.address(v.low, v.lowIndexed)
		high, ok2 := d.address(v.high, v.highIndexed)
		if !ok1 || !ok2 {
			return fmt.Errorf("address outside .debug_addr")
		}
		if v.highIsSize {
			high += low
		}
		d.span(low, high, node)
	}
	return nil
}

// spend takes bytes of a range list off the budget.
func (d *infoDecoder) spend(n int) error {
	if d.rangeBudget -= n; d.rangeBudget < 0 {
		return fmt.Errorf("range lists overlap too much")
	}
	return nil
}

// rangeList2 reads a list of versions 2 to 4 (DWARF 4, section 2.17.3).
func (d *infoDecoder) rangeList2(at uint64, node int32) error {
	if at > uint64(len(d.ranges)) {
		return fmt.Errorf("range list at %#x of %#x", at, len(d.ranges))
	}
	base := d.unit.low
	c := cursor{data: d.ranges[at:]}
	for {
		low, high := c.uint64(), c.uint64()
		if c.bad {
			return fmt.Errorf("range list at %#x does not end", at)
		}
		if err := d.spend(16); err != nil {
			return err
		}
		switch {
		case low == 0 && high == 0:
			return nil
		case low == math.MaxUint64:
			base = high
		default:
			d.span(base+low, base+high, node)
		}
	}
}

// Kinds of entries of a version 5 range list (DWARF 5, section 7.25).
const (
	rangeEnd         = 0
	rangeBaseIndex   = 1
	rangeStartEnd    = 2 // indices
	rangeStartLength = 3 // index and length
	rangeOffsets     = 4
	rangeBase        = 5
	rangeAddresses   = 6
	rangeAddrLength  = 7
)

// rangeList5 reads a list of version 5 (DWARF 5, section 2.17.3).
func (d *infoDecoder) rangeList5(v *infoValues, node int32) error {
	at := v.ranges
	if v.rangesIndexed {
		var ok bool
		if at, ok = d.rangeListAt(at); !ok {
			return fmt.Errorf("range list %d is outside .debug_rnglists", v.ranges)
		}
	}
	if at > uint64(len(d.rnglists)) {
		return fmt.Errorf("range list at %#x of %#x", at, len(d.rnglists))
	}
	base := d.unit.low
	c := cursor{data: d.rnglists[at:]}
	for {
		before := len(c.data)
		kind := c.byte()
		if kind == rangeEnd && !c.bad {
			return nil
		}
		ok := d.rangeEntry(&c, kind, &base, node)
		if c.bad || !ok {
			return fmt.Errorf("range list at %#x: entry of kind %d is truncated, unknown or outside .debug_addr", at, kind)
		}
		if err := d.spend(before - len(c.data)); err != nil {
			return err
		}
	}
}

func (d *infoDecoder) rangeEntry(c *cursor, kind byte, base *uint64, node int32) (ok bool) {
	ok1, ok2 := true, true
	var low, high uint64
	switch kind {
	case rangeBaseIndex:
		*base, ok = d.address(c.uleb(), true)
		return ok
	case rangeBase:
		*base = c.uint64()
		return true
	case rangeStartEnd:
		low, ok1 = d.address(c.uleb(), true)
		high, ok2 = d.address(c.uleb(), true)
	case rangeStartLength:
		low, ok1 = d.address(c.uleb(), true)
		high = low + c.uleb()
	case rangeOffsets:
		low = *base + c.uleb()
		high = *base + c.uleb()
	case rangeAddresses:
		low = c.uint64()
		high = c.uint64()
	case rangeAddrLength:
		low = c.uint64()
		high = low + c.uleb()
	default:
		return false
	}
	if ok1 && ok2 && !c.bad {
		d.span(low, high, node)
	}
	return ok1 && ok2
}

// rangeListAt looks the offset of a list up by its index.
func (d *infoDecoder) rangeListAt(index uint64) (uint64, bool) {
	base, size := d.unit.rnglistsBase, uint64(len(d.rnglists))
	width := uint64(4)
	if d.unit.wide {
		width = 8
	}
	if base > size || index >= (size-base)/width {
		return 0, false
	}
	c := cursor{data: d.rnglists[base+index*width:]}
	return base + c.offset(d.unit.wide), true
}
