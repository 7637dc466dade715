package cache

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"presage/perf/internal/perftest"
	"presage/perf/subject"
	"presage/perf/trace"
)

// wholePlan has loads and stores of three groups.
func wholePlan() *trace.Plan {
	return &trace.Plan{Refs: []trace.Ref{
		{PC: 0x10, Size: 8, Kind: trace.Load, Group: 0},
		{PC: 0x14, Size: 8, Kind: trace.Store, Group: 1},
		{PC: 0x18, Size: 8, Kind: trace.Load, Group: 2},
		{PC: 0x20, Size: 4, Kind: trace.ReadModifyWrite, Group: 0},
	}}
}

// drawHierarchy draws up to four levels of every filling that goes together.
func drawHierarchy(t *rapid.T) Config {
	var config Config
	for i := range rapid.IntRange(1, 4).Draw(t, "levels") {
		l := drawLevel(t, string(rune('A'+i)))
		l.BypassFloat = false
		if i > 0 {
			above := &config.Levels[i-1]
			l.BlockBytes = max(l.BlockBytes, above.BlockBytes)
			if rapid.Bool().Draw(t, "takes victims") {
				l.BlockBytes = above.BlockBytes
				l.Filling = rapid.SampledFrom([]Filling{Exclusive, Victims}).Draw(t, "filling")
			}
		}
		config.Levels = append(config.Levels, l)
		if l.Filling == OnMiss && i > 0 && config.checkInclusive(i) == nil {
			config.Levels[i].Inclusive = rapid.Bool().Draw(t, "inclusive")
		}
	}
	return config
}

func drawPrefetching(t *rapid.T, levels []Level) *Prefetching {
	p := new(Prefetching)
	var filled []int
	for i, l := range levels {
		if l.Filling == OnMiss {
			filled = append(filled, i)
		}
	}
	for range rapid.IntRange(1, 4).Draw(t, "prefetchers") {
		u := Prefetcher{
			Kind:       PrefetchKind(rapid.IntRange(0, 3).Draw(t, "kind")),
			Level:      rapid.SampledFrom(filled).Draw(t, "at"),
			Into:       rapid.SampledFrom(filled).Draw(t, "into"),
			Degree:     rapid.IntRange(0, 4).Draw(t, "degree"),
			Distance:   rapid.IntRange(0, 6).Draw(t, "distance"),
			Entries:    rapid.IntRange(0, 3).Draw(t, "entries"),
			Confidence: rapid.IntRange(0, 3).Draw(t, "confidence"),
			MaxStride:  rapid.SampledFrom([]uint64{0, 100, 2048}).Draw(t, "longest step"),
			PageBytes:  rapid.SampledFrom([]uint64{0, 512, 1 << 14}).Draw(t, "page"),
		}
		p.Prefetchers = append(p.Prefetchers, u)
	}
	if rapid.Bool().Draw(t, "takes time") {
		for range len(levels) + 1 {
			p.Arrival = append(p.Arrival, rapid.Uint64Range(0, 60).Draw(t, "time"))
		}
		if rapid.Bool().Draw(t, "has a clock") {
			p.Clock = &Clock{Window: rapid.IntRange(0, 9).Draw(t, "window")}
			for range wholePlan().Refs {
				p.Clock.PerAccess = append(p.Clock.PerAccess, float64(rapid.IntRange(0, 40).Draw(t, "cycles"))/8)
			}
		}
	}
	return p
}

// comparePlain holds a simulation against the plain one.
func comparePlain(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, plan *trace.Plan, config Config, accesses []trace.Access,
) *Result {
	r := simulate(t, plan, config, accesses)
	want := newPlain(plan, config)
	want.observe(accesses)
	for i, l := range r.Levels {
		if diff := cmp.Diff(want.levels[i].counts, l.Groups); diff != "" {
			t.Fatalf("%s of %+v: -want +got:\n%s", l.Name, config, diff)
		}
		if config.Prefetching == nil {
			continue
		}
		if diff := cmp.Diff(want.levels[i].pre, l.PrefetchedGroups); diff != "" {
			t.Fatalf("prefetches, %s of %+v: -want +got:\n%s", l.Name, config, diff)
		}
		if p := l.Prefetched; p.Covered+p.Late != p.Used || p.Used > p.Fetched {
			t.Fatalf("%s: %d covered and %d late of %d prefetches, %d of them used", l.Name, p.Covered, p.Late, p.Fetched, p.Used)
		}
	}
	return r
}

