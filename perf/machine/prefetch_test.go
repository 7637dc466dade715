package machine

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/cache"
)

// ahead is a description with prefetchers and an exclusive level.
const ahead = `title: Ahead
processor: P
caches:
  - {name: L1, capacity: 32 KiB, block: 64 B, ways: 8, latency: 4 cycles, source: [made]}
  - {name: L2, capacity: 1 MiB, block: 64 B, ways: 8, inclusion: inclusive, source: [made]}
  - {name: L3, capacity: 8 MiB, block: 64 B, ways: 16, inclusion: exclusive, latency: 50 cycles, source: [made]}
memory:
  restart_latency: 200 cycles
  source: [made]
prefetch:
  - {name: steps, kind: stride, at: L1, into: L2, degree: 2, distance: 3, entries: 5, confidence: 4, max_stride: 2 KiB, page: 16 KiB, source: [made]}
  - {name: ones, kind: next line, at: L2, source: [made]}
sources:
  made: up
`

func TestParsePrefetchers(t *testing.T) {
	m, err := Parse("ahead.yaml", []byte(ahead))
	if err != nil {
		t.Fatal(err)
	}
	var inclusions []string
	for i := range m.Caches {
		inclusions = append(inclusions, m.Caches[i].Inclusion())
	}
	if want := []string{"non-inclusive", "inclusive", "exclusive"}; !slices.Equal(inclusions, want) {
		t.Errorf("%v, want %v", inclusions, want)
	}
	want := &cache.Prefetching{
		Prefetchers: []cache.Prefetcher{
			{Name: "steps", Kind: cache.Stride, Into: 1, Degree: 2, Distance: 3, Entries: 5, Confidence: 4, MaxStride: 2048, PageBytes: 16 << 10},
			{Name: "ones", Kind: cache.NextLine, Level: 1, Into: 1},
		},
		Arrival: []uint64{2, 2, 25, 100},
	}
	c, err := m.Prefetching(0.5)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, c.Config.Prefetching); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"latency of L2 not known: prefetches from there arrive after 4 cycles"}, c.Assumed); diff != "" {
		t.Error(diff)
	}
	if m.Hierarchy().Prefetching != nil {
		t.Error("prefetchers without being asked for")
	}
	if text := m.Explain(); !strings.Contains(text, "steps: stride, of accesses to L1 into L2, degree 2, distance 3, entries 5, confidence 4, steps of at most 2 KiB, in pages of 16 KiB.") {
		t.Error(text)
	}
	m.Prefetchers = nil
	if _, err := m.Prefetching(0); !errors.Is(err, ErrNoPrefetchers) {
		t.Errorf("without prefetchers: %v", err)
	}
}

func TestParsePrefetcherErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"inclusion: inclusive", "inclusion: both", `ahead.yaml:5:66: inclusion: "both" is none of non-inclusive, inclusive, exclusive and victim`},
		{"inclusion: inclusive", "inclusion: inclusive, inclusive: true", "leave the latter out"},
		{"L3, capacity: 8 MiB, block: 64 B", "L3, capacity: 8 MiB, block: 128 B", "whose blocks have 64 bytes, not 128"},
		{"kind: stride", "kind: psychic", `ahead.yaml:11:25: no prefetcher "psychic"; there are: next line, stride, stream, pair`},
		{"at: L2", "at: L9", `ahead.yaml:12:39: no cache is called "L9"`},
		{"at: L2, source", "at: L2, into: L1, source", "above L2"},
		{"at: L2, source", "at: L2, into: L3, source", `"L3", which takes only what the level above evicts`},
		{"at: L2, source", "at: L2, entries: 3, source", "entries and confidence are of prefetchers of kind stride and stream"},
		{"at: L2, source", "at: L2, max_stride: 3 B, source", "max_stride is of prefetchers of kind stride"},
		{"at: L2, source: [made]", "at: L2", "source is missing"},
		{"at: L2, source", "source", "at is missing"},
		{"name: ones", "name: steps", `"steps" is the name of two prefetchers`},
		{"degree: 2", "degree: -2", "degree of -2"},
		{"page: 16 KiB", "page: 5000 B", "pages of 5000 bytes"},
		{"distance: 3", "distances: 3", `unknown field "distances"`},
	} {
		if !strings.Contains(ahead, c.old) {
			t.Fatalf("no %q to replace", c.old)
		}
		_, err := Parse("ahead.yaml", []byte(strings.Replace(ahead, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q:\n got %v\nwant %s", c.new, c.old, err, c.want)
		}
	}
	m, err := Parse("ahead.yaml", []byte(ahead))
	if err != nil {
		t.Fatal(err)
	}
	for _, rate := range []float64{-1, 1000} {
		if _, err := m.Prefetching(rate); err == nil || !strings.Contains(err.Error(), "accesses per cycle") {
			t.Errorf("%g accesses per cycle: %v", rate, err)
		}
	}
}
