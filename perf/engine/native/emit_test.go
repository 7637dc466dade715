//go:build linux && amd64

package native

import (
	"testing"

	"pgregory.net/rapid"

	"presage/perf/isa/amd64"
)

// TestFit: code lies in as few aligned pieces as its length allows, and what is put before
// it are instructions that do nothing.
func TestFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.Uint64Range(0, 4*fetchBytes).Draw(t, "start")
		n := rapid.Uint64Range(1, 4*fetchBytes).Draw(t, "n")
		a := asm{mem: make([]byte, 2*fetchBytes), base: start}
		a.fit(n)
		first, last := a.addr()/fetchBytes, (a.addr()+n-1)/fetchBytes
		if got, want := last-first+1, (n+fetchBytes-1)/fetchBytes; got != want {
			t.Fatalf("%d bytes at %#x, moved to %#x, lie in %d pieces, want %d", n, start, a.addr(), got, want)
		}
		if a.p > 0 && (start%fetchBytes+n-1)/fetchBytes+1 == (n+fetchBytes-1)/fetchBytes {
			t.Fatalf("%d bytes at %#x were moved in vain", n, start)
		}
		for code := a.mem[:a.p]; len(code) > 0; {
			i, err := amd64.Decode(code)
			if err != nil || i.Name() != "nop" {
				t.Fatalf("% x: %v, %v", code, i.Name(), err)
			}
			code = code[i.Len:]
		}
	})
}