func TestFillingAgainstPlain(t *testing.T) {
	plan := wholePlan()
	rapid.Check(t, func(t *rapid.T) {
		config := drawHierarchy(t)
		accesses := drawAccesses(t, len(plan.Refs), 1000)
		r := comparePlain(t, plan, config, accesses)
		checkSingle(t, plan, config, accesses, r)
	})
}

func TestPrefetchingAgainstPlain(t *testing.T) {
	plan := wholePlan()
	useful := 0
	rapid.Check(t, func(t *rapid.T) {
		config := drawHierarchy(t)
		config.Prefetching = drawPrefetching(t, config.Levels)
		r := comparePlain(t, plan, config, drawAccesses(t, len(plan.Refs), 600))
		for _, l := range r.Levels {
			if l.Prefetched.Covered > 0 && l.Prefetched.Late > 0 {
				useful++
			}
		}
	})
	if useful == 0 && !testing.Short() { // one run in eight has, and -short makes twenty
		t.Error("no run had covered and late prefetches at a level")
	}
}

// walk returns count accesses of reference 0, a step apart.
func walk(from uint64, step int64, count int) []trace.Access {
	var all []trace.Access
	for i := range count {
		all = append(all, accessOf(0, uint64(int64(from)+int64(i)*step), 8))
	}
	return all
}

// TestPrefetchingByHand has what can be worked out by hand: pages of 64 blocks that are
// walked through, in a cache that holds them all.
func TestPrefetchingByHand(t *testing.T) {
	const base, pages = 1 << 20, 4
	up := walk(base, 8, pages*4096/8)
	down := walk(base+pages*4096-8, -8, pages*4096/8)
	for _, x := range []struct {
		name     string
		unit     Prefetcher
		accesses []trace.Access
		misses   uint64
		fetched  uint64
	}{
		// The first block of each page misses.
		{"next line up", Prefetcher{Kind: NextLine}, up, pages, pages * 63},
		// The block above is held, but that of the page's last one.
		{"next line down", Prefetcher{Kind: NextLine}, down, pages * 64, 0},
		{"pair", Prefetcher{Kind: Pair}, down, pages * 32, pages * 32},
		// A page is known after its first block, and the direction after two more.
		{"stream up", Prefetcher{Kind: Stream, Distance: 4, Degree: 2}, up, pages * 3, pages * 61},
		{"stream down", Prefetcher{Kind: Stream, Distance: 4, Degree: 2}, down, pages * 3, pages * 61},
		{"stream at once", Prefetcher{Kind: Stream, Confidence: 1, Distance: 4}, down, pages * 2, pages * 62},
		// Steps recur within the first block; the first block of a page is never fetched.
		{"stride up", Prefetcher{Kind: Stride}, up, pages, pages * 63},
		{"stride down", Prefetcher{Kind: Stride}, down, pages, pages * 63},
		{"stride, far", Prefetcher{Kind: Stride, Distance: 8}, down, pages * 8, pages * 56},
		// Every fourth block of a page: three train, then the first of each page misses.
		{"stride of 256", Prefetcher{Kind: Stride}, walk(base, 256, pages*16), 3 + 3, pages*15 - 2},
		{"too long", Prefetcher{Kind: Stride, MaxStride: 255}, walk(base, 256, pages*16), pages * 16, 0},
	} {
		config := Config{Levels: []Level{{Name: "L1", Blocks: 1024, BlockBytes: 64, Ways: 8}}, Prefetching: &Prefetching{Prefetchers: []Prefetcher{x.unit}}}
		r := comparePlain(t, wholePlan(), config, x.accesses).Levels[0]
		if r.Total.Misses != x.misses || r.Prefetched.Fetched != x.fetched || r.Prefetched.Useless() != 0 {
			t.Errorf("%s: %d misses, %+v; want %d misses and %d prefetches, none of them useless", x.name, r.Total.Misses, *r.Prefetched, x.misses, x.fetched)
		}
		if r.Prefetched.Late != 0 {
			t.Errorf("%s: %d are late, though they take no time", x.name, r.Prefetched.Late)
		}
	}
}

// TestLatePrefetches walks through blocks of 8 accesses each: with the next block
// fetched at the first of them, it is late if it takes more than 8.
func TestLatePrefetches(t *testing.T) {
	for time, late := range map[uint64]uint64{8: 0, 9: 63} {
		config := Config{Levels: []Level{{Name: "L1", Blocks: 1024, BlockBytes: 64, Ways: 8}}, Prefetching: &Prefetching{
			Prefetchers: []Prefetcher{{Kind: NextLine}}, Arrival: []uint64{0, time},
		}}
		r := comparePlain(t, wholePlan(), config, walk(1<<20, 8, 512)).Levels[0]
		if got := *r.Prefetched; got.Late != late || got.Covered != 63-late {
			t.Errorf("a block takes %d accesses: %+v, want %d of 63 late", time, got, late)
		}
	}
}

