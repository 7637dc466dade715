package target

import (
	"math"
	"testing"

	"presage/perf/iperf"
)

// Frames in fragments: pages take neighbouring frames in the order of first touch,
// whatever their numbers, runs have the mean length that was asked for, and a page
// keeps its frame.
func TestFragments(t *testing.T) {
	const pages, mean = 1 << 16, 16.0
	c := Config{System: &iperf.System{Placement: iperf.Fragmented}, FragmentPages: mean}
	f := framerOf(&c, 7)
	page := func(i uint64) uint64 { return i * 977 % pages } // any order
	first := make([]uint64, pages)
	runs := 1.0
	for i := range uint64(pages) {
		first[i] = f.frame(page(i))
		if i > 0 && first[i] != first[i-1]+1 {
			runs++
		}
	}
	// The number of runs is binomial; five standard deviations.
	want := pages / mean
	if math.Abs(runs-want) > 5*math.Sqrt(want*(1-1/mean)) {
		t.Errorf("%g runs of %d frames, want about %g", runs, pages, want)
	}
	for i := range uint64(pages) {
		if again := f.frame(page(i)); again != first[i] {
			t.Fatalf("page %d is in frame %d, and was in %d", page(i), again, first[i])
		}
	}
	if other := framerOf(&c, 8); other.frame(0) == first[0] {
		t.Error("another seed gives the same first frame")
	}
	c.FragmentPages = math.Inf(1)
	whole := framerOf(&c, 7)
	begin := whole.frame(page(0))
	for i := range uint64(pages) {
		if whole.frame(page(i)) != begin+i {
			t.Fatal("an endless fragment has a gap")
		}
	}
	c.System.Placement = iperf.Coloured
	if framerOf(&c, 7) != nil {
		t.Error("coloured pages are moved")
	}
}

// One whole fragment has the misses of coloured pages in a cache whose colours all
// begin at the same place: conflicts are those of neighbouring pages alone.
func TestWholeFragmentsMeetLikeColouredPages(t *testing.T) {
	s := &iperf.System{
		Name: "small", Frequency: 1, MemoryLatency: 50,
		Levels: []iperf.Level{
			{Name: "L1", Sets: 2, BlockBytes: 32, Ways: 1, LatencyCycles: 1},
			{Name: "L2", Sets: 2048, BlockBytes: 32, Ways: 1, LatencyCycles: 10, Physical: true},
		},
		TLB: iperf.TLB{Entries: 64, PageBytes: 4096, MissSeconds: 1},
	}
	misses := func(placement iperf.Placement, mean float64) uint64 {
		s.Placement = placement
		p, err := New(Config{System: s, FragmentPages: mean, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			for at := uint64(0); at < 24*4096; at += 32 { // 24 pages in a cache of 16
				p.Load(1<<20 + at)
			}
		}
		return p.Counts().Misses[1]
	}
	if whole, coloured := misses(iperf.Fragmented, 1e18), misses(iperf.Coloured, 0); whole != coloured {
		t.Errorf("%d misses in one fragment, %d of coloured pages", whole, coloured)
	}
	if loose, coloured := misses(iperf.Fragmented, 1), misses(iperf.Coloured, 0); loose == coloured {
		t.Errorf("%d misses in fragments of one page, as many as of coloured pages", loose)
	}
}
