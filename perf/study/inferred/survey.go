package inferred

import (
	"context"
	"fmt"
	"slices"

	"presage/perf/infer"
	"presage/perf/pipeline"
	"presage/perf/shard"
	"presage/perf/store"
	"presage/perf/trace"
)

// survey is what is known of the shards of a program whatever the
// architecture, by shard. It is stored.
type survey struct {
	Shards   []shard.Shard
	Limits   [][]float64 // in the order of inferLimits
	Misses   [][]shard.Misses
	Warnings []string
}

// look surveys the shards and adds what was found.
func (v *program) look(ctx context.Context) error {
	var configs []pipeline.Config
	var shards [][]int
	all := make([]int, len(v.windows))
	for k := range all {
		all[k] = k
	}
	for _, l := range inferLimits() {
		configs, shards = append(configs, l.machine()), append(shards, all)
	}
	key, err := store.NewKey("survey", surveyVersion, v.key(configs, shards))
	if err != nil {
		return err
	}
	memo, err := store.Memo(v.campaign.Store, key, func() (*survey, error) { return v.surveyed(ctx, configs, shards) })
	if err != nil {
		return err
	}
	v.survey = memo.Value
	v.warn(memo.Warning, memo.Value.Warnings)
	v.addShards()
	return nil
}

func (v *program) surveyed(ctx context.Context, configs []pipeline.Config, shards [][]int) (*survey, error) {
	characteristics, err := shard.New(v.plan, v.code, v.campaign.Length)
	if err != nil {
		return nil, err
	}
	var caches []*shard.Caches
	var collectors []trace.Collector
	for k, w := range v.windows {
		c, err := shard.NewCaches(v.plan, v.code, []shard.Window{shard.Window(w)}, inferSets())
		if err != nil {
			return nil, err
		}
		caches, collectors = append(caches, c), append(collectors, v.before(k, c))
	}
	sims, err := v.simulators(configs, shards)
	if err != nil {
		return nil, err
	}
	collectors = append(append(collectors, sims.stretches...), characteristics)
	if err := v.observe(ctx, collectors...); err != nil {
		return nil, err
	}
	limits, err := sims.result()
	if err != nil {
		return nil, err
	}
	return v.collect(characteristics, caches, limits)
}

// collect takes the results: of the shards that were characterised, those that
// were drawn.
func (v *program) collect(characteristics *shard.Collector, caches []*shard.Caches, limits *storedInfer) (*survey, error) {
	all, warnings := characteristics.Result()
	out := &survey{Warnings: addWarnings(limits.Warnings, warnings)}
	for _, w := range v.windows {
		i := slices.IndexFunc(all, func(s shard.Shard) bool { return s.From >= w.From && s.From < w.To })
		if i < 0 {
			return nil, fmt.Errorf("perf: infer: there is no shard at instruction %d", w.From)
		}
		out.Shards = append(out.Shards, all[i])
	}
	for k, c := range caches {
		misses := c.Result()
		if len(misses) != 1 {
			return nil, fmt.Errorf("perf: infer: there are no misses of shard %d", k)
		}
		out.Misses = append(out.Misses, misses[0])
	}
	for k := range out.Shards {
		values := make(map[string]float64)
		var row []float64
		for i, l := range inferLimits() {
			values[l.Name] = l.of(&limits.Counts[i][k].Counts) - values[l.less]
			row = append(row, values[l.Name])
		}
		out.Limits = append(out.Limits, row)
	}
	return out, nil
}

// addShards adds the shards of the survey to the tables.
func (v *program) addShards() {
	names, limits := shard.Characteristics(), limitNames()
	for k := range v.survey.Shards {
		s := &v.survey.Shards[k]
		row := Shard{
			Application: v.application, Variant: v.variant, Shard: k, From: s.From, Instructions: s.Instructions,
			Characteristics: make(map[string]float64), Limits: make(map[string]float64),
			DataBlocks: s.DataBlocks, CodeBlocks: s.CodeBlocks, DataReuses: s.Data.Count,
		}
		for i, value := range s.Values() {
			row.Characteristics[names[i].Name] = value
		}
		for i, value := range v.survey.Limits[k] {
			row.Limits[limits[i]] = value
		}
		v.out.Shards = append(v.out.Shards, row)
		for _, m := range v.survey.Misses[k] {
			v.out.addMisses(v.variant, k, m)
		}
	}
}

func (p *Profiles) addMisses(variant string, k int, m shard.Misses) {
	p.Misses = append(p.Misses, Misses{variant, k, m.Stream.String(), m.Sets, m.ByWays[0], m.ByWays[1], m.ByWays[3], m.ByWays[7]})
}

// inferSets returns the numbers of sets that caches of the hardware space have,
// by stream.
func inferSets() (sets [3][]uint64) {
	values := make(map[string][]float64)
	for _, p := range infer.HardwareSpace() {
		values[p.Name] = p.Values
	}
	for stream, size := range cacheSizes() {
		for _, kib := range values[size] {
			for _, ways := range values["l1_ways"] {
				if stream == int(shard.Both) {
					ways = max(2, ways)
				}
				sets[stream] = append(sets[stream], blocks(int(kib))/uint64(ways))
			}
		}
		slices.Sort(sets[stream])
		sets[stream] = slices.Compact(sets[stream])
	}
	return sets
}

// cacheSizes names the parameter that is the size of the cache of a stream.
func cacheSizes() [3]string {
	return [...]string{shard.Data: "dcache_kib", shard.Code: "icache_kib", shard.Both: "l2_kib"}
}
