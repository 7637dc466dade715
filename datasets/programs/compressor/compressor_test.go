package main

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"presage/datasets/programs/internal/bwt"
	"presage/datasets/programs/internal/program"
)

// Numbers as blocks have them: small ones mostly, in runs.
func TestCoderThereAndBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		numbers := make([]byte, 1+r.IntN(4000))
		most := 1 + r.IntN(256)
		for i := range numbers {
			numbers[i] = byte(r.IntN(1 + r.IntN(1+r.IntN(most))))
		}
		e := encoder{out: make([]byte, 12*len(numbers)+16)}
		size := e.block(numbers)
		got := make([]byte, len(numbers))
		new(decoder).block(got, e.out[:size])
		if !bytes.Equal(got, numbers) {
			t.Fatalf("numbers %v became %v", numbers, got)
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
	s := bwt.NewSorter(len(text))
	s.Rotations(text)
	s.Order[15], s.Order[16] = s.Order[16], s.Order[15]
	if err := checkOrder(s.Order, text, make([]int32, len(text))); err == nil {
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
