package inferred

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
	"presage/perf/infer"
	"presage/perf/shard"
	"presage/perf/study/record"
)

// Seed is the seed of campaigns, and of the shards and architectures that
// predictions are asked for, unless another is given.
const Seed = 2027

// Files that a campaign is recorded in.
const (
	shardsFile   = "shards.csv"
	missesFile   = "misses.csv"
	hardwareFile = "architectures.csv"
	profilesFile = "profiles.csv"
)

// Record writes the tables of p into a folder: see the function Record.
func (p *Profiles) Record(dir, command string) error {
	for _, t := range []struct {
		file, origin string
		write        func(path string, from record.Source) error
	}{
		{shardsFile, "counted: characteristics of shards, whatever the machine", writer(p.Shards)},
		{missesFile, "counted: misses of shards in caches of all geometries", writer(p.Misses)},
		{hardwareFile, "drawn at random from Table 2 of Wu and Lee 2012", writer(p.Hardware)},
		{profilesFile, "simulated by the pipeline model: cycles of shards on architectures", writer(p.Profiles)},
	} {
		if err := t.write(filepath.Join(dir, t.file), record.Source{Origin: t.origin, Command: command}); err != nil {
			return fmt.Errorf("perf: infer: %w", err)
		}
	}
	return nil
}

// writer returns what records rows.
func writer[R any](rows []R) func(path string, from record.Source) error {
	return func(path string, from record.Source) error { return record.Write(path, rows, from) }
}

// LoadInferProfiles reads what Record wrote.
func LoadInferProfiles(dir string) (*Profiles, error) {
	p := new(Profiles)
	err := readInferTables(dir, []inferTable{
		{shardsFile, p.readShards}, {missesFile, p.readMisses}, {hardwareFile, p.readHardware}, {profilesFile, p.readProfiles},
	})
	if err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("perf: infer: %s: %w; record the campaign anew", dir, err)
	}
	return p, nil
}

// inferTable is a recorded table and what reads it.
type inferTable struct {
	file string
	read func(r *reader)
}

// readInferTables reads tables of a folder; an error names the file.
func readInferTables(dir string, tables []inferTable) error {
	for _, t := range tables {
		path := filepath.Join(dir, t.file)
		text, err := record.ReadText(path)
		if err != nil {
			return err
		}
		df, err := frame.ReadCSV(bytes.NewReader(text.CSV))
		if err != nil {
			return fmt.Errorf("perf: %s: %w", path, err)
		}
		r := reader{df: df}
		t.read(&r)
		if r.err != nil {
			return fmt.Errorf("perf: infer: %s: %w", path, r.err)
		}
	}
	return nil
}

// reader reads columns and remembers the first error; columns that are
// missing come out empty, but as long as the table.
type reader struct {
	df  dataframe.DataFrame
	err error
}

func (r *reader) numbers(name string) []float64 {
	v, err := frame.Floats(r.df, name)
	if err != nil {
		r.fail(err)
		return make([]float64, r.df.Nrow())
	}
	return v
}

func (r *reader) texts(name string) []string {
	v, err := frame.Strings(r.df, name)
	if err != nil {
		r.fail(err)
		return make([]string, r.df.Nrow())
	}
	return v
}

// optional returns a column of text that older recordings do not have: blanks.
func (r *reader) optional(name string) []string {
	if !slices.Contains(r.df.Names(), name) {
		return make([]string, r.rows())
	}
	return r.texts(name)
}

// counts returns a column of whole numbers from 0 to 2^53.
func (r *reader) counts(name string) []uint64 { return wholes[uint64](r, name, 0) }

// numbered returns a column of whole numbers from 0 to 2^53.
func (r *reader) numbered(name string) []int { return wholes[int](r, name, 0) }

// exact is the largest whole number up to which a float64 holds all.
const exact = 1 << 53

