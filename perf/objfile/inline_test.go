package objfile

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// infoUnitBytes is a version 5 unit made by hand.
type infoUnitBytes struct {
	abbrev, rnglists string
	entries          []byte
}

// Codes of the abbreviations of newInfoUnit.
const (
	codeUnit    = 1 // low pc
	codeRoutine = 2 // name
	codeCall    = 3 // origin, low pc, size, line
	codeRanges  = 4 // origin, range list, line
)

func newInfoUnit() *infoUnitBytes {
	abbrev := []byte{
		codeUnit, 0x11, 1, attrLow, formAddr, 0, 0,
		codeRoutine, tagSubprogram, 1, attrName, formString, 0, 0,
		codeCall, tagInlined, 1, attrAbstractOrigin, formRef4, attrLow, formAddr, attrHigh, formData4, attrCallLine, formData1, 0, 0,
		codeRanges, tagInlined, 1, attrAbstractOrigin, formRef4, attrRanges, formSecOffset, attrCallLine, formData1, 0, 0,
		0,
	}
	u := &infoUnitBytes{abbrev: string(abbrev)}
	u.entries = binary.LittleEndian.AppendUint64([]byte{codeUnit}, 0x1000)
	return u
}

const unitHeader = 12 // bytes of a version 5 unit before its entries

func (u *infoUnitBytes) routine(name string) (at uint32) {
	at = unitHeader + uint32(len(u.entries))
	u.entries = append(append(u.entries, codeRoutine), name+"\x00"...)
	return at
}

func (u *infoUnitBytes) call(origin uint32, low uint64, size uint32, line byte) {
	u.entries = binary.LittleEndian.AppendUint32(append(u.entries, codeCall), origin)
	u.entries = binary.LittleEndian.AppendUint64(u.entries, low)
	u.entries = append(binary.LittleEndian.AppendUint32(u.entries, size), line)
}

func (u *infoUnitBytes) ranges(origin, list uint32, line byte) {
	u.entries = binary.LittleEndian.AppendUint32(append(u.entries, codeRanges), origin)
	u.entries = append(binary.LittleEndian.AppendUint32(u.entries, list), line)
}

func (u *infoUnitBytes) end() { u.entries = append(u.entries, 0) }

func (u *infoUnitBytes) info() string {
	body := append([]byte{5, 0, 1, 8, 0, 0, 0, 0}, u.entries...)
	return string(append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...))
}

func testInfoDecoder(info, abbrev string) *infoDecoder {
	lines := &lineTable{files: []lineFile{{}, {name: "a.c"}}, tables: map[uint64]fileRange{0: {0, 2}}}
	d := &infoDecoder{info: info, abbrev: abbrev, lines: lines, abbrevs: make(map[uint64]*abbrevTable)}
	d.code = []Section{{Addr: 0x1000, Size: 0x1000, Execute: true}}
	d.setBudgets()
	return d
}

// chainAt lists the names of the calls at pc.
func chainAt(d *infoDecoder, pc uint64) string {
	node := int32(-1)
	for _, r := range paint(d.nodes, d.spans) {
		if r.addr <= pc {
			node = r.node
		}
	}
	var names []string
	for ; node >= 0; node = d.nodes[node].parent {
		names = append(names, d.nodes[node].name)
	}
	slices.Reverse(names)
	return strings.Join(names, ">")
}