// TestClockByHand walks through blocks of 8 accesses of a cycle each, the next block
// fetched from memory at the first of them. The access after one that waits begins when
// that is over, as do the seven accesses of the block after it, so that with a block that
// takes 20 cycles, one in two waits for 12 cycles and the one after it for 1.
func TestClockByHand(t *testing.T) {
	for _, x := range []struct {
		window int
		time   uint64
		wait   float64
	}{
		{1, 8, 0},
		{1, 9, 62}, // the first miss takes as long as the second block
		{1, 20, 31 * (12 + 1)},
		{64, 8, 0},
		{600, 20, 63 * 12}, // it waits for nothing: all are as late as the first
	} {
		config := Config{Levels: []Level{{Name: "L1", Blocks: 1024, BlockBytes: 64, Ways: 8}}, Prefetching: &Prefetching{
			Prefetchers: []Prefetcher{{Kind: NextLine}}, Arrival: []uint64{0, x.time}, Clock: &Clock{PerAccess: []float64{1, 1, 1, 1}, Window: x.window},
		}}
		r := comparePlain(t, wholePlan(), config, walk(1<<20, 8, 512)).Levels[0]
		if got := *r.Prefetched; got.Wait != x.wait || (got.Late > 0) != (x.wait > 0) {
			t.Errorf("%+v: %+v, want %g cycles of waiting", x, got, x.wait)
		}
	}
	config := Config{Levels: []Level{{Name: "L1", Blocks: 4, BlockBytes: 64}}, Prefetching: &Prefetching{Arrival: []uint64{0, 9}, Clock: &Clock{PerAccess: []float64{1}}}}
	if _, err := New(wholePlan(), config); err == nil {
		t.Error("a clock of one reference for a plan of four: no error")
	}
	config.Prefetching.Arrival = nil
	if err := config.Check(); err == nil {
		t.Error("a clock without times of arrival: no error")
	}
}

// TestExclusiveIsOneStack: fully associative LRU levels of which the second is exclusive
// hold together what one of both sizes holds; those of a second that keeps copies are
// never fewer than of one of its own size, in a cyclic walk.
func TestExclusiveIsOneStack(t *testing.T) {
	plan := wholePlan()
	rapid.Check(t, func(t *rapid.T) {
		accesses := drawAccesses(t, len(plan.Refs), 1000)
		a, b := uint64(rapid.IntRange(1, 30).Draw(t, "first")), uint64(rapid.IntRange(1, 40).Draw(t, "second"))
		two := simulate(t, plan, Config{Levels: []Level{{Name: "a", Blocks: a, BlockBytes: 64}, {Name: "b", Blocks: b, BlockBytes: 64, Filling: Exclusive}}}, accesses)
		one := simulate(t, plan, Config{Levels: []Level{{Name: "ab", Blocks: a + b, BlockBytes: 64}}}, accesses)
		if got, want := two.Levels[1].Total.Misses, one.Levels[0].Total.Misses; got != want {
			t.Fatalf("%d misses of both, want %d", got, want)
		}
	})
}

