package bwt

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// blocks are some that are hard to sort, and random ones.
func blocks() [][]byte {
	list := [][]byte{
		[]byte("a"), []byte("aaaaaaa"), []byte("abababab"), []byte("abcabcabcab"), []byte("banana"), []byte("mississippi"),
		bytes.Repeat([]byte{255}, 300), bytes.Repeat([]byte("xyzxyw"), 100),
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		b := make([]byte, 1+r.IntN(400))
		letters := 1 + r.IntN(256)
		for i := range b {
			b[i] = byte(r.IntN(letters))
		}
		list = append(list, b)
	}
	var text []byte // words in which letters depend on the one before
	for len(text) < 5000 {
		text = append(text, []string{"the ", "then ", "there ", "heathen ", "et ", "net\n"}[r.IntN(6)]...)
	}
	return append(list, text)
}

// rotation returns the block gone round from i.
func rotation(b []byte, i int) string { return string(b[i:]) + string(b[:i]) }

// The definition: all rotations written out and sorted as strings.
func TestRotationsMatchDefinition(t *testing.T) {
	for _, b := range blocks() {
		var want []string
		for i := range b {
			want = append(want, rotation(b, i))
		}
		slices.Sort(want)
		s := NewSorter(len(b))
		s.Rotations(b)
		last := make([]byte, len(b))
		at := s.Last(last, b)
		for i, r := range s.Order {
			if rotation(b, int(r)) != want[i] || last[i] != want[i][len(b)-1] {
				t.Fatalf("block %.40q: rotation %d is %d", b, i, r)
			}
		}
		if want[at] != string(b) {
			t.Errorf("block %.40q stands at %d", b, at)
		}
	}
}

// Blocks of several lengths, one after the other, in one sorter.
func TestThereAndBack(t *testing.T) {
	list := blocks()
	s := NewSorter(len(slices.MaxFunc(list, func(a, b []byte) int { return len(a) - len(b) })))
	for _, b := range list {
		n := len(b)
		s.Rotations(b)
		data := make([]byte, n)
		at := s.Last(data, b)
		last := slices.Clone(data)
		ToFront(data)
		FromFront(data)
		if !bytes.Equal(data, last) {
			t.Fatalf("block %.40q: %q became %q", b, last, data)
		}
		got := make([]byte, n)
		Invert(got, data, at, make([]int32, n))
		if !bytes.Equal(got, b) {
			t.Fatalf("block %.40q became %.40q", b, got)
		}
	}
}

// What the numbers mean, counted out.
func TestToFrontMatchesDefinition(t *testing.T) {
	for _, b := range blocks() {
		got := slices.Clone(b)
		ToFront(got)
		for i, c := range b {
			since := make(map[byte]bool)
			k := i - 1
			for ; k >= 0 && b[k] != c; k-- {
				since[b[k]] = true
			}
			want := len(since)
			if k < 0 { // not there before: after all that were, and the smaller ones that were not
				for x := range int(c) {
					if !since[byte(x)] {
						want++
					}
				}
			}
			if int(got[i]) != want {
				t.Fatalf("block %.40q: number %d is %d, want %d", b, i, got[i], want)
			}
		}
	}
}
