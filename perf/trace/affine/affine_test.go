package affine

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"presage/perf/trace"
)

// TestStream compares moves with the blocks of all iterations.
func TestStream(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		shift := uint(3 + rng.IntN(10))
		step := int64(8 * (rng.IntN(80) - 40))
		s := trace.Stride{First: trace.Tag(0, 8) + trace.Access(1<<20+8*rng.Uint64N(5000)), Step: step}
		f, ok := NewStream(s, shift)
		if !ok {
			t.Fatalf("%+v in blocks of %d bytes: not taken", s, 1<<shift)
		}
		const count = 300
		for at := uint32(0); at < count; {
			block := f.Move(at, count)
			for i := at; i < f.Next; i++ {
				if got := s.At(i).Addr() >> shift; got != block || f.Block(i) != block {
					t.Fatalf("%+v in blocks of %d bytes: iteration %d in block %d, want %d", s, 1<<shift, i, block, got)
				}
			}
			if f.Next < count && s.At(f.Next).Addr()>>shift == block {
				t.Fatalf("%+v in blocks of %d bytes: iteration %d does not move", s, 1<<shift, f.Next)
			}
			at = f.Next
		}
	}
	for _, s := range []trace.Stride{{First: trace.Tag(0, 8) + 4, Step: 8}, {First: trace.Tag(0, 8), Step: 4}, {First: trace.Tag(0, 128), Step: 128}} {
		if _, ok := NewStream(s, 6); ok {
			t.Errorf("%+v: taken, although an access may span two blocks", s)
		}
	}
}

// TestAppendSpanned compares the streams of accesses that span several blocks with the
// blocks of all iterations.
func TestAppendSpanned(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	taken, several := 0, 0
	for range 6000 {
		shift := uint(rng.IntN(9))
		s := trace.Stride{First: trace.Tag(0, 1<<rng.IntN(8)) + trace.Access(1<<20+rng.Uint64N(5000)), Step: 8 * (rng.Int64N(80) - 40)}
		if _, ok := NewStream(s, shift); ok {
			continue
		}
		streams, ok := AppendSpanned(nil, s, shift)
		if !ok {
			if s.Step&(1<<shift-1) == 0 && s.First.Size()>>shift < MaxStreams-1 {
				t.Fatalf("%+v in blocks of %d bytes: not taken", s, 1<<shift)
			}
			continue
		}
		taken++
		if len(streams) > 1 {
			several++
		}
		for i := range uint32(40) {
			first, last := s.At(i).Addr()>>shift, s.At(i).Last()>>shift
			if int(last-first)+1 != len(streams) {
				t.Fatalf("%+v in blocks of %d bytes: %d streams, iteration %d has blocks %d to %d", s, 1<<shift, len(streams), i, first, last)
			}
			for j := range streams {
				if got := streams[j].Block(i); got != first+uint64(j) {
					t.Fatalf("%+v in blocks of %d bytes: stream %d in block %d in iteration %d, want %d", s, 1<<shift, j, got, i, first+uint64(j))
				}
			}
		}
	}
	if taken < 800 || several < 300 {
		t.Errorf("%d of 6000 strides are taken, %d as several streams", taken, several)
	}
	full := make([]Stream, MaxStreams-1)
	if got, ok := AppendSpanned(full, trace.Stride{First: trace.Tag(0, 8) + 60, Step: 64}, 6); ok || len(got) != len(full) {
		t.Errorf("two streams more than %d: %d, %v", len(full), len(got), ok)
	}
}

