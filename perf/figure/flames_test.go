package figure

import (
	"bytes"
	"strings"
	"testing"

	"presage/perf/frame"
)

// flameRow has the columns that Flames draws.
type flameRow struct {
	Path  string  `frame:"call_path"`
	Level string  `frame:"level"`
	Value float64 `frame:"sim_misses_inclusive"`
}

// TestFlames: each box lies upon that of the path before it, in it, and beside its
// siblings, the widest first; one label has one colour.
func TestFlames(t *testing.T) {
	rows := []flameRow{
		{"p", "L1", 100},
		{"p > main", "L1", 90},
		{"p > main > small", "L1", 20},
		{"p > main > small > memcpy", "L1", 15},
		{"p > main > large", "L1", 60},
		{"p > main > large > memcpy", "L1", 50},
		{"p > main > large > memcpy > thin", "L1", 0.01},
		{"p", "L2", 10},
	}
	fig, err := Flames(frame.Of(rows), FlameOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(fig.panels) != 2 || fig.panels[0].Title.Text != "L1" || fig.panels[1].Title.Text != "L2" {
		t.Fatalf("%d panels", len(fig.panels))
	}
	f := flames{separator: " > "}
	for _, r := range rows[:7] {
		f.boxes = append(f.boxes, &flame{path: r.Path, value: r.Value})
	}
	if err := f.place(); err != nil {
		t.Fatal(err)
	}
	at := make(map[string]*flame)
	for _, b := range f.boxes {
		at[strings.TrimPrefix(b.path, "p > ")] = b
	}
	for path, want := range map[string]flame{
		"p": {depth: 0, x: 0}, "main": {depth: 1, x: 0}, "main > large": {depth: 2, x: 0}, "main > small": {depth: 2, x: 60},
		"main > large > memcpy": {depth: 3, x: 0}, "main > small > memcpy": {depth: 3, x: 60},
	} {
		if b := at[path]; b.depth != want.depth || b.x != want.x {
			t.Errorf("%s: depth %d at %g, want %d at %g", path, b.depth, b.x, want.depth, want.x)
		}
	}
	if a, b := at["main > large > memcpy"], at["main > small > memcpy"]; a.fill != b.fill || a.fill == at["main > large"].fill {
		t.Errorf("memcpy has the colours %v and %v, what is below %v", a.fill, b.fill, at["main > large"].fill)
	}
	if !at["main > large > memcpy > thin"].narrow || f.depth != 3 {
		t.Errorf("a box of a ten thousandth is drawn, or has room: depth %d", f.depth)
	}
	svg, err := fig.SVG(8, 4)
	if err != nil || !bytes.Contains(svg, []byte("memcpy")) {
		t.Errorf("%d bytes without a label, error %v", len(svg), err)
	}
	if one, err := Flames(frame.Of(rows), FlameOptions{Only: "L2"}); err != nil || len(one.panels) != 1 {
		t.Errorf("L2 alone: %v", err)
	}
	for name, c := range map[string]struct {
		rows []flameRow
		opt  FlameOptions
		want string
	}{
		"none":      {rows[:0], FlameOptions{}, "no rows"},
		"level":     {rows, FlameOptions{Only: "L4"}, "L4"},
		"column":    {rows, FlameOptions{Value: "pred"}, "pred"},
		"no parent": {rows[1:2], FlameOptions{}, "has none"},
		"twice":     {append(rows[:2:2], rows[1]), FlameOptions{}, "two rows"},
		"negative":  {[]flameRow{{"p", "L1", -1}}, FlameOptions{}, "row 1"},
	} {
		if _, err := Flames(frame.Of(c.rows), c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error about %q", name, err, c.want)
		}
	}
}
