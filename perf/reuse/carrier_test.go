package reuse

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"presage/perf/trace"
)

// nested is a random program of loops and calls that executes itself, with the
// carriers of its reuses by times: the oracle.
type nested struct {
	rng      *rand.Rand
	plan     *trace.Plan
	nest     *Nest
	routines []item // each calls only later ones
	loops    int32

	batch trace.Batch
	sites map[trace.BlockID][]uint64 // addresses of its latest execution
	time  int
	last  map[uint64]int   // block → time
	from  map[uint64]int32 // block → the source of its last access
	born  map[uint64]int32 // block → the birth of its first access
	lru   []uint64
	stack []nestedLoop
	want  map[string]uint64
	each  []string // of the batch's block accesses
	pause func()   // after a block, where another thread may run

	memory *movable // nil: it does not change
}

// movable is memory that changes, word by word: a change of a range gives it to the
// object of its PC.
type movable [800]int32

func newMovable() *movable {
	m := new(movable)
	for i := range m {
		m[i] = -1
	}
	return m
}

func (m *movable) Apply(changes []trace.Change) (moved bool) {
	for _, c := range changes {
		for i := c.Addr / 8; i < (c.Addr+c.Size)/8; i++ {
			moved = moved || m[i] != int32(c.PC)
			m[i] = int32(c.PC)
		}
	}
	return moved
}

func (m *movable) At(addr uint64) trace.Extent {
	i := addr / 8
	lo, hi := i, i+1
	for lo > 0 && m[lo-1] == m[i] {
		lo--
	}
	for hi < uint64(len(m)) && m[hi] == m[i] {
		hi++
	}
	return trace.Extent{Object: m[i], Lo: lo * 8, Hi: hi * 8}
}

func (m *movable) Names() []string { return []string{"a", "b", "c"} }

// change changes memory before the next batch.
func (n *nested) change() {
	if n.memory == nil {
		return
	}
	for range n.rng.IntN(3) {
		at := n.rng.Uint64N(600)
		n.batch.Changes = append(n.batch.Changes, trace.Change{Addr: 8 * at, Size: 8 * n.rng.Uint64N(200), PC: trace.PC(n.rng.IntN(3))})
	}
	n.memory.Apply(n.batch.Changes)
}

// nestedLoop is a loop being executed.
type nestedLoop struct {
	loop             int32
	entry, iteration int
}

// item is a block, a loop, a call or a sequence.
type item struct {
	block trace.BlockID
	loop  int32 // -1: no loop
	call  int   // -1: no call
	body  []item
}

func newNested(seed uint64) *nested {
	n := &nested{
		rng: rand.New(rand.NewPCG(seed, 1)), plan: new(trace.Plan), nest: new(Nest),
		last: make(map[uint64]int), from: make(map[uint64]int32), born: make(map[uint64]int32), want: make(map[string]uint64), sites: make(map[trace.BlockID][]uint64),
	}
	const routines = 3
	for r := range int32(routines) {
		body := []item{n.newBlock(Place{Routine: r, Entry: true})}
		body = append(body, n.sequence(r, nil, routines)...)
		body = append(body, n.newBlock(Place{Routine: r})) // it returns outside its loops
		n.routines = append(n.routines, item{loop: -1, call: -1, body: body})
	}
	return n
}

func (n *nested) newBlock(p Place) item {
	id := trace.BlockID(len(n.plan.Blocks))
	refs := 1 + n.rng.Uint32N(3)
	n.plan.Blocks = append(n.plan.Blocks, trace.Block{PC: trace.PC(64 * id), Instructions: 4, Refs: refs})
	for i := range refs {
		n.plan.Refs = append(n.plan.Refs, trace.Ref{PC: trace.PC(64*uint32(id) + 4*i), Size: 8, Group: trace.GroupID(n.rng.IntN(3))})
	}
	n.nest.Places = append(n.nest.Places, p)
	return item{block: id, loop: -1, call: -1}
}

func (n *nested) sequence(routine int32, loops []int32, routines int) (list []item) {
	block := func() { list = append(list, n.newBlock(Place{Routine: routine, Loops: loops})) }
	for range 1 + n.rng.IntN(3) {
		switch {
		case n.rng.IntN(2) == 0 && len(loops) < 3:
			inner := append(slices.Clone(loops), n.loops)
			x := item{loop: n.loops, call: -1}
			n.loops++
			x.body = append(x.body, n.newBlock(Place{Routine: routine, Loops: inner, Header: true}))
			if n.rng.IntN(3) > 0 { // else it is a loop of one block
				x.body = append(x.body, n.sequence(routine, inner, routines)...)
			}
			list = append(list, x)
		case n.rng.IntN(3) == 0 && int(routine)+1 < routines:
			block()
			list = append(list, item{loop: -1, call: int(routine) + 1 + n.rng.IntN(routines-int(routine)-1)})
			block()
		default:
			block()
		}
	}
	return list
}

