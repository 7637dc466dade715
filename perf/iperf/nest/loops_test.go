package nest_test

import (
	"debug/elf"
	"fmt"
	"strings"
	"testing"

	"presage/perf/fit"
	"presage/perf/iperf"
)

// TestFormsOfLoops checks trip counts, strides and offsets of other forms of loops, at
// two optimisation levels.
func TestFormsOfLoops(t *testing.T) {
	for _, flags := range []string{"-O0", "-O1"} {
		s := build(t, "loops", flags)
		table, other := symbol(t, s.exe, "table"), symbol(t, s.exe, "other")
		for _, c := range []struct {
			routine, overlay string
			trips            []float64 // at n = 100
			refs             string    // array, kind, strides, offset of each
		}{
			{
				"constant_bounds", fmt.Sprintf("{arrays: {%#x: table, %#x: other}}", table, other),
				[]float64{39, 50},
				"other load [400 8] 400; table store [400 8] 400; ",
			},
			{"by_threes", "{values: {a1: n}, arrays: {a0: a}}", []float64{34}, "a load [24] 0; a store [24] 0; "},
			{"downward", "{values: {a1: n}, arrays: {a0: a}}", []float64{100}, "a load [-8] 792; a store [-8] 792; "},
		} {
			k, err := s.find(t, c.routine, c.overlay)
			if err != nil {
				t.Errorf("%s %s: %v", flags, c.routine, err)
				continue
			}
			n, err := k.At(fit.Point{"n": 100})
			if err != nil {
				t.Errorf("%s %s: %v", flags, c.routine, err)
				continue
			}
			var refs strings.Builder
			for _, r := range ordered(n.Refs) {
				fmt.Fprintf(&refs, "%s %s %d %d; ", r.Array, r.Kind, r.Strides, r.Offset)
			}
			if fmt.Sprint(n.Trips) != fmt.Sprint(c.trips) || refs.String() != c.refs {
				t.Errorf("%s %s: trip counts %v, references %s\nwant %v, %s", flags, c.routine, n.Trips, &refs, c.trips, c.refs)
			}
		}
		// gcc peels the first iteration of middle: a perfect nest at -O1.
		if k, err := s.find(t, "middle", "{values: {a2: n}}"); flags == "-O0" {
			wantMissing(t, err, "some of its references come before the condition that it is left on, and some after")
		} else if err != nil || k.Loops[0].Trips.String() != "n" {
			t.Errorf("middle: %+v, %v", k, err)
		}
		for _, c := range []struct{ routine, overlay, want string }{
			{"constant_bounds", "{}", "static address"},
			{"triangle", "{values: {a1: n}}", "how often loop"},
			{"gathered", "{values: {a2: n}}", "it depends on what another reference loads"},
		} {
			_, err := s.find(t, c.routine, c.overlay)
			wantMissing(t, err, c.want)
		}
	}
}

// TestGatherByOverlay demands that an overlay that describes the content of memory
// makes a gather a kernel.
func TestGatherByOverlay(t *testing.T) {
	k, err := build(t, "loops", "-O0").find(t, "gathered", "{values: {a2: n}, arrays: {a1: index}, loops: [{name: i}], references: [{at: 'loops.c:39', array: a, strides: ['64'], offset: '8'}]}")
	if err != nil {
		t.Fatal(err)
	}
	text := string(iperf.FormatKernels(k.Kernel))
	for _, want := range []string{
		`array: "a", kind: store, bytes: 8, strides: {"i": "64"}, offset: "8"}`,
		`array: "index", kind: load, bytes: 8, strides: {"i": "8"}}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// symbol returns the address of a static variable.
func symbol(t *testing.T, exe, name string) uint64 {
	t.Helper()
	f, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.Name == name {
			return s.Value
		}
	}
	t.Fatalf("no symbol %s", name)
	return 0
}
