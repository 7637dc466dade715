package objfile

import "fmt"

// Content types and forms of the version 5 tables (DWARF 5, sections 6.2.4.1
// and 7.5.6).
const (
	contentPath      = 1
	contentDirectory = 2

	formBlock2  = 0x03
	formBlock4  = 0x04
	formData2   = 0x05
	formData4   = 0x06
	formData8   = 0x07
	formString  = 0x08
	formBlock   = 0x09
	formBlock1  = 0x0a
	formData1   = 0x0b
	formStrp    = 0x0e
	formUdata   = 0x0f
	formData16  = 0x1e
	formLineStr = 0x1f
)

// entries reads one table: the forms of its columns, then its rows. Every form
// takes at least a byte, so the number of rows is bounded by what is left.
func (d *lineDecoder) entries(h *lineHeader, c *cursor, add func(name string, dir uint64) error) error {
	type column struct{ content, form uint64 }
	columns := make([]column, c.byte())
	for i := range columns {
		columns[i] = column{c.uleb(), c.uleb()}
	}
	count := c.uleb()
	if c.bad || count > 0 && len(columns) == 0 || count > uint64(len(c.data)) {
		return fmt.Errorf("%d entries of %d columns in %d bytes", count, len(columns), len(c.data))
	}
	for range count {
		var name string
		var dir uint64
		for _, col := range columns {
			s, v, err := d.form(h, c, col.form)
			if err != nil {
				return err
			}
			switch col.content {
			case contentPath:
				name = s
			case contentDirectory:
				dir = v
			}
		}
		if err := add(name, dir); err != nil {
			return err
		}
	}
	return nil
}

func (d *lineDecoder) form(h *lineHeader, c *cursor, form uint64) (s string, v uint64, err error) {
	switch form {
	case formString:
		s = c.string()
	case formStrp:
		s = c.stringIn(d.str, c.offset(h.wide))
	case formLineStr:
		s = c.stringIn(d.lineStr, c.offset(h.wide))
	case formData1:
		v = uint64(c.byte())
	case formData2:
		v = uint64(c.uint16())
	case formData4:
		v = uint64(c.uint32())
	case formData8:
		v = c.uint64()
	case formUdata:
		v = c.uleb()
	case formData16:
		c.take(16)
	case formBlock:
		c.take(c.uleb())
	case formBlock1:
		c.take(uint64(c.byte()))
	case formBlock2:
		c.take(uint64(c.uint16()))
	case formBlock4:
		c.take(uint64(c.uint32()))
	default:
		return "", 0, fmt.Errorf("unknown form %#x", form)
	}
	if c.bad {
		return "", 0, fmt.Errorf("truncated, or a name of more than %d bytes", maxPathBytes)
	}
	return s, v, nil
}
