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

// survey holds the architecture-independent results for the shards of a program, by
// shard. It is stored.
type survey struct {
	Shards   []shard.Shard
	Limits   [][]float64 // in the order of limits
	Misses   [][]shard.Misses
	Warnings []string
}

// look surveys the shards and appends their rows.
func (v *program) look(ctx context.Context) error {
	var configs []pipeline.Config
	var shards [][]int
	all := make([]int, len(v.windows))
	for k := range all {
		all[k] = k
	}
	for _, l := range limits() {
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

// surveyed runs the program once with all collectors of the survey.
func (v *program) surveyed(ctx context.Context, configs []pipeline.Config, shards [][]int) (*survey, error) {
	characteristics, err := shard.New(v.plan, v.code, v.campaign.Length)
	if err != nil {
		return nil, err
	}
	var misses []*shard.Caches
	var collectors []trace.Collector
	for k, w := range v.windows {
		c, err := shard.NewCaches(v.plan, v.code, []shard.Window{shard.Window(w)}, cacheSets())
		if err != nil {
			return nil, err
		}
		misses, collectors = append(misses, c), append(collectors, v.before(k, c))
	}
	sims, err := v.simulators(configs, shards)
	if err != nil {
		return nil, err
	}
	collectors = append(append(collectors, sims.stretches...), characteristics)
	if err := v.observe(ctx, collectors...); err != nil {
		return nil, err
	}
	limited, err := sims.result()
	if err != nil {
		return nil, err
	}
	return v.collect(characteristics, misses, limited)
}

// collect returns the results of collectors for the shards that were drawn;
// characteristics are collected of all shards.
func (v *program) collect(characteristics *shard.Collector, caches []*shard.Caches, limited *simulated) (*survey, error) {
	all, warnings := characteristics.Result()
	out := &survey{Warnings: addWarnings(limited.Warnings, warnings)}
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
		for i, l := range limits() {
			values[l.Name] = l.of(&limited.Counts[i][k].Counts) - values[l.less]
			row = append(row, values[l.Name])
		}
		out.Limits = append(out.Limits, row)
	}
	return out, nil
}

// addShards appends the rows of the shards of the survey.
func (v *program) addShards() {
	characteristics, limits := shard.Characteristics(), limitNames()
	for k := range v.survey.Shards {
		s := &v.survey.Shards[k]
		row := Shard{
			Application: v.of.Application, Level: v.of.Level, Input: v.of.Input,
			Variant: v.variant, Shard: k, From: s.From, Instructions: s.Instructions,
			Characteristics: make(map[string]float64), Limits: make(map[string]float64),
			DataBlocks: s.DataBlocks, CodeBlocks: s.CodeBlocks, DataReuses: s.Data.Count,
		}
		for i, value := range s.Values() {
			row.Characteristics[characteristics[i].Name] = value
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

// cacheSets returns, by stream, the numbers of sets of all caches in the hardware
// space, ascending.
func cacheSets() (sets [3][]uint64) {
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

// cacheSizes returns, by stream, the parameter that holds the size of its cache.
func cacheSizes() [3]string {
	return [...]string{shard.Data: "dcache_kib", shard.Code: "icache_kib", shard.Both: "l2_kib"}
}
