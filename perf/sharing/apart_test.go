package sharing

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/machine"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/trace"
)

// TestLayouts: of random parts, each byte has one place, no line has bytes of two threads,
// and no word comes to lie on two lines.
func TestLayouts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		const line, free = 64, 1 << 20
		var parts []part
		var objects []int32
		owner := make(map[uint64]int)
		for addr := uint64(4096); addr < 4096+6*line; {
			bytes := 1 + rng.Uint64N(20)
			bytes = min(bytes, line-addr%line)
			if p := (part{addr, bytes, rng.IntN(4) - 1}); rng.IntN(4) > 0 {
				parts, objects = append(parts, p), append(objects, int32(rng.IntN(3)))
				for b := range bytes {
					owner[addr+b] = p.Thread
				}
			}
			addr += bytes
		}
		from, to := layouts(parts, objects, line, free)
		taken := make(map[uint64]bool)
		lines := make(map[uint64]int)
		for addr := uint64(4000); addr < 4096+7*line; addr++ {
			moved := from.move(nil, trace.Tag(5, 1)+trace.Access(addr))
			if len(moved) != 1 || moved[0].Ref() != 5 {
				t.Fatalf("a byte becomes %v", moved)
			}
			at := moved[0].Addr()
			if taken[at] {
				t.Fatalf("two bytes at %#x", at)
			}
			taken[at] = true
			thread, moves := owner[addr]
			if moves != (at != addr) {
				t.Fatalf("%#x goes to %#x", addr, at)
			}
			if !moves {
				continue
			}
			if at < free || at%word != addr%word || from.at(addr) != to.at(at) || from.at(addr) < 0 {
				t.Fatalf("%#x goes to %#x, object %d to %d", addr, at, from.at(addr), to.at(at))
			}
			if other, known := lines[at/line]; known && other != thread {
				t.Fatalf("threads %d and %d on one line", other, thread)
			}
			lines[at/line] = thread
		}
		// A wider access comes to the lines of its bytes, once each or more.
		addr, size := 4096+rng.Uint64N(5*line), uint8(1)<<rng.IntN(6)
		want, got := make(map[uint64]bool), make(map[uint64]bool)
		for b := range uint64(size) {
			want[from.move(nil, trace.Tag(5, 1)+trace.Access(addr+b))[0].Addr()/line] = true
		}
		for _, a := range from.move(nil, trace.Tag(5, size)+trace.Access(addr)) {
			for b := a.Addr() / line; b <= a.Last()/line; b++ {
				got[b] = true
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%d bytes at %#x: lines %v, want %v", size, addr, got, want)
		}
		for b := range want {
			if !got[b] {
				t.Fatalf("%d bytes at %#x: lines %v, want %v", size, addr, got, want)
			}
		}
	})
}

// TestParts: bytes are of the thread that made most accesses since the block was missed
// first, whoever set them before.
func TestParts(t *testing.T) {
	plan := &trace.Plan{Refs: []trace.Ref{{PC: 0, Size: 8, Kind: trace.Load}, {PC: 4, Size: 8, Kind: trace.Store}}}
	c := newCollector(plan, 64)
	access := func(thread int32, ref trace.RefID, addr uint64) {
		c.Observe(&trace.Batch{Thread: thread, Accesses: []trace.Access{trace.Tag(ref, 8) + trace.Access(addr)}})
	}
	for i := range uint64(8) { // one thread sets all
		access(9, 1, 128+8*i)
	}
	for range 10 {
		access(1, 1, 128) // each writes a word,
		access(2, 1, 136)
		access(1, 0, 160) // and both read another
		access(2, 0, 160)
		access(1, 1, 256) // a line of its own
	}
	access(9, 0, 128) // adds up
	access(9, 0, 136)
	c.result()
	want := []part{{128, 8, 1}, {136, 8, 2}, {160, 8, common}}
	got := c.parts()
	if len(got) != len(want) {
		t.Fatalf("parts %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("parts %v, want %v", got, want)
		}
	}
	if free := c.free(); free != 1<<14 { // what is accessed is in the first page of 256 lines
		t.Errorf("free from %#x", free)
	}
}

// TestApartIsThePaddedProgram: what the counters of four threads would gain is what the
// program with a line for each has less.
func TestApartIsThePaddedProgram(t *testing.T) {
	prog, zen4 := perftest.Built("planted")(t), profiletest.Machine(t, "zen4")
	const n = 100
	at := func(mend float64) []subject.Point { return []subject.Point{{"n": n, "mend": mend}} }
	opt := CacheOptions{RunOptions: subject.RunOptions{Store: store.Open(t.TempDir())}}
	rows, err := SimulateApart(t.Context(), prog, zen4, at(3), opt)
	if err != nil {
		t.Fatal(err)
	}
	gain, levels := 0.0, 0
	for _, r := range rows {
		switch {
		case r.Object == "main.hits" && !r.Library && r.Scope == "main.count/loop@parts.go:210-211":
			levels++
			if gain == 0 {
				gain = r.Gain // of L1
			}
			if r.Low > r.Gain || r.Gain > r.Misses || r.Misses > r.All {
				t.Errorf("%+v", r)
			}
		case r.Object == "main.hits":
			t.Errorf("%+v", r)
		case r.Object == "runtime.sched" && !r.Library:
			t.Errorf("the runtime's own: %+v", r)
		}
	}
	if want := 4.0 * (n - 1); levels != 2 || math.Abs(gain-want) > 0.05*want {
		t.Errorf("a gain of %g misses at %d levels, want %g at 2", gain, levels, want)
	}
	mended, err := SimulateApart(t.Context(), prog, zen4, at(4), opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range mended {
		if r.Object == "main.hits" && r.Gain > 4 {
			t.Errorf("mended, and a gain of %g", r.Gain)
		}
	}
	wide := *zen4
	wide.Caches = append([]machine.Cache{}, zen4.Caches...)
	wide.Caches[0].BlockBytes = 128
	if _, err := SimulateApart(t.Context(), prog, &wide, at(3), opt); !errors.Is(err, ErrCaches) {
		t.Errorf("lines of 128 bytes: %v", err)
	}
}