func (n *nested) run(list []item) {
	for i := range list {
		switch x := &list[i]; {
		case n.time > 4000:
			return
		case x.call >= 0:
			n.run(n.routines[x.call].body)
		case x.loop >= 0:
			n.stack = append(n.stack, nestedLoop{loop: x.loop, entry: n.time})
			for range 1 + n.rng.IntN([]int{5, 5, 30}[n.rng.IntN(3)]) {
				n.stack[len(n.stack)-1].iteration = n.time
				n.run(x.body)
			}
			n.stack = n.stack[:len(n.stack)-1]
		default:
			n.execute(x.block)
		}
	}
}

func (n *nested) execute(id trace.BlockID) {
	n.batch.Blocks = append(n.batch.Blocks, id)
	first := slices.IndexFunc(n.plan.Refs, func(r trace.Ref) bool { return r.PC == n.plan.Blocks[id].PC })
	sites := n.sites[id]
	stays := len(sites) > 0 && n.rng.IntN(4) > 0 // it mostly accesses the same blocks again
	if !stays {
		sites = make([]uint64, n.plan.Blocks[id].Refs)
	}
	for i := range sites {
		ref := first + i
		if stays {
			sites[i] = sites[i]&^63 + 8*n.rng.Uint64N(8)
		} else {
			sites[i] = 8 * n.rng.Uint64N([]uint64{8, 100, 700}[n.rng.IntN(3)])
		}
		if n.rng.IntN(8) == 0 {
			sites[i] = sites[i]&^63 + 60 // it straddles
		}
		a := access(ref, sites[i], 8)
		n.batch.Accesses = append(n.batch.Accesses, a)
		for block := a.Addr() / 64; block <= a.Last()/64; block++ {
			n.reuse(max(a.Addr(), block*64), n.plan.Refs[ref].Group, ref)
		}
	}
	n.sites[id] = sites
	if n.pause != nil {
		n.pause()
	}
}

// turns runs the program in several threads that take turns, and hands each
// turn's batch over.
func (n *nested) turns(threads int, observe func()) {
	next := make([]func() (struct{}, bool), threads)
	pauses, stacks := make([]func(), threads), make([][]nestedLoop, threads)
	for i := range threads {
		next[i], _ = iter.Pull(func(yield func(struct{}) bool) {
			pauses[i] = func() { yield(struct{}{}) }
			n.pause = pauses[i]
			for n.time < 3000 {
				n.run(n.routines[0].body[1:])
			}
		})
	}
	for n.time < 3000 {
		i := n.rng.IntN(threads)
		n.stack, n.pause, n.batch.Thread = stacks[i], pauses[i], int32(i)
		for range 1 + n.rng.IntN(30) {
			next[i]()
		}
		stacks[i] = n.stack
		observe()
	}
	n.time = math.MaxInt / 2 // what is left returns
	for i := range next {
		n.stack, n.pause = stacks[i], pauses[i]
		for ok := true; ok; {
			_, ok = next[i]()
		}
	}
}

// nestedObjects are the objects of nested programs: within a block, across the
// bounds of blocks, and with gaps.
var nestedObjects = []Object{{1000, 2000, true}, {8, 24, false}, {64, 960, false}, {2000, 5000, true}}

func nestedObject(addr uint64) int {
	return slices.IndexFunc(nestedObjects, func(o Object) bool { return addr >= o.Lo && addr < o.Hi })
}

// nestedSource is the scope that a reference of a nested program is in.
func nestedSource(ref int) int32 { return int32(ref / 2) }

// nestedBirth is the birth that a reference of a nested program gives.
func nestedBirth(ref int) int32 { return int32(ref % 4) }

func (n *nested) reuse(addr uint64, group trace.GroupID, ref int) {
	block, object := addr/64, nestedObject(addr)
	moved := false
	if n.memory != nil {
		if of := n.memory.At(addr).Object; of >= 0 {
			object, moved = len(nestedObjects)+int(of), true
		}
	}
	last, again := n.last[block]
	source, ok := n.from[block]
	if !ok {
		source = NoSource
		n.born[block] = nestedBirth(ref)
	}
	n.from[block] = nestedSource(ref)
	birth := int32(NoBirth)
	if object >= 0 && !moved && nestedObjects[object].ByBirth {
		birth = n.born[block]
	}
	n.last[block] = n.time
	d := slices.Index(n.lru, block)
	if again {
		n.lru = slices.Delete(n.lru, d, d+1)
		loop, crosses := int32(NoLoop), false
		for i := len(n.stack) - 1; i >= 0; i-- {
			if l := n.stack[i]; last >= l.entry {
				loop, crosses = l.loop, last < l.iteration
				break
			}
		}
		n.each = append(n.each, fmt.Sprint(group, loop, crosses, object, source, birth))
		n.want[fmt.Sprint(group, loop, crosses, object, source, birth, d)]++
	} else {
		n.each = append(n.each, fmt.Sprint(group, NoLoop, false, object, source, birth))
		n.want[fmt.Sprint(group, NoLoop, false, object, source, birth, "cold")]++
	}
	n.lru = slices.Insert(n.lru, 0, block)
	n.time++
}

