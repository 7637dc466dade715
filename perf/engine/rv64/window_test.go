package rv64

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"presage/perf/engine"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// TestWindows compares the records of windows with the corresponding slices of the
// whole trace that single-stepping gives, record by record.
func TestWindows(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	files := map[string]*objfile.File{
		"random": readFile(t, randomImage(107, 3000)),
		"threads": func() *objfile.File {
			f, err := objfile.Open(programNamed(t, "c-O3-rv64gc").build(t))
			if err != nil {
				t.Fatal(err)
			}
			return f
		}(),
	}
	for name, f := range files {
		plan := planAll(f)
		want, stepped := step(t, f, options{}, plan)
		end := stepped.Instructions
		for _, windows := range [][]trace.Window{
			{{From: 0, To: math.MaxUint64}},
			{{From: 0, To: 1}, {From: 1, To: 2}, {From: 2, To: 500}, {From: 500, To: end}},
			{{From: 100, To: 101}, {From: 102, To: 103}, {From: 1000, To: 1001}, {From: end / 2, To: end/2 + 1}, {From: end - 1, To: end + 1000}},
			{{From: end / 7, To: end / 5}, {From: end / 4, To: end / 3}, {From: end / 3, To: end / 2}},
			{{From: end + 1, To: end + 2}},
			every(1009, 2*1009, end),
		} {
			t.Run(fmt.Sprintf("%s/%d windows from %d", name, len(windows), windows[0].From), func(t *testing.T) {
				testWindows(t, f, plan, windows, want, end)
			})
		}
	}
}

func every(length, distance, end uint64) (list []trace.Window) {
	for at := distance / 3; at < end; at += distance {
		list = append(list, trace.Window{From: at, To: at + length})
	}
	return list
}

func programNamed(t *testing.T, name string) program {
	t.Helper()
	for _, p := range programs() {
		if p.name == name {
			return p
		}
	}
	t.Fatalf("no program %s", name)
	return program{}
}

func testWindows(t *testing.T, f *objfile.File, plan *trace.Plan, windows []trace.Window, want *reference, end uint64) {
	got := &tape{t: t, capacity: maxBlock}
	_, r, err := runGuest(t, f, options{Request: engine.Request{Plan: plan, Sink: got, Windows: windows}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Instructions != end {
		t.Errorf("%d instructions, %d single-stepped", r.Instructions, end)
	}
	var accesses []trace.Access
	var threads []int32
	var blocks []trace.BlockID
	for i, w := range r.Windows {
		asked := windows[i]
		// Control is transferred at least every maxBlock instructions here.
		if w.From < asked.From || w.From > asked.From+maxBlock || w.To < min(asked.To, end) || w.To > min(asked.To, end)+maxBlock {
			t.Errorf("window %d is %v, asked for %v", i, w, asked)
		}
		from, to := slice(want.at, w)
		accesses, threads = append(accesses, want.accesses[from:to]...), append(threads, want.threads[from:to]...)
		from, to = slice(want.blockAt, w)
		blocks = append(blocks, want.blocks[from:to]...)
	}
	for i, asked := range windows {
		if began := i < len(r.Windows); began && asked.From >= end || !began && asked.From+maxBlock < end {
			t.Errorf("window %d at %d of %d instructions: began %v", i, asked.From, end, began)
		}
	}
	if !slices.Equal(got.accesses, accesses) || !slices.Equal(got.threads, threads) {
		t.Errorf("%d accesses differ from the %d of the whole trace's slices", len(got.accesses), len(accesses))
	}
	if !slices.Equal(got.blocks, blocks) {
		t.Errorf("%d blocks differ from the %d of the whole trace's slices", len(got.blocks), len(blocks))
	}
	for _, start := range got.starts {
		i, _ := slices.BinarySearchFunc(r.Windows, start, func(w trace.Window, at uint64) int { return cmp.Compare(w.To, at+1) })
		if i == len(r.Windows) || start < r.Windows[i].From {
			t.Errorf("a batch starts at %d, outside of every window", start)
		}
	}
}

// slice returns the index range of the ascending instruction counts in a window.
func slice(at []uint64, w trace.Window) (from, to int) {
	from, _ = slices.BinarySearch(at, w.From)
	to, _ = slices.BinarySearch(at, w.To)
	return from, to
}

// TestWindowsPartition cuts the run of a Go program into adjacent windows, which
// together must give the whole trace.
func TestWindowsPartition(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	f, err := objfile.Open(programNamed(t, "go").build(t))
	if err != nil {
		t.Fatal(err)
	}
	plan := planAll(f)
	keep := make(map[trace.PC]bool)
	for _, r := range plan.Refs {
		keep[r.PC] = true
	}
	whole, parts := newHashSink(plan, keep), newHashSink(plan, keep)
	_, r, err := runGuest(t, f, options{Request: engine.Request{Plan: plan, Sink: whole}})
	if err != nil {
		t.Fatal(err)
	}
	windows := []trace.Window{{From: 0, To: 333_333}}
	for at := uint64(333_333); at < r.Instructions; at += 1e6 {
		windows = append(windows, trace.Window{From: at, To: at + 1e6})
	}
	_, cut, err := runGuest(t, f, options{Request: engine.Request{Plan: plan, Sink: parts, Windows: windows}})
	if err != nil {
		t.Fatal(err)
	}
	if parts.sum != whole.sum || parts.n != whole.n || cut.Instructions != r.Instructions || len(cut.Windows) < 20 {
		t.Errorf("%d windows hold %d accesses of %d instructions, the whole trace %d of %d",
			len(cut.Windows), parts.n, cut.Instructions, whole.n, r.Instructions)
	}
}

func TestWindowOptions(t *testing.T) {
	var a asm
	loop(&a)
	f := readFile(t, assemble(a.text, nil, pageBytes))
	plan, sink := new(trace.Plan), trace.NewDirect()
	for _, opt := range []options{
		{Request: engine.Request{Windows: []trace.Window{{From: 0, To: 1}}}},
		{Request: engine.Request{Plan: plan, Sink: sink, Windows: []trace.Window{{From: 5, To: 5}}}},
		{Request: engine.Request{Plan: plan, Sink: sink, Windows: []trace.Window{{From: 5, To: 9}, {From: 8, To: 10}}}},
		{Request: engine.Request{SnapshotAt: []uint64{1}}},
		{Request: engine.Request{SnapshotAt: []uint64{2, 1}, Snapshot: func(engine.Snapshot) error { return nil }}},
		{Request: engine.Request{SnapshotAt: []uint64{1}, Snapshot: func(engine.Snapshot) error { return nil }, Pages: true}},
	} {
		if r, err := run(t.Context(), f, opt); err == nil || r != nil {
			t.Errorf("%+v: result %v, error %v", opt, r, err)
		}
	}
}
