//go:build linux && amd64

package native

import (
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
		for _, c := range machineAfter(t, f, r).caches {
			for k := range c.waiting {
				if c.blocks[k] != nil {
					t.Errorf("%s: jumps to %#x, which is translated, stop", name, k.pc)
				}
				jumps++
			}
			for pc := range c.behind {
				if b := c.blocks[key{pc: pc}]; b != nil && b.via == 0 {
					t.Errorf("%s: returns to %#x, which is translated, stop", name, pc)
				}
				returns++
			}
		}
		if t.Logf("%s: %d stops are left, calls come back to %d places", name, jumps, returns); returns == 0 {
			t.Errorf("%s: no calls", name)
		}
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
