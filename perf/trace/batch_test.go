package trace

import (
	"slices"
	"testing"
)

func TestBatchByBlock(t *testing.T) {
	plan := &Plan{Blocks: []Block{{PC: 4, Refs: 2}, {PC: 8}, {PC: 12, Refs: 1, Varies: true}}}
	type part struct {
		block BlockID
		n     int
	}
	for name, test := range map[string]struct {
		batch Batch
		want  []part
	}{
		"fixed":     {Batch{Accesses: make([]Access, 4), Blocks: []BlockID{0, 1, 0}}, []part{{0, 2}, {1, 0}, {0, 2}}},
		"cut short": {Batch{Accesses: make([]Access, 3), Blocks: []BlockID{0, 0}}, []part{{0, 2}, {0, 1}}},
		"counted":   {Batch{Accesses: make([]Access, 8), Blocks: []BlockID{2, 0, 2}, Counts: []uint32{5, 2, 1}}, []part{{2, 5}, {0, 2}, {2, 1}}},
	} {
		for i := range test.batch.Accesses {
			test.batch.Accesses[i] = Access(i)
		}
		var got []part
		next := Access(0)
		for id, accesses := range test.batch.ByBlock(plan) {
			got = append(got, part{id, len(accesses)})
			for _, a := range accesses {
				if a != next {
					t.Errorf("%s: access %d came as %d", name, next, a)
				}
				next++
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("accesses that belong to no block: no panic")
		}
	}()
	for range (&Batch{Accesses: make([]Access, 3), Blocks: []BlockID{0}}).ByBlock(plan) {
		continue
	}
}

func TestBatchReset(t *testing.T) {
	b := Batch{Accesses: make([]Access, 3), Blocks: make([]BlockID, 2), Counts: make([]uint32, 2), Start: 7, Thread: 1}
	b.Reset()
	if len(b.Accesses)+len(b.Blocks)+len(b.Counts) != 0 || b.Start != 0 || b.Thread != 0 || cap(b.Accesses) < 3 {
		t.Errorf("after Reset: %+v", b)
	}
}

func TestCheckWindows(t *testing.T) {
	for _, good := range [][]Window{nil, {{0, 1}}, {{5, 9}, {9, 10}, {20, 21}}} {
		if err := CheckWindows(good); err != nil {
			t.Errorf("%v: %v", good, err)
		}
	}
	for _, bad := range [][]Window{{{5, 5}}, {{5, 4}}, {{5, 9}, {8, 10}}, {{5, 9}, {1, 2}}} {
		if err := CheckWindows(bad); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}