// carriedBy counts the accesses of a result as a nested program does; with ofAll,
// those of all sources together.
func carriedBy(r *Result, ofAll bool) map[string]uint64 {
	got := make(map[string]uint64)
	for _, x := range r.Carried {
		source, birth := any(x.Source), any(x.Birth)
		if ofAll {
			source, birth = "", ""
		}
		for _, b := range x.Bins {
			got[fmt.Sprint(x.Group, x.Loop, x.Crosses, x.Object, source, birth, b.Lo)] += b.Count // one distance a bin: fewer than 512 blocks
		}
		if x.Cold > 0 {
			got[fmt.Sprint(x.Group, x.Loop, x.Crosses, x.Object, source, birth, "cold")] += x.Cold
		}
	}
	return got
}

// divided returns the parts of a batch, of at most most blocks each.
func divided(b *trace.Batch, plan *trace.Plan, rng *rand.Rand, most int) (parts []*trace.Batch) {
	part := &trace.Batch{Thread: b.Thread, Changes: b.Changes}
	left := 1 + rng.IntN(most)
	i := 0
	for id, accesses := range b.ByBlock(plan) {
		part.Blocks, part.Accesses = append(part.Blocks, id), append(part.Accesses, accesses...)
		if len(b.Counts) > 0 {
			part.Counts = append(part.Counts, b.Counts[i])
		}
		i++
		if left--; left == 0 {
			parts = append(parts, part)
			part = &trace.Batch{Thread: b.Thread}
			left = 1 + rng.IntN(most)
		}
	}
	return append(parts, part)
}

