package cache

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// PrefetchKind is the way a prefetcher foretells what will be asked for.
type PrefetchKind uint8

const (
	// NextLine fetches the blocks after one that missed, or that a prefetch brought in
	// and that is asked for the first time (tagged prefetching: Smith, Cache Memories,
	// 1982).
	NextLine PrefetchKind = iota
	// Stride keeps the last address and the last step of each instruction, and fetches
	// along the step once it has recurred (after the reference prediction table of Chen
	// and Baer, 1995, without its states).
	Stride
	// Stream follows the misses in a page up or down, and fetches ahead of them. It also
	// follows what the prefetchers of the levels above ask of its level.
	Stream
	// Pair fetches the other half of an aligned pair of blocks, when NextLine fetches
	// the next.
	Pair
)

var prefetchKinds = [...]string{NextLine: "next line", Stride: "stride", Stream: "stream", Pair: "pair"}

func (k PrefetchKind) String() string {
	if int(k) < len(prefetchKinds) {
		return prefetchKinds[k]
	}
	return fmt.Sprintf("PrefetchKind(%d)", uint8(k))
}

// ParsePrefetchKind returns the kind of the given name. Its error lists the names.
func ParsePrefetchKind(name string) (PrefetchKind, error) {
	if i := slices.Index(prefetchKinds[:], strings.ToLower(name)); i >= 0 {
		return PrefetchKind(i), nil
	}
	return 0, fmt.Errorf("no prefetcher %q; there are: %s", name, strings.Join(prefetchKinds[:], ", "))
}

// Prefetcher describes a hardware prefetcher. It never leaves the page of the access
// that it answers. Where a number is 0, the default stands for it.
type Prefetcher struct {
	Name  string
	Kind  PrefetchKind
	Level int // whose accesses it sees: an index of Config.Levels
	Into  int // into which it fetches: Level, or one below it; less than Level: Level

	// Degree is the number of blocks that it fetches at most at a time; default 1.
	Degree int
	// Distance is how far ahead it fetches, default 1: the first block fetched of
	// NextLine, in blocks; of Stride, in steps, each at least a block; of Stream, the
	// last one, in blocks.
	Distance int
	// Entries is the number of instructions or pages that it knows, default 16; the
	// one that it has not seen for longest gives way. NextLine and Pair know none.
	Entries int
	// Confidence is the number of equal steps, or of misses in one direction, after
	// which it begins; default 2.
	Confidence int
	// MaxStride is the largest step that it follows, in bytes; default none.
	MaxStride uint64
	// PageBytes is the size of pages, a power of two; default 4096.
	PageBytes uint64
}

// Prefetching describes all prefetchers of a hierarchy. After each access of the
// program, the blocks that they then want are fetched, in the order in which they were
// asked for; so are those that this makes prefetchers of levels below want. A block that
// Into holds is not fetched.
type Prefetching struct {
	Prefetchers []Prefetcher

	// Arrival has the time that a block takes, by where the prefetch finds it: a level, or
	// memory, which is the last. nil: no time, so that no prefetch is late. Time is in
	// accesses of the program, or in cycles if there is a Clock.
	Arrival []uint64
	Clock   *Clock
}

// Clock tells the time, in cycles, at which the program makes its accesses. Access k
// begins
//
//	begin(k) = max(begin(k-1) + PerAccess, complete(k-Window))
//	complete(k) = max(complete(k-1), begin(k) + wait(k))
//
// where wait is 0 for a hit, what is left until a late block arrives, and otherwise
// Arrival of where the block is found less that of the level where the access enters. So a
// core stops once the oldest of the accesses under way has not come for as long as the
// window takes to fill; misses within a window overlap (derived here, after Karkhanis and
// Smith, ISCA 2004). Not modelled: accesses that need the result of one before, but for
// what PerAccess has of it, and limits on the misses under way.
type Clock struct {
	PerAccess []float64 // by trace.RefID: cycles since the access before, if all hit
	Window    int       // accesses that are under way at once; less than 1: 1
}

// Prefetches counts the prefetches that a level did not hold. Each asks the level for a
// block that a demand access would have missed.
type Prefetches struct {
	// Fetched counts for the group whose access the prefetcher answered. Used are those
	// of Fetched whose block was asked for later, at this level or above, while it was
	// there or on its way.
	Fetched, Used uint64

	// Covered and Late count the same as Used, for the group that asked: the blocks that
	// were there, and those still on their way. Neither are in Counts.Misses. They are
	// misses saved, but for those that prefetches caused by taking the place of other
	// blocks.
	Covered, Late uint64

	// Wait is the time that Late ones took to arrive after they had been asked for, in
	// accesses or cycles as of Prefetching. That of a prefetch which several levels missed
	// is counted at the lowest, and, as accesses may wait together, is the most that the
	// program waited.
	Wait float64
}