func TestCheckFillingAndPrefetching(t *testing.T) {
	l1 := Level{Name: "L1", Blocks: 8, BlockBytes: 64}
	with := func(change func(c *Config)) Config {
		c := Config{Levels: []Level{l1, {Name: "L2", Blocks: 16, BlockBytes: 64}}, Prefetching: &Prefetching{Prefetchers: []Prefetcher{{Name: "p"}}}}
		change(&c)
		return c
	}
	for want, c := range map[string]Config{
		"none above":             with(func(c *Config) { c.Levels[0].Filling = Exclusive }),
		"64 bytes, not 128":      with(func(c *Config) { c.Levels[1].Filling, c.Levels[1].BlockBytes = Victims, 128 }),
		"cannot also include":    with(func(c *Config) { c.Levels[1].Filling, c.Levels[1].Inclusive = Victims, true }),
		"must be write-back":     with(func(c *Config) { c.Levels[1].Filling, c.Levels[1].WriteThrough = Victims, true }),
		"must allocate":          with(func(c *Config) { c.Levels[1].Filling, c.Levels[0].NoWriteAllocate = Victims, true }),
		"cannot pass by":         with(func(c *Config) { c.Levels[1].Filling, c.Levels[0].BypassFloat = Victims, true }),
		"unknown filling":        with(func(c *Config) { c.Levels[1].Filling = 9 }),
		"takes only what":        with(func(c *Config) { c.Levels[1].Filling, c.Prefetching.Prefetchers[0].Into = Exclusive, 1 }),
		"is at level 3":          with(func(c *Config) { c.Prefetching.Prefetchers[0].Level = 2 }),
		"unknown kind":           with(func(c *Config) { c.Prefetching.Prefetchers[0].Kind = 9 }),
		"degree of -1":           with(func(c *Config) { c.Prefetching.Prefetchers[0].Degree = -1 }),
		"pages of 32":            with(func(c *Config) { c.Prefetching.Prefetchers[0].PageBytes = 32 }),
		"times of arrival":       with(func(c *Config) { c.Prefetching.Arrival = []uint64{1} }),
		"whose blocks are small": with(func(c *Config) { c.Levels[1].BlockBytes = 32 }),
		"cannot include": {Levels: []Level{
			l1,
			{Name: "L2", Blocks: 16, BlockBytes: 64, Filling: Exclusive},
			{Name: "L3", Blocks: 32, BlockBytes: 64, Inclusive: true},
		}},
	} {
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	good := with(func(*Config) {})
	if err := good.Check(); err != nil {
		t.Error(err)
	}
}

// recorder keeps a part of a run's accesses.
type recorder struct {
	skip, most int
	accesses   []trace.Access
}

func (r *recorder) Observe(b *trace.Batch) {
	for _, a := range b.Accesses {
		switch {
		case r.skip > 0:
			r.skip--
		case len(r.accesses) < r.most:
			r.accesses = append(r.accesses, a)
		}
	}
}

// TestProgramsAgainstPlain compares hierarchies of the kinds of today's machines, but
// small ones, on a part of the runs of programs.
func TestProgramsAgainstPlain(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	levels := func(last Filling) []Level {
		return []Level{
			{Name: "L1", Blocks: 64, BlockBytes: 64, Ways: 8},
			{Name: "L2", Blocks: 256, BlockBytes: 64, Ways: 8},
			{Name: "L3", Blocks: 1024, BlockBytes: 64, Ways: 16, Filling: last},
		}
	}
	hierarchies := []Config{
		{Levels: levels(Exclusive), Prefetching: &Prefetching{Prefetchers: []Prefetcher{
			{Kind: Stream, Degree: 2, Distance: 4}, {Kind: Stride, Distance: 2, Entries: 64}, {Kind: Stream, Level: 1, Degree: 2, Distance: 16, Entries: 32},
		}, Arrival: []uint64{4, 14, 50, 286}}},
		{Levels: levels(OnMiss), Prefetching: &Prefetching{Prefetchers: []Prefetcher{
			{Kind: NextLine}, {Kind: Stride, Entries: 64, MaxStride: 2048}, {Kind: Stream, Level: 1, Into: 2, Degree: 2, Distance: 20}, {Kind: Pair, Level: 1},
		}, Arrival: []uint64{5, 15, 81, 300}}},
		{Levels: levels(Victims)},
	}
	hierarchies[1].Levels[1].Inclusive = true
	for name, args := range map[string][]string{"planted": {"-n", "64", "-quiet"}, "cg": {"-n", "24", "-iterations", "2"}} {
		prog := perftest.Built(name)(t)
		plan, err := prog.Plan()
		if err != nil {
			t.Fatal(err)
		}
		in, err := prog.InputsOf(args, subject.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r := &recorder{skip: 100_000, most: 150_000}
		if _, err := prog.Run(t.Context(), subject.Request{Inputs: in, Plan: plan, Collectors: []trace.Collector{r}}); err != nil {
			t.Fatal(err)
		}
		if len(r.accesses) != r.most {
			t.Fatalf("%s: only %d accesses", name, len(r.accesses))
		}
		for _, config := range hierarchies {
			for i, l := range comparePlain(t, plan, config, r.accesses).Levels {
				if config.Prefetching != nil && i < 2 && (l.Prefetched.Covered == 0 || l.Prefetched.Late == 0 || l.Prefetched.Useless() == 0) {
					t.Errorf("%s, %s: %+v: nothing to compare", name, l.Name, *l.Prefetched)
				}
			}
		}
	}
}
