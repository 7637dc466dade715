package machine

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"presage/perf/cache"
	"presage/perf/internal/yamlfile"
)

var shipped = os.DirFS("../../machines")

// TestTable1 is Table 1 of Marin and Mellor-Crummey (2005): blocks,
// associativity (0: fully) and block size of each level.
func TestTable1(t *testing.T) {
	type level struct {
		Name   string
		Blocks uint64
		Ways   int
		Bytes  uint64
	}
	table := map[string][]level{
		"itanium2": {
			{"L1D", 256, 4, 64},
			{"L2", 2048, 8, 128},
			{"L3", 12288, 6, 128},
			{"L1 TLB", 32, 0, 16 << 10},
			{"L2 TLB", 128, 0, 16 << 10},
		},
		"origin2000": {
			{"L1", 1024, 2, 32},
			{"L2", 65536, 2, 128},
			{"TLB", 64, 0, 32 << 10},
		},
	}
	for name, want := range table {
		m, err := Find(name, shipped)
		if err != nil {
			t.Fatal(err)
		}
		var got []level
		for _, c := range m.Caches {
			got = append(got, level{c.Name, c.Blocks, c.Ways, c.BlockBytes})
		}
		for _, b := range m.TLBs {
			got = append(got, level{b.Name, b.Entries, b.Ways, b.EntryBytes})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestOriginLatencies(t *testing.T) {
	m, err := Find("origin2000", shipped)
	if err != nil {
		t.Fatal(err)
	}
	// 2004 paper, sections 3 and 3.2.
	got := []float64{
		float64(m.Caches[0].Latency), float64(m.Caches[1].Latency), float64(m.TLBs[0].MissPenalty),
		float64(m.Memory.RestartLatency), float64(m.Memory.BackToBackLatency), float64(m.Memory.OutstandingMisses),
		float64(m.Frequency),
	}
	if diff := cmp.Diff([]float64{3, 11, 78, 92, 116, 4, 300e6}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]uint64{32, 128, 32 << 10}, m.BlockBytes()); diff != "" {
		t.Error(diff)
	}
	if m.Caches[1].Capacity() != 8<<20 || m.Caches[1].Sets() != 32768 || m.TLBs[0].Sets() != 1 {
		t.Errorf("L2 of %v in %d sets, TLB in %d", m.Caches[1].Capacity(), m.Caches[1].Sets(), m.TLBs[0].Sets())
	}
}

func TestEveryShippedFileIsGood(t *testing.T) {
	names, err := Names(shipped)
	if err != nil || len(names) < 2 {
		t.Fatalf("names %v, %v", names, err)
	}
	for _, name := range names {
		m, err := Find(name, shipped)
		if err != nil {
			t.Error(err)
			continue
		}
		if m.Name != name {
			t.Errorf("%s has the name %q", name, m.Name)
		}
		h := m.Hierarchy()
		if err := h.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// small is a good description that the error cases change.
const small = `title: Small
processor: P
core:
  frequency: 2.5 GHz
  source: [made]
caches:
  - name: L1
    capacity: 32 KiB
    block: 64 B
    ways: 8
    replacement: nmru
    write: through
    write_allocate: false
    source: [made]
  - name: L2
    capacity: 1 MiB
    block: 64 B
    ways: full
    inclusive: true
    latency: 14 cycles
    source: [made]
tlbs:
  - name: TLB
    entries: 64
    entry_maps: 4 KiB
    ways: 4
    source: [made]
memory:
  restart_latency: 200 cycles
  source: [made]
sources:
  made: up
`

func TestParse(t *testing.T) {
	m, err := Parse("dir/small.yaml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	want := []Cache{
		{Level: cache.Level{
			Name: "L1", Blocks: 512, BlockBytes: 64, Ways: 8,
			Replacement: cache.NMRU, WriteThrough: true, NoWriteAllocate: true,
		}, Source: []string{"made"}},
		{Level: cache.Level{Name: "L2", Blocks: 16384, BlockBytes: 64, Inclusive: true}, Latency: 14, Source: []string{"made"}},
	}
	if diff := cmp.Diff(want, m.Caches); diff != "" {
		t.Error(diff)
	}
	if m.Name != "small" || m.Frequency != 2.5e9 || m.TLBs[0].Sets() != 16 {
		t.Errorf("name %q, frequency %v, TLB sets %d", m.Name, m.Frequency, m.TLBs[0].Sets())
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"ways: 8", "weighs: 8", `small.yaml:10:5: unknown field "weighs"`},
		{"ways: 8", "ways: 8\n    ways: 4", "small.yaml:11:5: mapping key \"ways\" already defined"},
		{"32 KiB", "32", `small.yaml:8:15: "32" has no unit; want one of B, KiB, MiB, GiB`},
		{"32 KiB", "32 KB", `small.yaml:8:15: "32 KB" has the unknown unit "KB"`},
		{"32 KiB", "-1 KiB", `small.yaml:8:15: "-1 KiB" is not positive`},
		{"32 KiB", "x KiB", `small.yaml:8:15: "x KiB": "x" is not a number`},
		{"32 KiB", "0.3 B", `small.yaml:8:15: "0.3 B" is no whole number of bytes`},
		{"32 KiB", "100 B", "small.yaml:8:15: a capacity of 100 B is no multiple of the block of 64 B"},
		{"block: 64 B\n    ways: 8", "block: 48 B\n    ways: 8", "small.yaml:9:12: 48 B is not a power of two"},
		{"ways: 8", "ways: 7", "small.yaml:10:11: 512 blocks cannot be divided into sets of 7"},
		{"ways: 8", "ways: all", `small.yaml:10:11: ways: "all" is neither a positive number nor full`},
		{"    ways: 8\n", "", "small.yaml:7:9: ways is missing"},
		{"nmru", "psychic", `small.yaml:11:18: replacement: "psychic" is none of lru, nmru, random`},
		{"write: through", "write: behind", `small.yaml:12:12: write: "behind" is neither back nor through`},
		{"write_allocate: false", "write_allocate: perhaps", "small.yaml:13:21: "},
		{"false\n    source: [made]", "false", "small.yaml:7:9: source is missing"},
		{"false\n    source: [made]", "false\n    source: [nowhere]", `small.yaml:14:13: source "nowhere" is not explained`},
		{"made: up", "made: up\n  other: x", `small.yaml:33:10: source "other" is not the source of anything`},
		{"name: L2", "name: L1", `small.yaml:15:11: "L1" is the name of two levels`},
		{"title: Small\n", "", "title is missing"},
		{"14 cycles", "14 ns", `small.yaml:20:14: "14 ns" has the unknown unit "ns"`},
		{"200 cycles", "200 cycles\n  stream_latency: 201 cycles", "small.yaml:30:19: the stream latency of 201 cycles is above the restart latency of 200 cycles"},
		{"200 cycles", "200 cycles\n  stream_latency: 20 ns", `unknown unit "ns"`},
		{"200 cycles", "200 cycles\n  stream_latency: 0 cycles", "not positive"},
		{"restart_latency: 200 cycles", "stream_latency: 20 cycles", "without a restart latency"},
		{"200 cycles", "200 cycles\n  back_to_back_latency: 100 cycles", "is below the restart latency"},
		{"14 cycles", "14 cycles\n    bandwidth: 32 GB/s", `small.yaml:21:16: "32 GB/s" is no bandwidth; want bytes per cycle, such as 32 B/cycle`},
		{"14 cycles", "14 cycles\n    bandwidth: 0 B/cycle", "not positive"},
		{"entries: 64", "entries: 0", "small.yaml:24:14: entries: want"},
		{"2.5 GHz", "1e300 GHz", `small.yaml:4:14: "1e300 GHz" is more than any machine has`},
		{"2.5 GHz", "1e-9 Hz", `small.yaml:4:14: "1e-9 Hz" is impossible: want a frequency from 1000 Hz to 1000 GHz`},
		{"2.5 GHz", "1001 GHz", `small.yaml:4:14: "1001 GHz" is impossible`},
		{"200 cycles", "16777217 cycles", `"16777217 cycles" is impossible: want at most 16777216 cycles`},
		{"1 MiB", "16 KiB", "small.yaml:16:15: L2 of 16 KiB is smaller than L1 of 32 KiB"},
		{"1 MiB\n    block: 64 B", "1 MiB\n    block: 32 B", "small.yaml:17:12: blocks of L2, 32 bytes, are smaller than those of L1, 64 bytes"},
		{"ways: 8", "ways: 8\n    latency: 20 cycles", "L2 is nearer, by 14 cycles, than a cache before it, by 20"},
		{"memory:\n", "  - name: TLB2\n    entries: 32\n    entry_maps: 4 KiB\n    ways: 4\n    source: [made]\nmemory:\n", "TLB2 has fewer entries, 32, than TLB"},
		{"200 cycles", "10 cycles", "memory is nearer, by 10 cycles, than a cache, by 14"},
		{"entries: 64", "entries: 2000000", "from 1 to"},
		{"  made: up\n", "  made: up\n---\ntitle: x\n", "2 documents"},
		{"caches:", "caches: [", "small.yaml:"},
	} {
		if !strings.Contains(small, c.old) {
			t.Fatalf("no %q to replace", c.old)
		}
		_, err := Parse("small.yaml", []byte(strings.Replace(small, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q:\n got %v\nwant %s", c.new, c.old, err, c.want)
		}
	}
	for _, text := range []string{"", "title: x\nprocessor: y\n", "[]", "a"} {
		if _, err := Parse("small.yaml", []byte(text)); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
	if _, err := Parse("big.yaml", bytes.Repeat([]byte("#"), yamlfile.MaxBytes+1)); err == nil {
		t.Error("a huge file: no error")
	}
}

func TestFind(t *testing.T) {
	mine := fstest.MapFS{"origin2000.yaml": {Data: []byte(small)}}
	m, err := Find("origin2000", mine, shipped)
	if err != nil || m.Title != "Small" {
		t.Errorf("the first folder does not win: %v, %v", m, err)
	}
	if _, err := Find("cray1", mine, shipped); err == nil || !strings.Contains(err.Error(), "there are alpha-ev68, apple-m1") {
		t.Errorf("unknown name: %v", err)
	}
	if _, err := Find("../x", shipped); err == nil {
		t.Error("a path for a name: no error")
	}
	if _, err := Load("nowhere.yaml"); err == nil {
		t.Error("no file: no error")
	}
}

func TestBytesString(t *testing.T) {
	for b, want := range map[Bytes]string{100: "100 B", 32 << 10: "32 KiB", 8 << 20: "8 MiB", 1536 << 10: "1536 KiB", 1 << 30: "1 GiB"} {
		if b.String() != want {
			t.Errorf("%d: %s, want %s", uint64(b), b, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(withCore))
	f.Add([]byte(ahead))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4<<10 {
			return // the shipped ones are read by other tests
		}
		m, err := Parse("fuzz.yaml", data)
		if (m == nil) == (err == nil) {
			t.Fatalf("machine %v, error %v", m, err)
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz.yaml:") {
				t.Errorf("no position: %v", err)
			}
			return
		}
		h := m.Hierarchy()
		if err := h.Check(); err != nil {
			t.Errorf("an impossible machine was accepted: %v", err)
		}
		if c, err := m.Prefetching(0); err == nil {
			if err := c.Check(); err != nil {
				t.Errorf("impossible prefetchers were accepted: %v", err)
			}
		}
		checkMachine(t, m)
		if d := Diff(m, m); len(d) > 0 {
			t.Errorf("a machine that differs from itself: %v", d)
		}
		if m.Explain() == "" {
			t.Error("no explanation")
		}
	})
}