// TestInlinedCalls nests calls and uses every kind of range list entry that
// needs no other section (DWARF 5, section 7.25).
func TestInlinedCalls(t *testing.T) {
	u := newInfoUnit()
	f := u.routine("f")
	u.end()
	g := u.routine("g")
	u.end()
	u.routine("main")
	u.call(f, 0x1010, 0x40, 1) // 0x1010-0x1050
	u.call(g, 0x1020, 0x10, 2) // in it, 0x1020-0x1030
	u.end()
	u.end()
	u.ranges(g, 0, 3)
	u.end()
	u.end()
	le := binary.LittleEndian
	list := []byte{rangeOffsets, 0x60, 0x70, rangeBase}
	list = append(le.AppendUint64(list, 0x1100), rangeOffsets, 0, 8, rangeAddresses)
	list = le.AppendUint64(le.AppendUint64(list, 0x1200), 0x1210)
	list = append(le.AppendUint64(append(list, rangeAddrLength), 0x1300), 4, rangeEnd)
	u.rnglists = string(list)
	d := testInfoDecoder(u.info(), u.abbrev)
	d.rnglists = u.rnglists
	d.setBudgets()
	if err := d.decode(); err != nil {
		t.Fatal(err)
	}
	got := make(map[uint64]string)
	want := map[uint64]string{
		0x100f: "", 0x1010: "f", 0x1020: "f>g", 0x102f: "f>g", 0x1030: "f", 0x1050: "",
		0x105f: "", 0x1060: "g", 0x1070: "", 0x1100: "g", 0x1108: "", 0x120f: "g", 0x1210: "", 0x1303: "g", 0x1304: "",
	}
	for pc := range want {
		got[pc] = chainAt(d, pc)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPaint compares with painting pc by pc.
func TestPaint(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		var nodes []inlineNode
		var spans []inlineSpan
		for i := range int32(rng.IntN(12)) {
			nodes, _, _ = addInline(nodes, inlineNode{parent: rng.Int32N(i+1) - 1})
			for range rng.IntN(3) {
				low := rng.Uint64N(40)
				spans = append(spans, inlineSpan{low, low + 1 + rng.Uint64N(20), i})
			}
		}
		want := make([]int32, 64)
		for pc := range want {
			want[pc] = -1
			for _, s := range spans {
				if old := want[pc]; s.low <= uint64(pc) && uint64(pc) < s.high && (old < 0 || nodes[s.node].depth > nodes[old].depth ||
					nodes[s.node].depth == nodes[old].depth && s.node > old) {
					want[pc] = s.node
				}
			}
		}
		got := make([]int32, 64)
		rows := paint(nodes, slices.Clone(spans))
		for pc := range got {
			got[pc] = -1
			for _, r := range rows {
				if r.addr <= uint64(pc) {
					got[pc] = r.node
				}
			}
		}
		if !slices.Equal(want, got) {
			t.Fatalf("%+v of %+v: %v, want %v", spans, nodes, got, want)
		}
	}
}

// TestHostileInlines bounds the work for data that is referred to again and again.
func TestHostileInlines(t *testing.T) {
	const n = 20000
	t.Run("range lists", func(t *testing.T) {
		u := newInfoUnit()
		f := u.routine("f")
		for range n {
			u.ranges(f, 0, 1)
			u.end()
		}
		d := testInfoDecoder(u.info(), u.abbrev)
		d.rnglists = strings.Repeat("\x04\x00\x01", n) + "\x00"
		d.setBudgets()
		if err := d.decode(); err == nil || !strings.Contains(err.Error(), "overlap too much") || len(d.spans) > 8*n {
			t.Errorf("%v, %d spans", err, len(d.spans))
		}
	})
	t.Run("depth", func(t *testing.T) {
		u := newInfoUnit()
		f := u.routine("f")
		for i := range n {
			u.call(f, 0x1000+uint64(i%100), 100, 1)
		}
		d := testInfoDecoder(u.info(), u.abbrev)
		if err := d.decode(); err == nil || !strings.Contains(err.Error(), "deeper than 64") || len(d.nodes) != maxInlineDepth {
			t.Errorf("%v, %d calls", err, len(d.nodes))
		}
	})
	t.Run("empty attributes", func(t *testing.T) {
		abbrev := []byte{1, 0x11, 1}
		for range n {
			abbrev = append(abbrev, 0x3f, formFlagPresent)
		}
		u := &infoUnitBytes{abbrev: string(append(abbrev, 0, 0, 0)), entries: slices.Repeat([]byte{1}, n)}
		d := testInfoDecoder(u.info(), u.abbrev)
		if err := d.decode(); err == nil || !strings.Contains(err.Error(), "without bytes") {
			t.Error(err)
		}
	})
	t.Run("abbreviations", func(t *testing.T) {
		var info strings.Builder
		for i := range n { // each unit's table begins a little later in the same one
			body := binary.LittleEndian.AppendUint32([]byte{5, 0, 1, 8}, uint32(i*3))
			info.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(body)+1)))
			info.Write(append(body, 0))
		}
		d := testInfoDecoder(info.String(), strings.Repeat("\x01\x11\x01\x00\x00", n)+"\x00")
		if err := d.decode(); err == nil || !strings.Contains(err.Error(), "overlap too many") {
			t.Error(err)
		}
	})
}