// wholes returns a column of whole numbers from least to 2^53. Anything else, a
// blank too, is an error that names the row, 1 for the first below the header.
func wholes[T int | uint64](r *reader, name string, least int64) []T {
	texts := r.texts(name)
	values := make([]T, len(texts))
	for i, text := range texts {
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil || v < least || v > exact {
			r.fail(fmt.Errorf("row %d, column %q: %q is no whole number from %d to 2^53; record the table anew", i+1, name, text, least))
			break
		}
		values[i] = T(v)
	}
	return values
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) rows() int { return r.df.Nrow() }

func (p *Profiles) readShards(r *reader) {
	application, variant := r.texts("application"), r.texts("variant")
	k, from, instructions := r.numbered("shard"), r.counts("from_instructions"), r.counts("instructions")
	data, code, reuses := r.counts("data_blocks"), r.counts("code_blocks"), r.counts("data_reuses")
	values, limits := make(map[string][]float64), make(map[string][]float64)
	for _, c := range shard.Characteristics() {
		values[c.Name] = r.numbers(c.Name)
	}
	for _, name := range limitNames() {
		limits[name] = r.numbers(name)
	}
	for i := range r.rows() {
		s := Shard{
			Application: application[i], Variant: variant[i], Shard: k[i], From: from[i], Instructions: instructions[i],
			Characteristics: make(map[string]float64), Limits: make(map[string]float64), DataBlocks: data[i], CodeBlocks: code[i], DataReuses: reuses[i],
		}
		for name, v := range values {
			s.Characteristics[name] = v[i]
		}
		for name, v := range limits {
			s.Limits[name] = v[i]
		}
		p.Shards = append(p.Shards, s)
	}
}

func (p *Profiles) readMisses(r *reader) {
	variant, stream, k, sets := r.texts("variant"), r.texts("stream"), r.numbered("shard"), r.counts("sets")
	one, two, four, eight := r.counts("misses_1_way"), r.counts("misses_2_ways"), r.counts("misses_4_ways"), r.counts("misses_8_ways")
	for i := range r.rows() {
		p.Misses = append(p.Misses, Misses{variant[i], k[i], stream[i], sets[i], one[i], two[i], four[i], eight[i]})
	}
}

func (p *Profiles) readHardware(r *reader) {
	number, fresh := r.numbered("architecture"), r.texts("fresh")
	values := make(map[string][]uint64)
	for _, y := range infer.HardwareSpace() {
		values[y.Name] = r.counts(y.Name)
	}
	for i := range r.rows() {
		if fresh[i] != "true" && fresh[i] != "false" {
			r.fail(fmt.Errorf("row %d, column \"fresh\": %q is neither true nor false; record the table anew", i+1, fresh[i]))
		}
		h := Hardware{Architecture: number[i], Fresh: fresh[i] == "true", Parameters: make(map[string]float64)}
		for name, v := range values {
			h.Parameters[name] = float64(v[i])
		}
		p.Hardware = append(p.Hardware, h)
	}
}

func (p *Profiles) readProfiles(r *reader) {
	variant, use := r.texts("variant"), r.texts("use")
	k, number := r.numbered("shard"), r.numbered("architecture")
	instructions, cycles := r.counts("sim_instructions"), r.counts("sim_cycles")
	for i := range r.rows() {
		p.Profiles = append(p.Profiles, Profile{variant[i], k[i], number[i], use[i], instructions[i], cycles[i]})
	}
}

// check reports what no campaign records; an error names the table, and the row
// as the reader's do.
func (p *Profiles) check() error {
	if err := p.checkShards(); err != nil {
		return err
	}
	if err := p.checkMisses(); err != nil {
		return err
	}
	shards := p.shards()
	for i, q := range p.Profiles {
		if shards[shardKey{q.Variant, q.Shard}] == nil {
			return fmt.Errorf("%s, row %d: shard %d of %s is not described", profilesFile, i+1, q.Shard, q.Variant)
		}
		if q.Architecture < 0 || q.Architecture >= len(p.Hardware) || p.Hardware[q.Architecture].Architecture != q.Architecture {
			return fmt.Errorf("%s, row %d: architecture %d is not described", profilesFile, i+1, q.Architecture)
		}
		if q.Cycles == 0 || q.Instructions == 0 {
			return fmt.Errorf("%s, row %d: %d cycles of %d instructions", profilesFile, i+1, q.Cycles, q.Instructions)
		}
	}
	return nil
}

