package inferred

import (
	"slices"

	"presage/perf/infer"
	"presage/perf/shard"
)

// Shard is what a variant does in a shard of its run, whatever the machine.
type Shard struct {
	Application     string             `frame:"application"`
	Variant         string             `frame:"variant"` // see Subject.Variant; a program's name in PredictCPI
	Shard           int                `frame:"shard"`   // number among those of the variant, from 0
	From            uint64             `frame:"from_instructions"`
	Instructions    uint64             `frame:"instructions"`
	Characteristics map[string]float64 `frame:",each"` // of Table 1: see shard.Characteristics
	Limits          map[string]float64 `frame:",each"` // see Limits
	DataBlocks      uint64             `frame:"data_blocks"`
	CodeBlocks      uint64             `frame:"code_blocks"`
	DataReuses      uint64             `frame:"data_reuses"` // accesses to data blocks accessed before

	// Level and Input are those of the variant, empty in PredictCPI. They are no
	// columns, as the variant's name has them.
	Level Level
	Input string
}

// Hardware is an architecture of a campaign.
type Hardware struct {
	Architecture int                `frame:"architecture"` // number, from 0
	Fresh        bool               `frame:"fresh"`        // of none that models are fitted to
	Parameters   map[string]float64 `frame:",each"`        // of Table 2: see infer.HardwareSpace
}

// hardware returns the row of an architecture, with its parameters by name.
func hardware(number int, a infer.Architecture) Hardware {
	h := Hardware{Architecture: number, Parameters: make(map[string]float64)}
	for j, y := range infer.HardwareSpace() {
		h.Parameters[y.Name] = a[j]
	}
	return h
}

// Misses are the misses of a shard in caches with a number of sets, in blocks of
// 64 bytes, under LRU.
type Misses struct {
	Variant string `frame:"variant"`
	Shard   int    `frame:"shard"`
	Stream  string `frame:"stream"` // data, code or both: see shard.Stream
	Sets    uint64 `frame:"sets"`
	One     uint64 `frame:"misses_1_way"`
	Two     uint64 `frame:"misses_2_ways"`
	Four    uint64 `frame:"misses_4_ways"`
	Eight   uint64 `frame:"misses_8_ways"`
}

// Profile is the simulation of a shard on an architecture.
type Profile struct {
	Variant      string `frame:"variant"`
	Shard        int    `frame:"shard"`
	Architecture int    `frame:"architecture"`
	Use          string `frame:"use"` // Train, Choose, Update, Check or New
	Instructions uint64 `frame:"sim_instructions"`
	Cycles       uint64 `frame:"sim_cycles"`
}

// CPI returns the cycles per instruction of a profile.
func (q Profile) CPI() float64 { return float64(q.Cycles) / float64(q.Instructions) }

// Profiles are the results of a campaign. Hardware[i].Architecture is i.
type Profiles struct {
	Shards    []Shard
	Misses    []Misses
	Distances []Distance // of the shards, in their order; none where they were not counted
	Hardware  []Hardware
	Profiles  []Profile
	Warnings  []string // of the simulations; not recorded
}

// shardKey names a shard.
type shardKey struct {
	variant string
	shard   int
}

func (p *Profiles) shards() map[shardKey]*Shard {
	all := make(map[shardKey]*Shard)
	for i := range p.Shards {
		all[shardKey{p.Shards[i].Variant, p.Shards[i].Shard}] = &p.Shards[i]
	}
	return all
}

// caches are all caches with a number of sets that see a stream.
type caches struct {
	stream string
	sets   uint64
}

// misses returns the misses of each shard.
func (p *Profiles) misses() map[shardKey]map[caches]Misses {
	all := make(map[shardKey]map[caches]Misses)
	for _, m := range p.Misses {
		key := shardKey{m.Variant, m.Shard}
		if all[key] == nil {
			all[key] = make(map[caches]Misses)
		}
		all[key][caches{m.Stream, m.Sets}] = m
	}
	return all
}

func (p *Profiles) addMisses(variant string, k int, m shard.Misses) {
	p.Misses = append(p.Misses, Misses{variant, k, m.Stream.String(), m.Sets, m.ByWays[0], m.ByWays[1], m.ByWays[3], m.ByWays[7]})
}

// Applications returns the applications that models are fitted to, sorted.
func (p *Profiles) Applications() []string { return p.with(Train) }

// Unseen returns the applications that no model is fitted to, sorted. People chose
// the form of the models by some of them, which have no profiles that judge: see
// Choose.
func (p *Profiles) Unseen() []string { return p.with(Update) }

// with returns the applications that have profiles of a use.
func (p *Profiles) with(use string) []string {
	shards := p.shards()
	var names []string
	for _, q := range p.Profiles {
		if q.Use == use {
			names = append(names, shards[shardKey{q.Variant, q.Shard}].Application)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// known returns the shards of the applications that models are fitted to.
func (p *Profiles) known() (list []*Shard) {
	applications := p.Applications()
	for i := range p.Shards {
		if slices.Contains(applications, p.Shards[i].Application) {
			list = append(list, &p.Shards[i])
		}
	}
	return list
}

// training returns the profiles that models are fitted to.
func (p *Profiles) training() (list []Profile) {
	for _, q := range p.Profiles {
		if q.Use == Train {
			list = append(list, q)
		}
	}
	return list
}

// Table returns profiles as a table to fit to, in their order: a row each, the
// response is CPI, the group the application.
func (p *Profiles) Table(profiles []Profile, set Set) *infer.Table {
	shards, misses := p.shards(), p.misses()
	t := &infer.Table{Names: Variables(set)}
	t.Columns = make([][]float64, len(t.Names))
	shares := shares()
	if set == LimitSet {
		t.Plain = make([]bool, len(t.Names))
		for i := range shares {
			t.Plain[i] = true
		}
	}
	var reuses map[shardKey]map[string]*distribution
	if set == Histograms {
		reuses = p.histograms()
	}
	for _, q := range profiles {
		key := shardKey{q.Variant, q.Shard}
		on := placement{shards[key], misses[key], reuses[key], p.Hardware[q.Architecture].Parameters}
		values, estimate := on.values(set, shares)
		for v, x := range values {
			t.Columns[v] = append(t.Columns[v], x)
		}
		if set == LimitSet || set.meets() {
			t.Estimate = append(t.Estimate, estimate)
		}
		t.Response = append(t.Response, q.CPI())
		t.Groups = append(t.Groups, on.shard.Application)
	}
	return t
}
