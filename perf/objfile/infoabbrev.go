package objfile

import "fmt"

// abbrevTable says how the entries of a unit are laid out, by code.
type abbrevTable struct {
	dense  []abbrev           // codes 1, 2, …
	others map[uint64]*abbrev // the rest
}

type abbrev struct {
	tag      uint64
	children bool
	attrs    []abbrevAttr
}

type abbrevAttr struct {
	name, form uint64
	value      int64 // of formImplicitConst
}

func (t *abbrevTable) at(code uint64) *abbrev {
	if code-1 < uint64(len(t.dense)) {
		return &t.dense[code-1]
	}
	return t.others[code]
}

// abbreviations reads the table at an offset of .debug_abbrev (DWARF 5, section
// 7.5.3), once.
func (d *infoDecoder) abbreviations(at uint64) (*abbrevTable, error) {
	if t := d.abbrevs[at]; t != nil {
		return t, nil
	}
	if at > uint64(len(d.abbrev)) {
		return nil, fmt.Errorf("abbreviations at %#x of %#x", at, len(d.abbrev))
	}
	c := cursor{data: d.abbrev[at:]}
	t := &abbrevTable{others: make(map[uint64]*abbrev)}
	for {
		before := len(c.data)
		code := c.uleb()
		if code == 0 && !c.bad {
			break
		}
		a := abbrev{tag: c.uleb(), children: c.byte() != 0}
		for {
			attr := abbrevAttr{name: c.uleb(), form: c.uleb()}
			if attr.form == formImplicitConst {
				attr.value = c.sleb()
			}
			if c.bad || attr.name == 0 && attr.form == 0 {
				break
			}
			a.attrs = append(a.attrs, attr)
		}
		if d.abbrevBudget -= before - len(c.data); d.abbrevBudget < 0 {
			return nil, fmt.Errorf("abbreviations at %#x overlap too many others", at)
		}
		if c.bad {
			return nil, fmt.Errorf("abbreviations at %#x are truncated", at)
		}
		if code == uint64(len(t.dense))+1 {
			t.dense = append(t.dense, a)
		} else if t.at(code) == nil {
			t.others[code] = &a
		}
	}
	d.abbrevs[at] = t
	return t, nil
}
