package inferred

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"presage/perf/infer"
	"presage/perf/shard"
)

// inventedProfiles returns a campaign over three applications, and one that no
// model is to be fitted to, whose CPI is a formula of some characteristics and
// parameters.
func inventedProfiles() *Profiles {
	rng := rand.New(rand.NewPCG(1, 2))
	p := new(Profiles)
	for i, a := range infer.SampleArchitectures(rng, 60) {
		h := hardware(i, a)
		h.Fresh = i >= 50
		p.Hardware = append(p.Hardware, h)
	}
	for _, application := range []string{"p", "q", "r", "t"} {
		for _, level := range levels() {
			for _, input := range []string{"first", "second"} {
				p.invent(rng, Subject{Application: application, Level: level, Input: input})
			}
		}
	}
	return p
}

// inventedUnseen is the application that no model is to be made of.
const inventedUnseen = "t"

// invent adds a variant of two shards, on 24 architectures to fit to, one shard
// each, and on three of each kind to choose by, and to check.
func (p *Profiles) invent(rng *rand.Rand, of Subject) {
	application, variant := of.Application, of.Variant()
	for k := range 2 {
		s := Shard{
			Application: application, Level: of.Level, Input: of.Input, Variant: variant, Shard: k, Instructions: 1000000,
			Characteristics: make(map[string]float64), Limits: make(map[string]float64),
		}
		for _, c := range shard.Characteristics() {
			s.Characteristics[c.Name] = rng.Float64()
		}
		for _, name := range limitNames() {
			s.Limits[name] = rng.Float64() / 10
		}
		p.Shards = append(p.Shards, s)
		for stream, sets := range cacheSets() {
			most := rng.Uint64N(30000)
			for _, n := range sets {
				m := shard.Misses{Stream: shard.Stream(stream), Sets: n}
				for ways := range m.ByWays {
					m.ByWays[ways] = most / uint64(1+ways)
				}
				p.addMisses(variant, k, m)
			}
			if stream == int(shard.Data) {
				p.Shards[len(p.Shards)-1].DataReuses = most
			}
			for i, b := range shard.Bounds() {
				p.Distances = append(p.Distances, Distance{variant, k, shard.Stream(stream).String(), b, most / uint64(1+i)})
			}
		}
	}
	shards := p.Shards[len(p.Shards)-2:]
	add := func(architecture, k int, use string) {
		h, c := p.Hardware[architecture].Parameters, shards[k].Characteristics
		cpi := (1+c["memory"]*8/h["dcache_kib"])*(0.3+1/h["width_instructions"]) + c["control"]*0.2
		p.Profiles = append(p.Profiles, Profile{variant, k, architecture, use, 1000000, uint64(1e6 * cpi * math.Exp(0.01*rng.NormFloat64()))})
	}
	pool, fit := rng.Perm(50), Train
	if application == inventedUnseen {
		fit = Update
	}
	for i := range 24 {
		add(pool[i], i%2, fit)
	}
	for i := range 3 {
		for k := range 2 {
			add(pool[24+i], k, Check)
			add(50+i, k, New)
			if application != inventedUnseen {
				add(pool[27+i], k, Choose)
				add(55+i, k, Choose)
			}
		}
	}
}

// smallStudy returns a study that takes a second on invented profiles.
func smallStudy() Options {
	return Options{Variables: Paper, Search: infer.SearchOptions{Population: 8, Generations: 3, Powers: 1}, Profiles: 8, Counts: []int{4}}
}

// inventedFindings is the small study of the invented profiles; tests do not change
// it.
var inventedFindings = sync.OnceValues(func() (*Findings, error) {
	return smallStudy().Run(context.Background(), inventedProfiles())
})

func runStudy(t *testing.T, o Options, p *Profiles) *Findings {
	t.Helper()
	found, err := o.Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// smallFindings returns what the small study finds by a set of variables.
func smallFindings(t *testing.T, set Set) *Findings {
	t.Helper()
	if set != Paper {
		o := smallStudy()
		o.Variables = set
		return runStudy(t, o, inventedProfiles())
	}
	found, err := inventedFindings()
	if err != nil {
		t.Fatal(err)
	}
	return found
}