// TestAppendSpilling compares the streams of accesses that span one block more in some
// iterations with the blocks of all iterations.
func TestAppendSpilling(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	more, fewer := 0, 0
	for range 3000 {
		shift := uint(rng.IntN(9))
		s := trace.Stride{First: trace.Tag(0, 1<<rng.IntN(8)) + trace.Access(1<<20+rng.Uint64N(5000)), Step: rng.Int64N(300) - 150}
		streams, ok := AppendSpilling(nil, s, shift)
		if !ok {
			if s.First.Size()>>shift < MaxStreams {
				t.Fatalf("%+v in blocks of %d bytes: not taken", s, 1<<shift)
			}
			continue
		}
		const count = 40
		spilt, f := uint64(0), &streams[len(streams)-1]
		for i := range uint32(count) {
			if got := f.SpillsIn(&streams[len(streams)-2], i); got != spilt {
				t.Fatalf("%+v in blocks of %d bytes: spills in %d of %d iterations, want %d", s, 1<<shift, got, i, spilt)
			}
			if f.Block(i) != streams[len(streams)-2].Block(i) {
				spilt++
			}
			var blocks []uint64
			for j := range streams {
				f := &streams[j]
				if f.Next == i {
					f.Move(i, count)
				}
				if next := i + 1; next < count && (f.Next == next) != (f.Block(next) != f.Block(i)) {
					t.Fatalf("%+v in blocks of %d bytes: stream %d in iteration %d moves next in %d", s, 1<<shift, j, i, f.Next)
				}
				if f.Spills && f.Block(i) == streams[j-1].Block(i) {
					fewer++
					continue
				}
				if f.Spills {
					more++
				}
				blocks = append(blocks, f.Block(i))
			}
			var want []uint64
			for block := s.At(i).Addr() >> shift; block <= s.At(i).Last()>>shift; block++ {
				want = append(want, block)
			}
			if !slices.Equal(blocks, want) {
				t.Fatalf("%+v in blocks of %d bytes: iteration %d has blocks %d, want %d", s, 1<<shift, i, blocks, want)
			}
		}
	}
	if more < 10_000 || fewer < 10_000 {
		t.Errorf("streams spill in %d iterations, and do not in %d", more, fewer)
	}
	full := make([]Stream, MaxStreams-1)
	if got, ok := AppendSpilling(full, trace.Stride{First: trace.Tag(0, 8) + 60, Step: 16}, 6); ok || len(got) != len(full) {
		t.Errorf("two streams more than %d: %d, %v", len(full), len(got), ok)
	}
}

// TestPhases compares the phases of random loops with what their iterations
// access.
func TestPhases(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	found := 0
	for range 500 {
		const shift, count = 6, 40
		var streams []Stream
		for range 1 + rng.IntN(8) {
			step := []int64{8, 8, 8, -16, 0, 640}[rng.IntN(6)]
			s := trace.Stride{First: trace.Tag(0, 8) + trace.Access((rng.Uint64N(4)+1)<<20+8*rng.Uint64N(30)), Step: step}
			f, _ := NewStream(s, shift)
			streams = append(streams, f)
		}
		var s Shapes
		s.Find(streams, count)
		for i := range streams {
			streams[i].First += 8 * 3 // the next row
		}
		shape, phase := s.Find(streams, count)
		if shape == nil {
			continue
		}
		found++
		for at := uint32(1); at < count; at++ {
			p := &shape.Phases[(phase+int(at))%len(shape.Phases)]
			checkPhase(t, p, streams, at)
		}
		checkMoves(t, shape, streams, phase, count)
		checkCount(t, shape, phase, count)
	}
	if found < 100 {
		t.Errorf("only %d loops have a shape", found)
	}
}