// Useless returns the number of prefetches whose block was not asked for until it left,
// or the run ended.
func (p Prefetches) Useless() uint64 { return p.Fetched - p.Used }

func (p *Prefetches) add(o Prefetches) {
	p.Fetched += o.Fetched
	p.Used += o.Used
	p.Covered += o.Covered
	p.Late += o.Late
	p.Wait += o.Wait
}

const (
	maxPrefetch     = 1 << 12 // of each number of a Prefetcher
	prefetchLevels  = 32      // levels have bits
	defaultEntries  = 16
	defaultSeen     = 2
	defaultPageSize = 4096
)

func (p *Prefetching) check(levels []Level) error {
	if len(levels) > prefetchLevels {
		return fmt.Errorf("cache: %d levels; prefetching takes %d at most", len(levels), prefetchLevels)
	}
	for i := 1; i < len(levels); i++ {
		if levels[i].BlockBytes < levels[i-1].BlockBytes {
			return fmt.Errorf("cache: prefetching takes no level whose blocks are smaller than those above it, as those of %q are", levels[i].Name)
		}
	}
	if n := len(p.Arrival); n != 0 && n != len(levels)+1 {
		return fmt.Errorf("cache: prefetches have %d times of arrival, want one for each of %d levels and one for memory", n, len(levels))
	}
	if p.Clock != nil && p.Arrival == nil {
		return errors.New("cache: prefetches have a clock, and no times of arrival")
	}
	for i := range p.Prefetchers {
		if err := p.Prefetchers[i].check(levels); err != nil {
			return fmt.Errorf("cache: prefetcher %d (%q) %w", i+1, p.Prefetchers[i].Name, err)
		}
	}
	return nil
}

func (p *Prefetcher) check(levels []Level) error {
	if int(p.Kind) >= len(prefetchKinds) {
		return fmt.Errorf("has an unknown kind, %v", p.Kind)
	}
	if p.Level < 0 || p.Level >= len(levels) || p.Into >= len(levels) {
		return fmt.Errorf("is at level %d and fetches into level %d, of %d", p.Level+1, p.Into+1, len(levels))
	}
	into := levels[max(p.Level, p.Into)]
	if into.Filling != OnMiss {
		return fmt.Errorf("fetches into %q, which takes only what the level above evicts", into.Name)
	}
	if p.Level > 0 && levels[p.Level].Filling != OnMiss {
		return fmt.Errorf("is at %q, which takes only what the level above evicts", levels[p.Level].Name)
	}
	for _, x := range []struct {
		name string
		n    int
	}{{"degree", p.Degree}, {"distance", p.Distance}, {"number of entries", p.Entries}, {"confidence", p.Confidence}} {
		if x.n < 0 || x.n > maxPrefetch {
			return fmt.Errorf("has a %s of %d, want 1 to %d, or 0 for the default", x.name, x.n, maxPrefetch)
		}
	}
	if page := p.PageBytes; page&(page-1) != 0 || page != 0 && page < into.BlockBytes || page == 0 && into.BlockBytes > defaultPageSize {
		return fmt.Errorf("has pages of %d bytes, want a power of two of at least a block of %q", p.page(), into.Name)
	}
	return nil
}

func (p *Prefetcher) page() uint64 { return orDefault(p.PageBytes, defaultPageSize) }

func orDefault[T int | uint64](n, otherwise T) T {
	if n == 0 {
		return otherwise
	}
	return n
}

// clone returns a deep copy, with defaults in place.
func (p *Prefetching) clone() Prefetching {
	c := Prefetching{slices.Clone(p.Prefetchers), slices.Clone(p.Arrival), p.Clock}
	for i := range c.Prefetchers {
		x := &c.Prefetchers[i]
		x.Into = max(x.Into, x.Level)
		x.Degree, x.Distance = orDefault(x.Degree, 1), orDefault(x.Distance, 1)
		x.Entries, x.Confidence = orDefault(x.Entries, defaultEntries), orDefault(x.Confidence, defaultSeen)
		x.PageBytes = x.page()
	}
	return c
}