// checkShards reports a shard that is described twice, or is empty.
func (p *Profiles) checkShards() error {
	rows := make(map[shardKey]int)
	for i, s := range p.Shards {
		key := shardKey{s.Variant, s.Shard}
		if first := rows[key]; first > 0 {
			return fmt.Errorf("%s, row %d: shard %d of %s stands in row %d already", shardsFile, i+1, s.Shard, s.Variant, first)
		}
		rows[key] = i + 1
		if s.Instructions == 0 {
			return fmt.Errorf("%s, row %d: shard %d of %s has no instructions", shardsFile, i+1, s.Shard, s.Variant)
		}
	}
	return nil
}

// checkMisses reports caches that stand twice, those that miss more often with
// more ways, which LRU cannot, and a shard without misses in some caches that
// architectures may have.
func (p *Profiles) checkMisses() error {
	type caches struct {
		shardKey
		inferCaches
	}
	rows := make(map[caches]int)
	for i, m := range p.Misses {
		key := caches{shardKey{m.Variant, m.Shard}, inferCaches{m.Stream, m.Sets}}
		if first := rows[key]; first > 0 {
			return fmt.Errorf("%s, row %d: shard %d of %s in caches of %d sets that see %s stands in row %d already", missesFile, i+1, m.Shard, m.Variant, m.Sets, m.Stream, first)
		}
		rows[key] = i + 1
		if m.One < m.Two || m.Two < m.Four || m.Four < m.Eight {
			return fmt.Errorf("%s, row %d: %d, %d, %d and %d misses in 1, 2, 4 and 8 ways: more ways cannot miss more", missesFile, i+1, m.One, m.Two, m.Four, m.Eight)
		}
	}
	for _, s := range p.Shards {
		for stream, sets := range inferSets() {
			for _, n := range sets {
				of := inferCaches{shard.Stream(stream).String(), n}
				if rows[caches{shardKey{s.Variant, s.Shard}, of}] == 0 {
					return fmt.Errorf("%s: the misses of shard %d of %s in caches of %d sets that see %s are not described", missesFile, s.Shard, s.Variant, n, of.stream)
				}
			}
		}
	}
	return nil
}

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

// Applications returns the applications that models are made of, sorted.
func (p *Profiles) Applications() []string { return p.with(Train) }

// Unseen returns the applications that no model is made of, sorted. The form of
// the models was chosen by some of them, which have no profiles that judge: see
// InferChoose.
func (p *Profiles) Unseen() []string { return p.with(Update) }

// known returns the shards of the applications that models are made of.
func (p *Profiles) known() (list []*Shard) {
	applications := p.Applications()
	for i := range p.Shards {
		if slices.Contains(applications, p.Shards[i].Application) {
			list = append(list, &p.Shards[i])
		}
	}
	return list
}

// with returns the applications that have profiles of some use.
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

// Table returns profiles as a table to fit to, in their order: a row each, the
// response is CPI, the group the application.
func (p *Profiles) Table(profiles []Profile, set Set) *infer.Table {
	shards, misses := p.shards(), p.misses()
	t := &infer.Table{Names: Variables(set)}
	t.Columns = make([][]float64, len(t.Names))
	shares := inferShares()
	if set == LimitSet {
		t.Plain = make([]bool, len(t.Names))
		for i := range shares {
			t.Plain[i] = true
		}
	}
	for _, q := range profiles {
		key := shardKey{q.Variant, q.Shard}
		c := inferCase{shards[key], misses[key], p.Hardware[q.Architecture].Parameters}
		values, estimate := c.values(set, shares)
		for v, x := range values {
			t.Columns[v] = append(t.Columns[v], x)
		}
		if set == LimitSet {
			t.Estimate = append(t.Estimate, estimate)
		}
		t.Response = append(t.Response, q.CPI())
		t.Groups = append(t.Groups, c.shard.Application)
	}
	return t
}