// TestCarriers compares carriers and sources found from distances with those found
// from times.
func TestCarriers(t *testing.T) {
	repeated := 0
	defer func() {
		if repeated == 0 {
			t.Error("no program has iterations that repeat")
		}
	}()
	rapid.Check(t, func(t *rapid.T) {
		n := newNested(rapid.Uint64().Draw(t, "seed"))
		full := Options{Nest: n.nest, Objects: nestedObjects}
		for i := range n.plan.Refs {
			full.Sources, full.Births = append(full.Sources, nestedSource(i)), append(full.Births, nestedBirth(i))
		}
		changes := rapid.Bool().Draw(t, "memory changes")
		if changes {
			n.memory = newMovable()
		}
		var all []*Collector
		for _, opt := range []Options{full, {Nest: n.nest, Objects: nestedObjects}, {}} {
			if changes && opt.Nest != nil {
				opt.Memory = newMovable()
			}
			c, err := New(n.plan, opt)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		if changes {
			full.Memory = newMovable()
		}
		each, err := NewClassifier(n.plan, full)
		if err != nil {
			t.Fatal(err)
		}
		full.Memory, full.Workers = nil, rapid.IntRange(2, 4).Draw(t, "workers")
		if changes {
			full.NewMemory = func() Memory { return newMovable() }
		}
		tune := tuning{window: rapid.SampledFrom([]int{1, 1000}).Draw(t, "window"), cut: rapid.IntRange(1, 4000).Draw(t, "cut")}
		many, err := newCollector(n.plan, full, tune)
		if err != nil {
			t.Fatal(err)
		}
		most := rapid.IntRange(1, 200).Draw(t, "blocks in a part")
		observe := func() {
			for _, c := range all {
				c.Observe(&n.batch)
			}
			for i, b := range divided(&n.batch, n.plan, n.rng, most) {
				if i%2 == 0 {
					many.Observe(b)
					continue
				}
				lent := *b
				lent.Accesses, lent.Blocks = slices.Clone(b.Accesses), slices.Clone(b.Blocks)
				many.Hold(&lent, func() { clear(lent.Accesses); clear(lent.Blocks) })
			}
			var classes []string
			for _, x := range each.Classify(&n.batch) {
				x := each.Class(x)
				classes = append(classes, fmt.Sprint(x.Group, x.Loop, x.Crosses, x.Object, x.Source, x.Birth))
			}
			if diff := cmp.Diff(n.each, classes); diff != "" {
				t.Fatalf("-by times +classes:\n%s", diff)
			}
			n.batch.Reset()
			n.each = n.each[:0]
			n.change()
		}
		if threads := rapid.IntRange(1, 3).Draw(t, "threads"); threads > 1 {
			n.turns(threads, observe)
		}
		for n.time < 3000 {
			n.run(n.routines[0].body[1:]) // as if in a loop that is not in the Nest
			observe()
		}
		if all[0].method.(*carriers).repeats.batch.Accesses != nil {
			repeated++
		}
		r := all[0].Result()
		if diff := cmp.Diff(r, many.Result()); diff != "" {
			t.Fatalf("-one worker +%d:\n%s", full.Workers, diff)
		}
		if diff := cmp.Diff(n.want, carriedBy(r, false)); diff != "" {
			t.Fatalf("-by times +by distances:\n%s", diff)
		}
		sums := make([]Histogram, len(r.Groups))
		for _, x := range r.Carried {
			sums[x.Group] = sums[x.Group].merge(&x.Histogram)
		}
		if diff := cmp.Diff(r.Groups, sums); diff != "" {
			t.Fatalf("-groups +sums of what is carried:\n%s", diff)
		}
		if diff := cmp.Diff(carriedBy(r, true), carriedBy(all[1].Result(), true)); diff != "" {
			t.Fatalf("-with sources +without:\n%s", diff)
		}
		if r.Carried = nil; changes != (len(r.Memory) == 3) {
			t.Fatalf("names %q", r.Memory)
		}
		r.Memory = nil
		if diff := cmp.Diff(all[2].Result(), r); diff != "" {
			t.Fatalf("-without carriers +with:\n%s", diff)
		}
	})
}

func TestNestRefuses(t *testing.T) {
	plan := planOf(0)
	withBlock := planOf(0)
	withBlock.Blocks = []trace.Block{{PC: 0x1000, Refs: 1}}
	one := &Nest{Places: make([]Place, 1)}
	for name, try := range map[string]struct {
		plan *trace.Plan
		opt  Options
	}{
		"places": {withBlock, Options{Nest: new(Nest)}}, "no blocks": {plan, Options{Nest: new(Nest)}},
		"object without a nest": {withBlock, Options{Objects: []Object{{Lo: 1, Hi: 2}}}},
		"memory without a nest": {withBlock, Options{Memory: newMovable()}}, "memory in odd blocks": {withBlock, Options{Nest: one, Memory: newMovable(), BlockBytes: 48}},
		"overlapping objects": {withBlock, Options{Nest: one, Objects: []Object{{Lo: 8, Hi: 16}, {Lo: 0, Hi: 9}}}},
		"empty object":        {withBlock, Options{Nest: one, Objects: []Object{{Lo: 8, Hi: 8}}}},
		"few sources":         {withBlock, Options{Nest: one, Sources: []int32{}}}, "a scope below 0": {withBlock, Options{Nest: one, Sources: []int32{-1}}},
		"sources without a nest": {withBlock, Options{Sources: []int32{0}}},
		"births without sources": {withBlock, Options{Nest: one, Births: []int32{0}}},
		"workers":                {withBlock, Options{Nest: one, Workers: 2}}, "a memory for workers": {withBlock, Options{Nest: one, Sources: []int32{0}, Memory: newMovable(), Workers: 2}},
		"sampling": {withBlock, Options{Nest: one, SampleOneIn: 2}},
	} {
		if _, err := New(try.plan, try.opt); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// BenchmarkCarriers measures what carriers cost: x-plain is the processor time over
// that of distances alone, in the same run, for the streams of three references.
func BenchmarkCarriers(b *testing.B) {
	for _, s := range streams {
		if s.pattern != "triad" && s.pattern != "matmul" {
			continue
		}
		b.Run("pattern="+s.pattern, func(b *testing.B) {
			runtime.LockOSThread() // its processor time is measured
			defer runtime.UnlockOSThread()
			accesses := s.make()
			accesses = accesses[:len(accesses)/3*3]
			plan := planOf(0, 1, 2)
			plan.Blocks = []trace.Block{{PC: 0x1000, Refs: 3}}
			nest := &Nest{Places: []Place{{Loops: []int32{0, 1}, Header: true}}}
			var took [2]time.Duration
			for b.Loop() {
				for i, opt := range []Options{{}, {Nest: nest}} {
					c, err := New(plan, opt)
					if err != nil {
						b.Fatal(err)
					}
					batch := new(trace.Batch)
					start := now()
					for rest := accesses; len(rest) > 0; {
						n := min(len(rest), trace.BatchAccesses/3*3)
						batch.Accesses, rest = rest[:n], rest[n:]
						batch.Blocks = make([]trace.BlockID, n/3)
						c.Observe(batch)
					}
					took[i] += now() - start
				}
			}
			b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "x-plain")
			b.ReportMetric(0, "ns/op")
		})
	}
}
