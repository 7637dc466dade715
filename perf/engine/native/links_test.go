//go:build linux && amd64

package native

import (
	"errors"
	"testing"

	"presage/perf/engine"
	"presage/perf/trace"
)

// TestLinks: no jump stops for a block that is translated, and calls come back through the
// jump table without a stop.
func TestLinks(t *testing.T) {
	f := compile(t, calling, "-O2", "-fno-optimize-sibling-calls", "-static", "-pthread")
	d, err := Engine{}.Discover(t.Context(), f, engine.Request{})
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]engine.Request{"untraced": {}, "traced": {Plan: d.Plan, Sink: trace.NewDirect()}} {
		jumps, returns := 0, 0
		m := machineAfter(t, f, r)
		for _, s := range m.stops {
			if s.kind == stopLink {
				if jumps++; m.cache.blocks[s.target] != nil {
					t.Errorf("%s: jumps to %#x, which is translated, stop", name, s.target.pc)
				}
			}
		}
		for _, c := range m.caches {
			for pc := range c.behind {
				if b := c.blocks[key{pc: pc}]; b != nil && b.via == 0 {
					t.Errorf("%s: returns to %#x, which is translated, stop", name, pc)
				}
				returns++
			}
		}
		if t.Logf("%s: jumps to %d blocks stop, calls come back to %d places", name, jumps, returns); jumps*returns == 0 {
			t.Errorf("%s: no calls, or no jumps to code that was not executed", name)
		}
	}
}

// TestNoRoomToLink: where a zone has no room for code between a jump and a block, all code is
// dropped first.
func TestNoRoomToLink(t *testing.T) {
	z := &zone{cold: asm{mem: make([]byte, 2*linkReserve)}}
	if err := z.linkable(); err != nil {
		t.Error(err)
	}
	if z.cold.p = linkReserve + 1; !errors.Is(z.linkable(), errZoneFull) {
		t.Error("a zone without room takes a link")
	}
}

func TestParseMapping(t *testing.T) {
	m, err := parseMapping("7f0c2a1d5000-7f0c2a1d7000 r-xp 0001c000 fe:00 131 /usr/lib/with space.so (deleted)")
	want := mapping{lo: 0x7f0c2a1d5000, hi: 0x7f0c2a1d7000, offset: 0x1c000, prot: "r-xp", path: "/usr/lib/with space.so (deleted)"}
	if err != nil || m != want {
		t.Errorf("%+v, %v, want %+v", m, err, want)
	}
	for _, line := range []string{"", "1000-2000 r-xp", "1000 r-xp 0 00:00 0", "1000-2000 r 0 00:00 0", "x-2000 r-xp 0 00:00 0"} {
		if m, err := parseMapping(line); err == nil {
			t.Errorf("%q: %+v", line, m)
		}
	}
}
