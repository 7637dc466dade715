package trace

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// The drawing in the comment of Regions.
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

// model is what Regions promise, by looking at all regions for every question.
type model struct{ start, base, size, room uint64 }

// TestRegionsAgainstModel adds, grows and removes regions at random, and holds
// both directions against the regions that there should be.
func TestRegionsAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const align = 1 << 20
		r := Regions{Align: align}
		var all []model
		overlaps := func(start, size uint64, but int) bool {
			for i, m := range all {
				if i != but && start < m.start+m.size && m.start < start+size {
					return true
				}
			}
			return false
		}
		address := rapid.Custom(func(t *rapid.T) uint64 {
			return rapid.SampledFrom([]uint64{0, 0x4000_0000, 0x5555_5500_0000, 0x7fff_f000_0000}).Draw(t, "area") +
				rapid.Uint64Range(0, 1<<24).Draw(t, "offset")
		})
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch which := rapid.IntRange(0, 9).Draw(t, "what"); {
			case which < 6 || len(all) == 0:
				start, size := address.Draw(t, "start"), rapid.Uint64Range(1, 1<<22).Draw(t, "size")
				room := rapid.Uint64Range(0, 1<<23).Draw(t, "room")
				base, err := r.Add(start, size, room)
				if overlaps(start, size, -1) != (err != nil) {
					t.Fatalf("Add(%#x, %d): %v", start, size, err)
				}
				if err != nil {
					continue
				}
				if base%align != start%align || base < align || base+max(room, size) > AddrLimit {
					t.Fatalf("Add(%#x, %d, %d) = %#x", start, size, room, base)
				}
				m := model{start, base, size, max(room, size)}
				for _, o := range all {
					if m.base < o.base+o.room && o.base < m.base+m.room {
						t.Fatalf("%+v and %+v share synthetic addresses", m, o)
					}
				}
				all = append(all, m)
			case which < 8:
				i := rapid.IntRange(0, len(all)-1).Draw(t, "which")
				m := &all[i]
				size := rapid.Uint64Range(0, 1<<23).Draw(t, "new size")
				bad := size < m.size || size > m.room || overlaps(m.start, size, i)
				if err := r.Grow(m.start, size); bad != (err != nil) {
					t.Fatalf("Grow of %+v to %d: %v", *m, size, err)
				}
				if !bad {
					m.size = size
				}
			default:
				i := rapid.IntRange(0, len(all)-1).Draw(t, "which")
				if err := r.Remove(all[i].start); err != nil {
					t.Fatal(err)
				}
				all = append(all[:i], all[i+1:]...)
			}
			var questions []uint64
			for _, m := range all {
				questions = append(questions, m.start-1, m.start, m.start+m.size-1, m.start+m.size)
			}
			for _, real := range append(questions, address.Draw(t, "any")) {
				checkRegions(t, &r, all, real)
			}
		}
	})
}

func checkRegions(t *rapid.T, r *Regions, all []model, real uint64) {
	var want uint64
	found := false
	for _, m := range all {
		if real-m.start < m.size {
			want, found = real-m.start+m.base, true
		}
	}
	got, ok := r.Synthetic(real)
	if ok != found || got != want {
		t.Fatalf("Synthetic(%#x) = %#x, %v; want %#x, %v", real, got, ok, want, found)
	}
	if !ok {
		return
	}
	if back, ok := r.Real(got); !ok || back != real {
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

// TestRegionsFull fills the space, and empties a place in it.
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
