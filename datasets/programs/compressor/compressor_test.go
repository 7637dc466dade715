package main

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"presage/datasets/programs/internal/program"
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
	text := make([]byte, 5000)
	newAuthor(3).write(text)
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
		s := newSorter(len(b))
		s.rotations(b)
		last := make([]byte, len(b))
		at := s.last(last, b)
		for i, r := range s.order {
			if rotation(b, int(r)) != want[i] || last[i] != want[i][len(b)-1] {
				t.Fatalf("block %.40q: rotation %d is %d", b, i, r)
			}
		}
		if want[at] != string(b) {
			t.Errorf("block %.40q stands at %d", b, at)
		}
		if err := checkOrder(s.order, b, make([]int32, len(b))); err != nil {
			t.Errorf("block %.40q: %v", b, err)
		}
	}
}

func TestThereAndBack(t *testing.T) {
	for _, b := range blocks() {
		n := len(b)
		s := newSorter(n)
		s.rotations(b)
		data := make([]byte, n)
		at := s.last(data, b)
		last := slices.Clone(data)
		toFront(data)
		numbers := slices.Clone(data)
		e := encoder{out: make([]byte, 12*n+16)}
		size := e.block(data)
		clear(data)
		new(decoder).block(data, e.out[:size])
		if !bytes.Equal(data, numbers) {
			t.Fatalf("block %.40q: numbers %v became %v", b, numbers, data)
		}
		fromFront(data)
		if !bytes.Equal(data, last) {
			t.Fatalf("block %.40q: %q became %q", b, last, data)
		}
		got := make([]byte, n)
		invert(got, data, at, make([]int32, n))
		if !bytes.Equal(got, b) {
			t.Fatalf("block %.40q became %.40q", b, got)
		}
	}
}

// What the numbers mean, counted out.
func TestToFrontMatchesDefinition(t *testing.T) {
	for _, b := range blocks() {
		got := slices.Clone(b)
		toFront(got)
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

// Carries run through bytes of 255: numbers that keep the low end high.
func TestCarries(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	carried := 0
	for range 200 {
		data := make([]byte, 2000)
		for i := range data {
			if r.IntN(3) == 0 {
				data[i] = 255
			}
		}
		e := encoder{out: make([]byte, 12*len(data)+16)}
		size := e.block(data)
		got := make([]byte, len(data))
		new(decoder).block(got, e.out[:size])
		if !bytes.Equal(got, data) {
			t.Fatal("numbers changed")
		}
		carried += bytes.Count(e.out[:size], []byte{0, 0})
	}
	if carried == 0 {
		t.Error("no two bytes of 0: no carry through a byte is likely to have happened")
	}
}

func TestVerifyReportsDamage(t *testing.T) {
	solve := func() *problem {
		p := allocate(options{n: 20, block: 8})
		compress(p)
		return p
	}
	if p := solve(); verify(p) != nil || p.blocks != 3 {
		t.Fatalf("%d blocks, %v", p.blocks, verify(p))
	}
	for name, damage := range map[string]func(*problem){
		"decoded as":    func(p *problem) { p.err = compare([]byte("ab"), []byte("aa")) },
		"stands twice":  func(p *problem) { p.err = checkOrder([]int32{0, 0}, []byte("ab"), make([]int32, 2)) },
		"smaller lette": func(p *problem) { p.err = checkOrder([]int32{1, 0}, []byte("ab"), make([]int32, 2)) },
		"each letter":   func(p *problem) { p.bytes *= 4 },
		"at least":      func(p *problem) { p.bytes = 100 },
	} {
		p := solve()
		damage(p)
		if err := verify(p); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
	text := bytes.Repeat([]byte("ab"), 40)
	text[79] = 'c'
	s := newSorter(len(text))
	s.rotations(text)
	s.order[15], s.order[16] = s.order[16], s.order[15]
	if err := checkOrder(s.order, text, make([]int32, len(text))); err == nil {
		t.Error("neighbours out of order were not seen")
	}
}

func TestParse(t *testing.T) {
	for line, want := range map[string]string{
		"": "", "-n 3 -block 2 -quiet": "", "-n 0": "-n 0", "-block 0": "-block 0", "-n 2000000": "-n", "x": "unexpected argument", "-y": "not defined",
	} {
		_, err := parse(strings.Fields(line), new(bytes.Buffer))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}

func TestRun(t *testing.T) {
	var out, errs bytes.Buffer
	if status := run([]string{"-n", "30"}, &out, &errs); status != program.OK || !strings.HasSuffix(out.String(), "verification: successful\n") {
		t.Errorf("status %d\n%s%s", status, &out, &errs)
	}
	if status := run([]string{"-n", "x"}, &out, &errs); status != program.Usage {
		t.Errorf("status %d", status)
	}
	errs.Reset()
	if status := run([]string{"-help"}, &out, &errs); status != program.OK || !strings.Contains(errs.String(), "usage: compressor") {
		t.Errorf("status %d, %s", status, &errs)
	}
}
