package replay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"presage/perf/cache"
	"presage/perf/subject"
	"presage/perf/trace"
)

func configs() cache.Config {
	return cache.Config{
		Levels: []cache.Level{{Name: "L1", Blocks: 1024, BlockBytes: 32, Ways: 2}},
		TLBs:   []cache.TLB{{Name: "T", Entries: 16, EntryBytes: 4096}},
	}
}

func others() []cache.Config {
	one := func(l cache.Level) cache.Config { return cache.Config{Levels: []cache.Level{l}} }
	return []cache.Config{
		configs(),
		one(cache.Level{Name: "z1", Blocks: 512, BlockBytes: 64, Ways: 8}),
		one(cache.Level{Name: "i2", Blocks: 2048, BlockBytes: 128, Ways: 8}),
		one(cache.Level{Name: "dm", Blocks: 256, BlockBytes: 64, Ways: 1}),
		one(cache.Level{Name: "fa", Blocks: 512, BlockBytes: 64}),
	}
}

func simulators(t *testing.T, code *Code) (list []*cache.Simulator, cs []trace.Collector) {
	for _, c := range others() {
		s, err := cache.New(code.Plan, c)
		if err != nil {
			t.Fatal(err)
		}
		list, cs = append(list, s), append(cs, s)
	}
	return
}

func TestEnd(t *testing.T) {
	flags := os.Getenv("KERNEL")
	if flags == "" {
		t.Skip()
	}
	prog := compile(t, flags)
	code := codeOf(t, prog)
	var hints Hints
	var runs []*Run
	sizes := ints(os.Getenv("SIZES"), []int64{20, 24, 28, 32, 36, 40, 48, 56})
	t0 := time.Now()
	for _, n := range sizes {
		runs = append(runs, learn(t, prog, code, &hints, n))
	}
	t1 := time.Now()
	m, err := NewModel(code, sizes, runs)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range ints(os.Getenv("TARGETS"), []int64{90, 96, 128}) {
		t2 := time.Now()
		in, err := m.At(context.Background(), n)
		if err != nil {
			t.Fatal(err)
		}
		t3 := time.Now()
		sims, cs := simulators(t, code)
		dig := &counter{}
		cs = append(cs, dig)
		sink := trace.NewDirect(cs...)
		ctx, cancel := context.WithCancel(context.Background())
		minA, _ := strconv.Atoi(os.Getenv("MIN"))
		f := in.Follow(sink, cancel, FollowOptions{MinAccesses: uint64(minA)})
		_, err = subject.Run(ctx, prog, subject.Point{"n": float64(n)},
			subject.RecordOptions{Plan: code.Plan, RunOptions: subject.RunOptions{Args: "{n}"}}, f)
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		t4 := time.Now()
		if err := f.End(); err != nil {
			t.Log(n, "follow:", err)
			continue
		}
		out, err := in.Replay(context.Background(), sink, Options{MaxAccesses: 1e9})
		if err != nil {
			t.Log("replay:", err)
		}
		t5 := time.Now()
		cert := in.Certify(f, out)
		truth, cs2 := simulators(t, code)
		dig2 := &counter{}
		execute(t, prog, code, n, append(cs2, dig2)...)
		t6 := time.Now()
		t.Logf("n=%d learn %.2fs at %.2fs follow %.2fs replay+sim %.2fs real+sim %.2fs; real %d replayed %d", n, t1.Sub(t0).Seconds(), t3.Sub(t2).Seconds(), t4.Sub(t3).Seconds(), t5.Sub(t4).Seconds(), t6.Sub(t5).Seconds(), f.Real.Accesses, out.Accesses)
		graph := prog.Structure().Graph
		_ = graph
		refs := prog.References()
		for _, scope := range []string{"", "main", "kernel", "sweep", "work.relax", "__work_MOD_relax", "work.multiply", "__work_MOD_multiply", "MAIN__"} {
			var set []trace.RefID
			for r := range refs {
				if scope == "" || refs[r].Routine == scope {
					set = append(set, trace.RefID(r))
				}
			}
			s := cert.Of(set...)
			if s.Accesses == 0 && scope != "kernel" {
				continue
			}
			line := fmt.Sprintf("  %-8q acc %d doubtful %d cert %v %v", scope, s.Accesses, s.Doubtful, s.Certified(), s.Reasons)
			okAcc := true
			var a, b uint64
			for r := range refs {
				if scope == "" || refs[r].Routine == scope {
					a += uint64(dig.n(r))
					b += uint64(dig2.n(r))
					okAcc = okAcc && dig.n(r) == dig2.n(r)
				}
			}
			line += fmt.Sprintf(" acceq %v (%d %d)", okAcc, a, b)
			for i := range sims {
				x, y := missesOf(sims[i].Result(), code, refs, scope), missesOf(truth[i].Result(), code, refs, scope)
				line += fmt.Sprintf(" %v", x)
				if fmt.Sprint(x) != fmt.Sprint(y) {
					line += fmt.Sprintf("!=%v", y)
				}
			}
			if s.Certified() && !okAcc {
				line += " SILENT"
			}
			t.Log(line)
		}
		if os.Getenv("WHY") != "" {
			all := in.allDoubts(&f.Real, out)
			for i, d := range all {
				if out.Visits[i] > 0 && d&^follows != 0 {
					t.Logf("      %s %#x visits %d: %v", code.routine(in.prog.Places[i].Block), code.Plan.Blocks[in.prog.Places[i].Block].PC, out.Visits[i], d.texts())
				}
			}
		}
	}
}

func missesOf(r *cache.Result, code *Code, refs any, scope string) []uint64 {
	var out []uint64
	for _, l := range append(r.Levels, r.TLBs...) {
		out = append(out, l.Total.Misses)
	}
	return out
}

type counter struct{ c []uint64 }

func (c *counter) Observe(b *trace.Batch) {
	for _, a := range b.Accesses {
		for int(a.Ref()) >= len(c.c) {
			c.c = append(c.c, make([]uint64, 1000)...)
		}
		c.c[a.Ref()]++
	}
}
func (c *counter) n(r int) uint64 {
	if r < len(c.c) {
		return c.c[r]
	}
	return 0
}

func ints(s string, def []int64) []int64 {
	if s == "" {
		return def
	}
	var out []int64
	for _, f := range strings.Split(s, ",") {
		v, _ := strconv.ParseInt(f, 10, 64)
		out = append(out, v)
	}
	return out
}
