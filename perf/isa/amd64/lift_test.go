package amd64

import (
	"math/rand/v2"
	"testing"
)

// TestLiftEverything lifts random encodings: no instruction may have more
// registers, operands or micro-operations than an isa.Inst can hold.
func TestLiftEverything(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	code := generate(rand.New(rand.NewPCG(5, 6)), 400_000)
	l := NewLifter()
	n := 0
	for at := 0; at < len(code); at += slot {
		in, err := l.Decode(code[at:], 0x1000)
		if err != nil {
			continue
		}
		n++
		if in.String() == "" || len(in.Micros(nil)) == 0 {
			t.Errorf("% x: %v", code[at:at+slot], in)
		}
	}
	t.Logf("%d instructions", n)
}
