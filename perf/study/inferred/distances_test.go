package inferred

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"presage/perf/infer"
	"presage/perf/predict"
	"presage/perf/shard"
)

// TestDistances counts the distances of a small campaign: they have the accesses of
// the survey of the same shards, and fully associative caches miss about as often as those
// of eight ways.
func TestDistances(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the packages below have tests of their own goroutines")
	}
	c := smallCampaign(t)
	p, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if p.Distances, err = c.Distances(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	if err := p.check(); err != nil {
		t.Fatal(err)
	}
	again, err := c.Distances(context.Background(), p)
	if err != nil || !reflect.DeepEqual(again, p.Distances) {
		t.Errorf("from the store: something else, error %v", err)
	}
	misses, reuses := p.misses(), p.histograms()
	for _, s := range p.Shards {
		key := shardKey{s.Variant, s.Shard}
		of := reuses[key]["data"]
		if got, want := of.histogram.Accesses(), float64(s.DataReuses+s.DataBlocks); got != want {
			t.Errorf("shard %d: %g accesses have distances, %g were counted", s.Shard, got, want)
		}
		for stream, sets := range cacheSets() {
			for _, n := range sets {
				name := shard.Stream(stream).String()
				got, want := reuses[key][name].in(predict.Cache{Sets: 1, Ways: 8 * n}), float64(misses[key][caches{name, n}].Eight)
				if math.Abs(got-want) > 0.1*want+100 {
					t.Errorf("shard %d, %s: %g misses in %d blocks, %g in as many of eight ways", s.Shard, name, got, 8*n, want)
				}
			}
		}
	}
	// Of another campaign of the same shards.
	changed := slices.Clone(p.Distances)
	changed[0].Accesses++
	if err := p.sameRuns(changed); err == nil || !strings.Contains(err.Error(), "of another program") {
		t.Errorf("one access more than the campaign had: %v", err)
	}
	long := c
	long.Length *= 10
	if _, err := long.Distances(context.Background(), p); err == nil || !strings.Contains(err.Error(), "give the length") {
		t.Errorf("shards of another length: %v", err)
	}
	other := c.Subjects[0]
	other.Input = "other"
	c.Subjects = []Subject{other}
	if _, err := c.Distances(context.Background(), p); err == nil || !strings.Contains(err.Error(), "none of the subjects") {
		t.Errorf("profiles of another variant: %v", err)
	}
}

// TestHistogramsByHand works out misses of a shard with three kinds of accesses.
func TestHistogramsByHand(t *testing.T) {
	p := new(Profiles)
	for _, stream := range []string{"data", "code", "both"} {
		for _, b := range shard.Bounds() {
			n := uint64(1000) // 600 at distance 0, 300 from 96 to 127, 100 cold
			switch {
			case b > 96:
				n = 100
			case b > 0:
				n = 400
			}
			p.Distances = append(p.Distances, Distance{"v", 0, stream, b, n})
		}
	}
	of := p.histograms()[shardKey{"v", 0}]["data"]
	for _, c := range []struct {
		cache predict.Cache
		want  float64
	}{
		{predict.Cache{Sets: 1, Ways: 64}, 400},
		{predict.Cache{Sets: 1, Ways: 256}, 100},
		{predict.Cache{Sets: 64, Ways: 1}, 100 + 300*(1-math.Pow(63./64, 111.5))}, // as each of 111.5 blocks may have fallen into the set
	} {
		if got := of.in(c.cache); math.Abs(got-c.want) > 1 {
			t.Errorf("%+v: %g misses, want %g", c.cache, got, c.want)
		}
	}
}

// TestHistogramsNeedDistances: without them a study says how to get them, and damaged ones are
// refused with their row.
func TestHistogramsNeedDistances(t *testing.T) {
	p := inventedProfiles()
	if err := p.check(); err != nil {
		t.Fatal(err)
	}
	o := smallStudy()
	o.Variables = Histograms
	for want, damage := range map[string]func(p *Profiles){
		"presage infer distances":         func(p *Profiles) { p.Distances = nil },
		"row 3: data of shard 0 of":       func(p *Profiles) { p.Distances[2].Blocks = 7 },
		"row 2: 18446744073709551615 acc": func(p *Profiles) { p.Distances[1].Accesses = math.MaxUint64 },
		"ends before shard":               func(p *Profiles) { p.Distances = p.Distances[:len(p.Distances)-1] },
		"is not described":                func(p *Profiles) { p.Distances = append(slices.Clip(p.Distances), p.Distances[0]) },
	} {
		p := inventedProfiles()
		p.Distances = slices.Clone(p.Distances)
		damage(p)
		err := p.check()
		if err == nil {
			_, err = o.Run(context.Background(), p)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, n := range []int{-1, maxProducts + 1} {
		if _, err := (Options{Variables: Histograms, Products: n}).Run(context.Background(), p); err == nil || !strings.Contains(err.Error(), "products of") {
			t.Errorf("products of %d variables: %v", n, err)
		}
	}
	if names := Variables(Histograms); len(names) != len(Variables(Portable))+len(meetings) || !slices.Contains(names, infer.HardwareSpace()[0].Name) {
		t.Errorf("variables %v", names)
	}
}
