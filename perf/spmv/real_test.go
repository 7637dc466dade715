package spmv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file of a matrix's name takes the place of the stand-in if it has the dimensions
// and the number of entries of Table 4, those of the stored half if it is symmetric;
// otherwise it is an error that names both.
func TestRealMatricesAreChecked(t *testing.T) {
	small := Table4{Number: 1, Name: "small", Page: "Group/small_1", Dimension: 3, NonZeros: 4, structure: structure{unknowns: 1}}
	const half = "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n2 1 -1\n2 2 2\n3 3 1\n"
	const whole = "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 2\n1 2 1\n2 2 2\n3 3 1\n"
	for _, c := range []struct{ file, text, want string }{
		{"small.mtx", half, ""},
		{"small.mtx", whole, ""},
		{"small_1.mtx", whole, ""},
		{"other.mtx", whole, "a stand-in"},
		{"small.mtx", strings.Replace(whole, "3 3 4", "4 4 4", 1), "4×4: small of Table 4 has 3×3"},
		{"small.mtx", strings.Replace(whole, "3 3 4\n1 1 2\n", "3 3 3\n", 1), "3 entries: small of Table 4 has 4, or as many in the stored half; see presage spmv fetch"},
		{"small.mtx", "text", "small.mtx"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := small.Load(t.TempDir(), dir)
		switch got := fmt.Sprint(err); {
		case err == nil && m.StandIn:
			got = "a stand-in"
			fallthrough
		case err != nil:
			if c.want == "" || !strings.Contains(got, c.want) {
				t.Errorf("%s of %q: %s, want %q", c.file, c.text, got, c.want)
			}
		case c.want != "" || m.Name != "small":
			t.Errorf("%s of %q: loaded as %q, want %q", c.file, c.text, m.Name, c.want)
		}
	}
	if m, err := AllTable4()[5].Load("../../datasets/spmv"); err != nil || m.StandIn || m.NonZeros() != 126150 {
		t.Errorf("memplus: %v", err)
	}
}

func TestStoredHalf(t *testing.T) {
	for _, c := range []struct {
		places [][2]int
		want   int
		ok     bool
	}{
		{[][2]int{{0, 0}, {1, 1}}, 2, true},
		{[][2]int{{0, 1}, {1, 0}, {2, 2}}, 2, true},
		{[][2]int{{0, 1}, {2, 2}}, 0, false},
		{[][2]int{{0, 1}, {1, 2}, {2, 0}}, 0, false},
		{[][2]int{{0, 2}, {2, 0}, {2, 1}}, 0, false},
	} {
		var entries []Entry
		for _, p := range c.places {
			entries = append(entries, Entry{p[0], p[1], 1})
		}
		m, err := NewMatrix(3, 3, entries)
		if err != nil {
			t.Fatal(err)
		}
		if half, ok := storedHalf(m); half != c.want || ok != c.ok {
			t.Errorf("%v: %d, %v; want %d, %v", c.places, half, ok, c.want, c.ok)
		}
	}
}