// checkMoves: the moves of iterations 1 to count are those of their phases.
func checkMoves(t *testing.T, s *Shape, streams []Stream, phase int, count uint32) {
	t.Helper()
	n := len(s.Phases)
	for at := uint32(1); at < count; at++ {
		turn, now := uint64(phase+int(at))/uint64(n), (phase+int(at))%n
		p := &s.Phases[now]
		for to := now + 1; to <= n; to++ {
			fresh, left := s.Moves(now, to)
			if to > now+1 {
				fresh, left = fresh[:len(p.Fresh)], left[:len(p.Left)]
			}
			if len(fresh) != len(p.Fresh) || len(left) != len(p.Left) {
				t.Fatalf("phase %d of %+v: %d fresh blocks, %d left", now, p, len(fresh), len(left))
			}
			for i, m := range fresh {
				base, advance := s.Base(&streams[m.Stream], phase)
				want := Move{p.Fresh[i].Stream, uint8(p.Fresh[i].Held), streams[m.Stream].Block(at) - base - turn*advance, uint32(s.LeftBefore(now))}
				if m != want {
					t.Fatalf("iteration %d of %+v: fresh %+v, want %+v", at, streams, m, want)
				}
			}
			for i, m := range left {
				base, advance := s.Base(&streams[m.Stream], phase)
				if m.Stream != p.Left[i] || base+turn*advance+m.By != streams[m.Stream].Block(at-1) {
					t.Fatalf("iteration %d of %+v: left %+v, want the block of %d", at, streams, m, p.Left[i])
				}
			}
		}
	}
}

// checkCount: Count counts n iterations one by one.
func checkCount(t *testing.T, s *Shape, at int, n uint32) {
	t.Helper()
	want := make([]uint64, len(s.Phases))
	for i := range want {
		want[i] = s.Phases[i].Times
	}
	for i := range int(n) {
		want[(at+i)%len(want)] += 3
	}
	s.Count(at, n, 3)
	for i, p := range s.Phases {
		if p.Times != want[i] {
			t.Fatalf("%d iterations from phase %d: phase %d has %d, want %d", n, at, i, p.Times, want[i])
		}
	}
}

func checkPhase(t *testing.T, p *Phase, streams []Stream, at uint32) {
	t.Helper()
	var order []uint64 // the latest block first
	touch := func(b uint64) (distance int) {
		d := slices.Index(order, b)
		if d >= 0 {
			order = slices.Delete(order, d, d+1)
		}
		order = slices.Insert(order, 0, b)
		return d
	}
	for i := range streams {
		touch(streams[i].Block(at - 1))
	}
	var fresh []Fresh
	var near []Near
	var now []uint64
	moves := uint64(0)
	for i := range streams {
		held := uint32(len(order))
		if !streams[i].Spills || streams[i].Block(at) != streams[i-1].Block(at) {
			if d := touch(streams[i].Block(at)); d < 0 {
				fresh = append(fresh, Fresh{uint8(i), held})
			} else {
				near = append(near, Near{uint8(i), 0, uint32(d)})
			}
		}
		if streams[i].Block(at) != streams[i].Block(at-1) {
			moves |= 1 << i
		}
		now = append(now, streams[i].Block(at))
	}
	all := slices.Clone(order)
	order = order[:0]
	var opens []uint8
	var within []Near
	for i := range streams {
		if !streams[i].Spills || streams[i].Block(at) != streams[i-1].Block(at) {
			if d := touch(streams[i].Block(at)); d < 0 {
				opens = append(opens, uint8(i))
			} else {
				within = append(within, Near{uint8(i), 0, uint32(d)})
			}
		}
	}
	if !slices.Equal(p.Opens, opens) || !slices.Equal(p.Within, within) || p.Accesses() != len(opens)+len(within) {
		t.Fatalf("iteration %d of %+v: phase %+v opens %d and has %+v", at, streams, p, opens, within)
	}
	var left, latest []uint64
	for _, b := range all {
		if slices.Contains(now, b) {
			latest = append(latest, b)
		} else {
			left = append(left, b)
		}
	}
	slices.Reverse(left)
	slices.Reverse(latest)
	blocks := func(list []uint8, at uint32) (out []uint64) {
		for _, i := range list {
			out = append(out, streams[i].Block(at))
		}
		return out
	}
	if !slices.Equal(p.Fresh, fresh) || !slices.Equal(p.Near, near) || p.Moves != moves ||
		!slices.Equal(blocks(p.Left, at-1), left) || !slices.Equal(blocks(p.Latest, at), latest) {
		t.Fatalf("iteration %d of %+v: phase %+v", at, streams, p)
	}
}

