package reuse

import (
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/sys/cpu"

	"presage/perf/trace"
)

// TestStayVector: four accesses at a time are counted as one by one, for lists that end
// anywhere, accesses that straddle two blocks or are larger than one, and references that
// the list does not have.
func TestStayVector(t *testing.T) {
	if !cpu.X86.HasAVX2 {
		t.Skip("the processor has no AVX2")
	}
	const refs = 9
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		shift := uint(rng.IntN(13))
		k := &stack{layout: layout{shift: shift}, stayed: make([]uint64, refs)}
		for log := range k.ends {
			k.ends[log] = endOf(log, shift)
		}
		block := rng.Uint64N(trace.AddrLimit >> shift)
		accesses := make([]trace.Access, rng.IntN(20))
		known := 0 // references up to the first that is not
		for i := range accesses {
			size := uint8(1) << min(rng.IntN(8), rng.IntN(int(shift)+2))
			addr := block<<shift + rng.Uint64N(1<<shift)
			if rng.IntN(2) == 0 {
				addr &^= uint64(size) - 1
			}
			if rng.IntN(30) == 0 {
				addr = rng.Uint64N(trace.AddrLimit)
			}
			ref := rng.IntN(refs)
			if rng.IntN(60) == 0 {
				ref += refs
			}
			accesses[i] = trace.Tag(trace.RefID(ref), size) | trace.Access(addr)
			if known == i && ref < refs {
				known++
			}
		}
		n := k.stay(accesses, block)
		got := slices.Clone(k.stayed)
		clear(k.stayed)
		if want := k.stayPlain(accesses[:known], block); n != want || !slices.Equal(got, k.stayed) {
			t.Fatalf("block %#x of %d bytes, %v: %d accesses, %v; one by one %d, %v", block, 1<<shift, accesses, n, got, want, k.stayed)
		}
	}
}
