package allocation

import (
	"testing"

	"pgregory.net/rapid"

	"presage/perf/objfile"
	"presage/perf/trace"
)

// space is the memory of a test: 6 MiB from where a chunk begins, in words.
const (
	spaceBase  = 7 << chunkBits
	spaceWords = 3 << (chunkBits - granuleBits)
)

// TestTable compares a table with one word for each word of memory, over random
// allocations, frees, mappings and what is fixed.
func TestTable(t *testing.T) {
	file, err := objfile.Open("../subject/testdata/sized.elf")
	if err != nil {
		t.Fatal(err)
	}
	var sites [][]trace.PC
	known := make(map[string]bool)
	for _, r := range file.Routines {
		site := []trace.PC{trace.PC(r.Addr + 1)}
		if name := siteOf(file, site); !known[name] && len(sites) < 4 {
			known[name], sites = true, append(sites, site)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		table := New(file)
		words := make([]int32, spaceWords)
		for i := range words {
			words[i] = None
		}
		stack := trace.Change{Kind: trace.Stacked, Addr: spaceBase + 5<<20 + 8, Size: 1 << 19}
		table.Apply([]trace.Change{stack})
		live := make(map[uint64]uint64)
		var count, bytes, living uint64
		for range rapid.IntRange(1, 60).Draw(t, "changes") {
			size := uint64(rapid.SampledFrom([]int{1, 8, 24, 4096, 5000, 1 << 20, 1 << 21, 3 << 20}).Draw(t, "size"))
			at := rapid.Uint64Range(0, 6<<20-size).Draw(t, "at") &^ 7
			if rapid.Bool().Draw(t, "round") {
				at = at >> 20 << 20
			}
			at = min(at, (6<<20-size)&^7)
			c := trace.Change{Kind: trace.Allocated, Addr: spaceBase + at, Size: size}
			from, to := at/8, (at+size+7)/8
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				c.Kind = trace.Freed
				living -= live[c.Addr]
				delete(live, c.Addr)
				to = from // nothing moves
			case 1:
				c.Kind = trace.Unmapped
				living -= live[c.Addr]
				delete(live, c.Addr)
			default:
				c.Callers = rapid.SampledFrom(sites).Draw(t, "site")
				count, bytes, living = count+1, bytes+size, living+size-live[c.Addr]
				live[c.Addr] = size
			}
			moved := table.Apply([]trace.Change{c})
			want := false
			object := int32(None)
			if c.Kind == trace.Allocated {
				object = table.byName[Prefix+siteOf(file, c.Callers)]
			}
			for i := from; i < to; i++ {
				want = want || words[i] != object
				words[i] = object
			}
			if want && !moved {
				t.Fatalf("%+v: memory moved, and Apply says it did not", c)
			}
			for range 20 {
				checkAt(t, table, words, &stack, rapid.Uint64Range(0, 6<<20-1).Draw(t, "addr"))
			}
			checkAt(t, table, words, &stack, at)
			checkAt(t, table, words, &stack, min(at+size, 6<<20-1))
		}
		var got Object
		for _, o := range table.Objects() {
			got.Count, got.Bytes, got.Live = got.Count+o.Count, got.Bytes+o.Bytes, got.Live+o.Live
			if o.Site() && (o.Size < o.Live || o.Size > o.Bytes) {
				t.Fatalf("%+v", o)
			}
		}
		if got.Count != count || got.Bytes != bytes || got.Live != living {
			t.Fatalf("%+v, want %d allocations of %d bytes, %d of them live", got, count, bytes, living)
		}
	})
}

// TestMappings compares what is live of mappings that are laid over others, and unmapped
// in part, with one owner for each page.
func TestMappings(t *testing.T) {
	file, err := objfile.Open("../subject/testdata/sized.elf")
	if err != nil {
		t.Fatal(err)
	}
	var sites [3][]trace.PC
	for i := range sites {
		sites[i] = []trace.PC{trace.PC(file.Routines[i].Addr + 1)}
	}
	rapid.Check(t, func(t *rapid.T) {
		table := New(file)
		var owners [64]string
		for range rapid.IntRange(1, 40).Draw(t, "changes") {
			from := rapid.IntRange(0, len(owners)-1).Draw(t, "from")
			pages := rapid.IntRange(1, len(owners)-from).Draw(t, "pages")
			c := trace.Change{Kind: trace.Unmapped, Addr: uint64(from) << pageBits, Size: uint64(pages) << pageBits}
			owner := ""
			if rapid.Bool().Draw(t, "map") {
				c.Kind, c.Role = trace.Allocated, rapid.SampledFrom([]trace.Role{trace.Mmap, trace.Mremap}).Draw(t, "role")
				c.Callers = rapid.SampledFrom(sites[:]).Draw(t, "site")
				owner = Prefix + siteOf(file, c.Callers)
			}
			table.Apply([]trace.Change{c})
			want := make(map[string]uint64)
			for i := range owners {
				if i >= from && i < from+pages {
					owners[i] = owner
				}
				want[owners[i]] += 1 << pageBits
			}
			for _, o := range table.Objects() {
				if o.Live != want[o.Name] || o.Size < o.Live || o.Size > uint64(len(owners))<<pageBits {
					t.Fatalf("after %+v: %+v, want %d bytes live", c, o, want[o.Name])
				}
			}
		}
	})
}

// checkAt checks the object at an offset, and that the addresses said to be alike are.
func checkAt(t *rapid.T, table *Table, words []int32, stack *trace.Change, off uint64) {
	want := func(off uint64) int32 {
		if words[off/8] == None && spaceBase+off-stack.Addr < stack.Size {
			return table.byName[Stack]
		}
		return words[off/8]
	}
	x := table.At(spaceBase + off)
	object, lo, hi := x.Object, x.Lo, x.Hi
	if object != want(off) || lo > spaceBase+off || hi <= spaceBase+off {
		t.Fatalf("at %#x: object %d from %#x to %#x, want %d", spaceBase+off, object, lo, hi, want(off))
	}
	for a := max(lo, spaceBase); a < min(hi, spaceBase+6<<20); a += 8 {
		if want(a-spaceBase) != object {
			t.Fatalf("at %#x: object %d from %#x to %#x, but %d at %#x", spaceBase+off, object, lo, hi, want(a-spaceBase), a)
		}
	}
}

func TestRoles(t *testing.T) {
	for name, want := range map[string]trace.Role{
		"malloc": trace.Malloc, "libc.so.6!__libc_calloc": trace.Calloc, "_Znam": trace.Malloc, "_ZnwmSt11align_val_tRKSt9nothrow_t": trace.Malloc,
		"libstdc++.so.6!_ZdlPvm": trace.Free, "munmap": trace.Munmap,
	} {
		if got, ok := roleOf(name); !ok || got != want {
			t.Errorf("%s is %v, %t; want %v", name, got, ok, want)
		}
	}
	for _, name := range []string{"mallocator", "_ZnwmPv", "main", "malloc@plt", "_ZdlPvS_", "libc.so.6!mallopt"} { // placement new gives no memory
		if got, ok := roleOf(name); ok {
			t.Errorf("%s is %v", name, got)
		}
	}
}
