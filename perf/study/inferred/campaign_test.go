package inferred

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"presage/perf/infer"
	"presage/perf/internal/oracle"
	"presage/perf/shard"
	"presage/perf/store"
	"presage/perf/subject"
)

// smallCampaign returns a campaign over one program that takes seconds.
func smallCampaign(t *testing.T) Campaign {
	oracle.Need(t, "riscv64-linux-gnu-gcc")
	return Campaign{
		Subjects: []Subject{{Application: "hmm", Level: O3, Input: "small", Folder: "hmm", Args: []string{"-count", "20"}, Role: ToTrain}},
		Programs: filepath.Join(datasets, "programs"),
		Length:   100_000, Shards: 2, Pool: 6, Fresh: 2, Train: 4, Check: 1, New: 1, Store: store.Open(t.TempDir()),
	}
}

// TestCampaign runs a campaign over one program: it comes out the same from the
// store, and its tables agree with each other. (Run fails if simulators and
// collectors of characteristics disagree about shards.)
func TestCampaign(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the packages below have tests of their own goroutines")
	}
	c := smallCampaign(t)
	p, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Shards) != 2 || len(p.Hardware) != 6+2*2 || len(p.Profiles) != 4+2*(2+2) || len(p.Warnings) > 0 {
		t.Fatalf("%d shards, %d architectures, %d profiles, warnings %v", len(p.Shards), len(p.Hardware), len(p.Profiles), p.Warnings)
	}
	if err := p.check(); err != nil {
		t.Fatal(err)
	}
	again, err := c.Run(context.Background())
	if err != nil || !reflect.DeepEqual(again, p) {
		t.Errorf("from the store: something else, error %v", err)
	}
	for _, q := range p.Profiles {
		if s := p.shards()[shardKey{q.Variant, q.Shard}]; q.Instructions != s.Instructions || s.Instructions < 99_000 || s.Instructions > 101_000 {
			t.Errorf("shard %d: %d instructions simulated, %d characterised", q.Shard, q.Instructions, s.Instructions)
		}
		width := p.Hardware[q.Architecture].Parameters["width_instructions"]
		if cpi := q.CPI(); cpi < 1/width || cpi > 20 {
			t.Errorf("%+v has a CPI of %g", q, cpi)
		}
		if freshly := q.Use == New; freshly != (q.Architecture >= 8) {
			t.Errorf("%+v: architectures from 8 on are those that judge new hardware", q)
		}
	}
	surveyIsSound(t, p)
	c.Subjects[0].Role = ToJudge
	if p, err = c.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(p.Applications()) != 0 || !slices.Equal(p.Unseen(), []string{"hmm"}) || len(p.Profiles) != 4+2+2 {
		t.Errorf("unseen: applications %v and %v, %d profiles", p.Applications(), p.Unseen(), len(p.Profiles))
	}
}

// TestShardsDoNotDependOnEachOther simulates shards that follow each other closely
// in one run, and each alone.
func TestShardsDoNotDependOnEachOther(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the packages below have tests of their own goroutines")
	}
	oracle.Need(t, "riscv64-linux-gnu-gcc")
	c, err := Campaign{Length: 50_000, Warm: 300_000, Shards: 3, Store: store.Open(t.TempDir())}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	of := Subject{Application: "fdtd", Level: O3, Folder: "fdtd", Args: []string{"-n", "18", "-steps", "4"}}
	prog, err := of.Build(context.Background(), filepath.Join(datasets, "programs"), c.Store)
	if err != nil {
		t.Fatal(err)
	}
	opt := subject.RunOptions{Store: c.Store}
	in, err := prog.InputsOf(of.Args, opt)
	if err != nil {
		t.Fatal(err)
	}
	architectures := infer.SampleArchitectures(rand.New(rand.NewPCG(9, 9)), 3)
	cycles := func(jobs ...job) map[[2]int]uint64 {
		v := program{campaign: &c, variant: "fdtd", prog: prog, in: in, out: new(Profiles)}
		if err := v.prepare(context.Background(), random(1, "fdtd"), opt); err != nil {
			t.Fatal(err)
		}
		if err := v.look(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := v.simulate(context.Background(), architectures, jobs); err != nil {
			t.Fatal(err)
		}
		found := make(map[[2]int]uint64)
		for _, q := range v.out.Profiles {
			found[[2]int{q.Architecture, q.Shard}] = q.Cycles
		}
		return found
	}
	for a := range architectures {
		all := cycles(job{number: a, shards: []int{0, 1, 2}})
		for k := range 3 {
			if alone := cycles(job{number: a, shards: []int{k}}); len(alone) != 1 || alone[[2]int{a, k}] != all[[2]int{a, k}] || alone[[2]int{a, k}] == 0 {
				t.Errorf("architecture %d, shard %d: %v cycles alone, %v with others", a, k, alone, all)
			}
		}
	}
}

// surveyIsSound holds limits and misses of shards against each other: a larger
// window is no slower, more ways miss no more, and misses that were counted are
// those that were simulated.
func surveyIsSound(t *testing.T, p *Profiles) {
	t.Helper()
	for _, s := range p.Shards {
		l := s.Limits
		if !(l["window224_cpi"] > 0) || l["window64_cpi"] < l["window224_cpi"] || l["l2_misses"] > l["l1_misses"] || l["l1_miss64_cpi"] < 0 || l["l2_miss64_cpi"] < l["l2_miss224_cpi"]*0.9 || !(l["branch224_cpi"] > 0) {
			t.Errorf("shard %d has the limits %v", s.Shard, l)
		}
		misses := make(map[caches]Misses)
		for _, m := range p.Misses {
			if m.Shard == s.Shard {
				misses[caches{m.Stream, m.Sets}] = m
				if m.One < m.Two || m.Two < m.Four || m.Four < m.Eight || m.One > s.Instructions {
					t.Errorf("misses %+v", m)
				}
			}
		}
		for stream, sets := range cacheSets() {
			for _, n := range sets {
				if _, known := misses[caches{shard.Stream(stream).String(), n}]; !known {
					t.Errorf("no misses of caches of %d sets", n)
				}
			}
		}
		// The reference cache of L1 is one of those.
		m := misses[caches{"data", blocks(l1RefKiB)}]
		if counted, simulated := float64(m.One), l["l1_misses"]*float64(s.Instructions); math.Abs(counted-simulated) > 0.02*simulated+20 {
			t.Errorf("shard %d: %g misses of data counted, %g simulated", s.Shard, counted, simulated)
		}
	}
}