// TestAgain compares the shape of a loop that has moved with what Find returns for it.
func TestAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	same := 0
	for range 2000 {
		const shift = 6
		l := trace.Loop{Count: 20}
		for range 1 + rng.IntN(6) {
			step := []int64{8, 8, 8, -16, 0, 640, 72}[rng.IntN(7)]
			addr := (rng.Uint64N(3)+1)<<20 + 8*rng.Uint64N(60)
			l.Strides = append(l.Strides, trace.Stride{First: trace.Tag(trace.RefID(rng.IntN(3)), 8) + trace.Access(addr), Step: step})
		}
		streams := func() (list []Stream) {
			for _, s := range l.Strides {
				f, _ := NewStream(s, shift)
				list = append(list, f)
			}
			return list
		}
		var s Shapes
		now := streams()
		s.Find(now, l.Count)
		if shape, _ := s.Find(now, l.Count); shape == nil {
			continue
		}
		s.Keep(&l)
		for range 4 {
			by := []int64{8, 64, 720, -264, 4}[rng.IntN(5)]
			for i := range l.Strides {
				l.Strides[i].First += trace.Access(by)
			}
			changed := rng.IntN(len(l.Strides))
			odd := rng.IntN(8) == 0 && len(l.Strides) > 1
			if odd {
				l.Strides[changed].First += 1 << 30
			}
			got, phase := s.Again(&l, now)
			if got == nil {
				break
			}
			same++
			if odd || by == 4 {
				t.Fatalf("%+v moved by %d: taken for the loop before", l, by)
			}
			for i, f := range streams() {
				if now[i].First != f.First || now[i].Next != 0 {
					t.Fatalf("%+v: stream %d at %#x, next move %d", l, i, now[i].First, now[i].Next)
				}
			}
			var fresh Shapes
			fresh.Find(streams(), l.Count)
			want, first := fresh.Find(streams(), l.Count)
			if want == nil || len(want.Phases) != len(got.Phases) {
				t.Fatalf("%+v moved by %d: %v, want %v", l, by, got, want)
			}
			for i := range got.Phases {
				a, b := &got.Phases[(phase+i)%len(got.Phases)], &want.Phases[(first+i)%len(want.Phases)]
				if a.Moves != b.Moves || a.New != b.New || !slices.Equal(a.Fresh, b.Fresh) || !slices.Equal(a.Near, b.Near) || !slices.Equal(a.Left, b.Left) || !slices.Equal(a.Latest, b.Latest) {
					t.Fatalf("%+v moved by %d: iteration %d %+v, want %+v", l, by, i, a, b)
				}
			}
		}
	}
	if same < 1000 {
		t.Errorf("only %d loops were taken for the one before", same)
	}
}