// misses returns the misses of each shard.
func (p *Profiles) misses() map[shardKey]map[inferCaches]Misses {
	all := make(map[shardKey]map[inferCaches]Misses)
	for _, m := range p.Misses {
		key := shardKey{m.Variant, m.Shard}
		if all[key] == nil {
			all[key] = make(map[inferCaches]Misses)
		}
		all[key][inferCaches{m.Stream, m.Sets}] = m
	}
	return all
}

// CPI returns the cycles per instruction of a profile.
func (q Profile) CPI() float64 { return float64(q.Cycles) / float64(q.Instructions) }

// Files that a study is recorded in.
const (
	predictionsFile = "predictions.csv"
	searchesFile    = "searches.csv"
	specsFile       = "specs.csv"
	baselinesFile   = "baselines.csv"
)

// Record writes the tables of f into a folder: see the function Record.
func (f *Findings) Record(dir, command string) error {
	for _, t := range []struct {
		file, origin string
		write        func(path string, from record.Source) error
	}{
		{predictionsFile, "predicted by inferred models, beside what was simulated", writer(f.Predictions)},
		{searchesFile, "generations of genetic searches", writer(f.Generations)},
		{specsFile, "the best specs of the search over all applications", writer(f.Specs)},
	} {
		if err := t.write(filepath.Join(dir, t.file), record.Source{Origin: t.origin, Command: command}); err != nil {
			return fmt.Errorf("perf: infer: %w", err)
		}
	}
	return nil
}

// RecordInferBaselines writes the table of other methods into a folder.
func RecordInferBaselines(dir string, rows []Baseline, command string) error {
	from := record.Source{Origin: "other methods, on the profiles that inferred models are judged by", Command: command}
	if err := record.Write(filepath.Join(dir, baselinesFile), rows, from); err != nil {
		return fmt.Errorf("perf: infer: %w", err)
	}
	return nil
}

// LoadInferFindings reads what Record wrote of a study; Model is not recorded.
func LoadInferFindings(dir string) (*Findings, error) {
	f := new(Findings)
	err := readInferTables(dir, []inferTable{
		{predictionsFile, f.readPredictions}, {searchesFile, f.readGenerations}, {specsFile, f.readSpecs},
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (f *Findings) readPredictions(r *reader) {
	scenario, application, variant := r.texts("scenario"), r.texts("application"), r.texts("variant")
	k := wholes[int](r, "shard", -1) // -1: a program
	number, profiles := r.numbered("architecture"), r.numbered("update_profiles")
	simulated, predicted := r.numbers("sim_cpi"), r.numbers("pred_cpi")
	for i := range r.rows() {
		f.Predictions = append(f.Predictions, Prediction{
			scenario[i], application[i], variant[i], k[i], number[i], profiles[i], simulated[i], predicted[i],
		})
	}
}

func (f *Findings) readGenerations(r *reader) {
	search, number, terms := r.texts("search"), r.numbered("generation"), r.numbered("terms")
	best, median := r.numbers("best_sum_of_medians"), r.numbers("median_sum_of_medians")
	for i := range r.rows() {
		f.Generations = append(f.Generations, Generation{search[i], number[i], best[i], median[i], terms[i]})
	}
}

func (f *Findings) readSpecs(r *reader) {
	rank, errs, genes, pairs := r.numbered("rank"), r.numbers("mean_of_medians"), r.texts("genes"), r.texts("interactions")
	variables := r.optional("variables")
	for i := range r.rows() {
		f.Specs = append(f.Specs, Spec{rank[i], errs[i], genes[i], pairs[i], variables[i]})
	}
}
