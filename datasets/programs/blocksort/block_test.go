package main

import (
	"bytes"
	"errors"
	"testing"
)

func TestThereAndBack(t *testing.T) {
	for _, kind := range []string{"text", "runs", "noise"} {
		for _, n := range []int{2, 3, 10, 257, 5000} {
			p, s := newPacker(n), newSource(kind)
			for range 5 {
				s.fill(p.block)
				p.compress()
				if err := p.expand(); err != nil || !bytes.Equal(p.expanded, p.block) {
					t.Fatalf("%s, %d bytes: %v, %.40q came back as %.40q", kind, n, err, p.block, p.expanded)
				}
			}
		}
	}
}

// Text takes less than half, random bytes a little more than all.
func TestSizes(t *testing.T) {
	for kind, limits := range map[string][2]float64{"text": {1, 4}, "runs": {0.05, 2}, "noise": {8, 8.2}} {
		p := newPacker(60000)
		newSource(kind).fill(p.block)
		p.compress()
		if bits := float64(p.bits.n) / 60000; bits < limits[0] || bits > limits[1] {
			t.Errorf("%s takes %.3f bits a byte, want %v", kind, bits, limits)
		}
	}
}

func TestBrokenBits(t *testing.T) {
	p := newPacker(3000)
	newSource("text").fill(p.block)
	p.compress()
	whole := p.bits.n
	p.bits.n -= 9
	if err := p.expand(); !errors.Is(err, errBits) {
		t.Errorf("bits that end early: %v", err)
	}
	p.bits.n = whole
	p.block = append(p.block, 'e')
	if err := p.expand(); !errors.Is(err, errBits) {
		t.Errorf("a block of another length: %v", err)
	}
}