// TestAgainFreely compares the phases of loops whose clusters have moved apart, or towards
// each other, with what their iterations access.
func TestAgainFreely(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	taken, spilling := 0, 0
	for range 6000 {
		const shift, count = 6, 40
		s := Shapes{Freely: rng.IntN(8) > 0}
		var l trace.Loop
		l.Count = count
		base, step := uint64(0), int64(0)
		var of []int // the array of each access
		for i := range 1 + rng.IntN(8) {
			if i == 0 || rng.IntN(2) == 0 {
				base, step = (rng.Uint64N(3)+1)<<14+8*rng.Uint64N(30), []int64{8, 64, 128, -16, 16, 24}[rng.IntN(6)]
			}
			of = append(of, int(base))
			l.Strides = append(l.Strides, trace.Stride{First: trace.Tag(trace.RefID(i), []uint8{8, 64}[rng.IntN(2)]) + trace.Access(base+8*rng.Uint64N(12)), Step: step})
		}
		streams := func() (list []Stream, ok bool) {
			ok = true
			for _, stride := range l.Strides {
				if f, aligned := NewStream(stride, shift); aligned {
					list = append(list, f)
				} else if ok {
					if list, ok = AppendSpanned(list, stride, shift); !ok {
						list, ok = AppendSpilling(list, stride, shift)
					}
				}
			}
			return list, ok
		}
		now, ok := streams()
		if !ok {
			continue
		}
		s.Find(now, count)
		if shape, _ := s.Find(now, count); shape == nil {
			continue
		}
		s.Keep(&l)
		for range 6 {
			by := make(map[int]uint64)
			for i, base := range of {
				if _, ok := by[base]; !ok {
					by[base] = []uint64{0, 64, 128, 640, 1 << 14, 8}[rng.IntN(6)]
				}
				l.Strides[i].First += trace.Access(by[base])
			}
			shape, phase := s.Again(&l, now)
			if shape == nil {
				break
			}
			want, ok := streams()
			if !ok || len(want) != len(now) {
				t.Fatalf("%+v: %d streams, want %d", l, len(now), len(want))
			}
			together := true
			for i := range want {
				together = together && by[of[0]] == by[of[min(i, len(of)-1)]]
				if want[i].First != now[i].First || now[i].Next != 0 {
					t.Fatalf("%+v: stream %d at %#x, want %#x", l, i, now[i].First, want[i].First)
				}
			}
			if !together && len(want) == len(of) {
				if !s.Freely {
					t.Fatalf("%+v: known although arrays have moved apart", l)
				}
				taken++
			}
			if slices.ContainsFunc(now, func(f Stream) bool { return f.Spills }) {
				spilling++
			}
			for at := uint32(1); at < count; at++ {
				checkPhase(t, &shape.Phases[(phase+int(at))%len(shape.Phases)], want, at)
			}
		}
	}
	if taken < 200 || spilling < 200 {
		t.Errorf("only %d loops whose arrays have moved apart are known, %d with streams that spill", taken, spilling)
	}
}

// TestMostInSet counts the blocks of each set, and of rows.
func TestMostInSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	exact, rows := 0, 0
	for range 3000 {
		shift, sets := uint(3+rng.IntN(5)), uint64(1)<<rng.IntN(8)
		s := trace.Stride{First: trace.Tag(0, 8) + trace.Access(1<<20+8*rng.Uint64N(5000)), Step: int64(8 * (rng.IntN(200) - 100) << rng.IntN(4))}
		f, _ := NewStream(s, shift)
		count := 1 + rng.Uint32N(400)
		held := make(map[uint64]map[uint64]bool)
		most := 0
		for i := range count {
			block := f.Block(i)
			set := block % sets
			if held[set] == nil {
				held[set] = make(map[uint64]bool)
			}
			held[set][block] = true
			most = max(most, len(held[set]))
		}
		if row, ok := f.Row(count); ok {
			blocks := make(map[uint64]bool)
			for _, set := range held {
				maps.Copy(blocks, set)
			}
			if len(blocks) != int(row.Last-row.First+1) || !blocks[row.First] || !blocks[row.Last] {
				t.Fatalf("%+v, %d iterations, blocks of %d bytes: a row from %d to %d, found %d blocks", s, count, 1<<shift, row.First, row.Last, len(blocks))
			}
			rows++
		}
		bound := f.MostInSet(count, sets)
		if bound < uint64(most) {
			t.Fatalf("%+v, %d iterations, blocks of %d bytes, %d sets: at most %d in a set, found %d", s, count, 1<<shift, sets, bound, most)
		}
		if bound == uint64(most) {
			exact++
		}
	}
	if rows < 50 {
		t.Errorf("only %d of 3000 streams are rows", rows)
	}
	if exact < 2000 {
		t.Errorf("only %d of 3000 bounds are reached", exact)
	}
}
