package trace

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestRegionsExample checks the example drawn in the comment of Regions.
func TestRegionsExample(t *testing.T) {
	var r Regions
	heap, err := r.Add(0x5555_5540_1000, 0x21000, 64<<20)
	if err != nil || heap != 0x340_1000 {
		t.Errorf("heap at %#x (%v)", heap, err)
	}
	libc, err := r.Add(0x7fff_f7a0_0000, 0x1f0000, 0)
	if err != nil || libc != 0x7a0_0000 {
		t.Errorf("libc at %#x (%v)", libc, err)
	}
}

// modelRegion is a region in the reference model of Regions.
type modelRegion struct{ start, base, size, room uint64 }

// regionsModel is a reference model of Regions that answers every query by a linear
// search.
type regionsModel struct {
	Regions
	all []modelRegion
}

func (m *regionsModel) overlaps(start, size uint64, but int) bool {
	for i, g := range m.all {
		if i != but && start < g.start+g.size && g.start < start+size {
			return true
		}
	}
	return false
}

// modelAlign is small, so that many bases are possible.
const modelAlign = 1 << 20

func drawAddress(t *rapid.T) uint64 {
	return rapid.SampledFrom([]uint64{0, 0x4000_0000, 0x5555_5500_0000, 0x7fff_f000_0000}).Draw(t, "area") +
		rapid.Uint64Range(0, 1<<24).Draw(t, "offset")
}

func (m *regionsModel) add(t *rapid.T) {
	start, size := drawAddress(t), rapid.Uint64Range(1, 1<<22).Draw(t, "size")
	room := rapid.Uint64Range(0, 1<<23).Draw(t, "room")
	base, err := m.Add(start, size, room)
	if m.overlaps(start, size, -1) != (err != nil) {
		t.Fatalf("Add(%#x, %d): %v", start, size, err)
	}
	if err != nil {
		return
	}
	g := modelRegion{start, base, size, max(room, size)}
	if base%modelAlign != start%modelAlign || base < modelAlign || base+g.room > AddrLimit {
		t.Fatalf("Add(%#x, %d, %d) = %#x", start, size, room, base)
	}
	for _, o := range m.all {
		if g.base < o.base+o.room && o.base < g.base+g.room {
			t.Fatalf("%+v and %+v share synthetic addresses", g, o)
		}
	}
	m.all = append(m.all, g)
}

func (m *regionsModel) grow(t *rapid.T) {
	i := rapid.IntRange(0, len(m.all)-1).Draw(t, "which")
	g := &m.all[i]
	size := rapid.Uint64Range(0, 1<<23).Draw(t, "new size")
	bad := size < g.size || size > g.room || m.overlaps(g.start, size, i)
	if err := m.Grow(g.start, size); bad != (err != nil) {
		t.Fatalf("Grow of %+v to %d: %v", *g, size, err)
	}
	if !bad {
		g.size = size
	}
}

func (m *regionsModel) remove(t *rapid.T) {
	i := rapid.IntRange(0, len(m.all)-1).Draw(t, "which")
	if err := m.Remove(m.all[i].start); err != nil {
		t.Fatal(err)
	}
	m.all = slices.Delete(m.all, i, i+1)
}

// TestRegionsAgainstModel adds, grows and removes regions at random, and compares
// translations in both directions with the model.
func TestRegionsAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &regionsModel{Regions: Regions{Align: modelAlign}}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch which := rapid.IntRange(0, 9).Draw(t, "what"); {
			case which < 6 || len(m.all) == 0:
				m.add(t)
			case which < 8:
				m.grow(t)
			default:
				m.remove(t)
			}
			m.look(t, drawAddress(t))
			for _, g := range m.all {
				for _, real := range []uint64{g.start - 1, g.start, g.start + g.size - 1, g.start + g.size} {
					m.look(t, real)
				}
			}
		}
	})
}

func (m *regionsModel) look(t *rapid.T, real uint64) {
	var want uint64
	found := false
	for _, g := range m.all {
		if real-g.start < g.size {
			want, found = real-g.start+g.base, true
		}
	}
	got, ok := m.Synthetic(real)
	if ok != found || got != want {
		t.Fatalf("Synthetic(%#x) = %#x, %v; want %#x, %v", real, got, ok, want, found)
	}
	if !ok {
		return
	}
	if back, ok := m.Real(got); !ok || back != real {
		t.Fatalf("Real(%#x) = %#x, %v; want %#x", got, back, ok, real)
	}
}

func TestRegionsRefuse(t *testing.T) {
	var r Regions
	for _, c := range []struct{ start, size uint64 }{{1, 0}, {1<<64 - 10, 20}} {
		if _, err := r.Add(c.start, c.size, 0); err == nil {
			t.Errorf("Add(%#x, %d): no error", c.start, c.size)
		}
	}
	if _, err := (&Regions{Align: 3000}).Add(1, 1, 0); err == nil {
		t.Error("alignment of 3000: no error")
	}
	if r.Grow(5, 6) == nil || r.Remove(5) == nil {
		t.Error("no region there, and no error")
	}
	if _, ok := r.Real(0); ok {
		t.Error("address 0 of no region is real")
	}
}

// TestRegionsFull fills the address space, then frees a region of it.
func TestRegionsFull(t *testing.T) {
	var r Regions
	const size = 64 << 30
	start := func(i uint64) uint64 { return 0x7000_0000_0000 + i*size }
	n := uint64(0)
	for ; ; n++ {
		if _, err := r.Add(start(n), size, 0); err != nil {
			if !errors.Is(err, ErrRegionsFull) {
				t.Fatal(err)
			}
			break
		}
	}
	if n != AddrLimit/size-1 {
		t.Errorf("%d regions of %d bytes fit into %d", n, size, uint64(AddrLimit))
	}
	freed, _ := r.Synthetic(start(3))
	if err := r.Remove(start(3)); err != nil {
		t.Fatal(err)
	}
	if base, err := r.Add(start(n), size, 0); err != nil || base != freed {
		t.Errorf("the region after that is at %#x, not %#x (%v)", base, freed, err)
	}
	if _, err := r.Add(1, 1<<60, 0); !errors.Is(err, ErrRegionsFull) {
		t.Errorf("an exbibyte: %v", err)
	}
}
