package inferred

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"presage/perf/frame"
	"presage/perf/infer"
	"presage/perf/shard"
	"presage/perf/study/record"
)

// Files that a campaign is recorded in, a study, and other methods.
const (
	shardsFile    = "shards.csv"
	missesFile    = "misses.csv"
	distancesFile = "distances.csv"
	hardwareFile  = "architectures.csv"
	profilesFile  = "profiles.csv"

	predictionsFile = "predictions.csv"
	searchesFile    = "searches.csv"
	specsFile       = "specs.csv"

	baselinesFile = "baselines.csv"
)

// save records rows in a file of a folder.
func save[R any](dir, file string, rows []R, origin, command string) error {
	if err := record.Write(filepath.Join(dir, file), rows, record.Source{Origin: origin, Command: command}); err != nil {
		return fmt.Errorf("perf: infer: %w", err)
	}
	return nil
}

// load reads the rows that save recorded in a file of a folder.
func load[R any](dir, file string, rows *[]R) error {
	t, err := record.Read[R](filepath.Join(dir, file))
	if err != nil {
		return fmt.Errorf("perf: infer: %w; record the table anew", err)
	}
	*rows = t.Rows
	return nil
}

// loadIfThere is load of a table that need not be there.
func loadIfThere[R any](dir, file string, rows *[]R) error {
	if _, err := os.Stat(filepath.Join(dir, file)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return load(dir, file, rows)
}

// first returns the error of the first step that fails; the steps after it are
// not taken.
func first(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// Record writes the tables of p into a folder; record.Record keeps their origin
// and the command beside them.
func (p *Profiles) Record(dir, command string) error {
	return first(
		func() error {
			return save(dir, shardsFile, p.Shards, "counted: characteristics of shards, whatever the machine", command)
		},
		func() error {
			return save(dir, missesFile, p.Misses, "counted: misses of shards in caches of all geometries", command)
		},
		func() error {
			return save(dir, hardwareFile, p.Hardware, "drawn at random from Table 2 of Wu and Lee 2012", command)
		},
		func() error {
			return save(dir, profilesFile, p.Profiles, "simulated by the pipeline model: cycles of shards on architectures", command)
		},
	)
}

// LoadProfiles reads what Record wrote.
func LoadProfiles(dir string) (*Profiles, error) {
	p := new(Profiles)
	err := first(
		func() error { return load(dir, shardsFile, &p.Shards) },
		func() error { return load(dir, missesFile, &p.Misses) },
		func() error { return loadIfThere(dir, distancesFile, &p.Distances) },
		func() error { return load(dir, hardwareFile, &p.Hardware) },
		func() error { return load(dir, profilesFile, &p.Profiles) },
	)
	if err != nil {
		return nil, err
	}
	if err := first(p.completeShards, p.completeHardware, p.check); err != nil {
		return nil, fmt.Errorf("perf: infer: %s: %w; record the campaign anew", dir, err)
	}
	return p, nil
}

// completeShards fills in the fields of shards that are not columns, and removes from
// each of their maps the numbers of the other: frame.Into puts all numbers in both.
func (p *Profiles) completeShards() error {
	var characteristics []string
	for _, c := range shard.Characteristics() {
		characteristics = append(characteristics, c.Name)
	}
	limits := limitNames()
	for i := range p.Shards {
		s := &p.Shards[i]
		var err error
		if s.Level, s.Input, err = parseVariant(s.Application, s.Variant); err != nil {
			return fmt.Errorf("%s, row %d: %w", shardsFile, i+1, err)
		}
		all := s.Characteristics
		if s.Characteristics, err = only(all, characteristics); err == nil {
			s.Limits, err = only(all, limits)
		}
		if err != nil {
			return fmt.Errorf("%s, row %d, %w", shardsFile, i+1, err)
		}
	}
	return nil
}

// only returns the named values, or an error if one is missing.
func only(values map[string]float64, names []string) (map[string]float64, error) {
	named := make(map[string]float64, len(names))
	for _, name := range names {
		v, known := values[name]
		if !known {
			return nil, fmt.Errorf("column %q: no number", name)
		}
		named[name] = v
	}
	return named, nil
}

// exact is the largest whole number up to which a float64 holds all.
const exact = 1 << 53

// completeHardware drops numbers that are not parameters, and returns an error if a
// parameter is not a whole number.
func (p *Profiles) completeHardware() error {
	for i := range p.Hardware {
		h := &p.Hardware[i]
		parameters := make(map[string]float64)
		for _, y := range infer.HardwareSpace() {
			v, known := h.Parameters[y.Name]
			if !known || v != math.Trunc(v) || v < 0 || v > exact {
				var text string
				if known {
					text = frame.Text(v)
				}
				return fmt.Errorf("%s, row %d, column %q: %q is no whole number from 0 to 2^53", hardwareFile, i+1, y.Name, text)
			}
			parameters[y.Name] = v
		}
		h.Parameters = parameters
	}
	return nil
}

// check returns an error if p has values that no campaign records; it names the table
// and the row, counted from 1 below the header.
func (p *Profiles) check() error {
	if err := first(p.checkShards, p.checkMisses, p.checkDistances); err != nil {
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

// checkShards returns an error if a shard is described twice, or is empty.
func (p *Profiles) checkShards() error {
	rows := make(map[shardKey]int)
	for i, s := range p.Shards {
		key := shardKey{s.Variant, s.Shard}
		if first := rows[key]; first > 0 {
			return fmt.Errorf("%s, row %d: shard %d of %s stands in row %d already", shardsFile, i+1, s.Shard, s.Variant, first)
		}
		rows[key] = i + 1
		if s.Shard < 0 {
			return fmt.Errorf("%s, row %d: shard %d of %s: shards are numbered from 0", shardsFile, i+1, s.Shard, s.Variant)
		}
		if s.Instructions == 0 {
			return fmt.Errorf("%s, row %d: shard %d of %s has no instructions", shardsFile, i+1, s.Shard, s.Variant)
		}
	}
	return nil
}

// checkMisses returns an error if caches are repeated or miss more often with more ways,
// which is impossible under LRU, or if a shard lacks the misses of caches that
// architectures may have.
func (p *Profiles) checkMisses() error {
	type place struct {
		shardKey
		caches
	}
	rows := make(map[place]int)
	for i, m := range p.Misses {
		key := place{shardKey{m.Variant, m.Shard}, caches{m.Stream, m.Sets}}
		if first := rows[key]; first > 0 {
			return fmt.Errorf("%s, row %d: shard %d of %s in caches of %d sets that see %s stands in row %d already", missesFile, i+1, m.Shard, m.Variant, m.Sets, m.Stream, first)
		}
		rows[key] = i + 1
		if m.One < m.Two || m.Two < m.Four || m.Four < m.Eight {
			return fmt.Errorf("%s, row %d: %d, %d, %d and %d misses in 1, 2, 4 and 8 ways: more ways cannot miss more", missesFile, i+1, m.One, m.Two, m.Four, m.Eight)
		}
	}
	for _, s := range p.Shards {
		for stream, sets := range cacheSets() {
			for _, n := range sets {
				of := caches{shard.Stream(stream).String(), n}
				if rows[place{shardKey{s.Variant, s.Shard}, of}] == 0 {
					return fmt.Errorf("%s: the misses of shard %d of %s in caches of %d sets that see %s are not described", missesFile, s.Shard, s.Variant, n, of.stream)
				}
			}
		}
	}
	return nil
}

// Record writes the tables of f into a folder; record.Record keeps their origin
// and the command beside them. Model is not recorded: see LoadModel.
func (f *Findings) Record(dir, command string) error {
	return first(
		func() error {
			return save(dir, predictionsFile, f.Predictions, "predicted by inferred models, beside what was simulated", command)
		},
		func() error {
			return save(dir, searchesFile, f.Generations, "generations of genetic searches", command)
		},
		func() error {
			return save(dir, specsFile, f.Specs, "the best specs of the search over all applications", command)
		},
	)
}

// Load reads what Findings.Record wrote; Model is nil.
func Load(dir string) (*Findings, error) {
	f := new(Findings)
	err := first(
		func() error { return load(dir, predictionsFile, &f.Predictions) },
		func() error { return load(dir, searchesFile, &f.Generations) },
		func() error { return load(dir, specsFile, &f.Specs) },
	)
	if err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("perf: infer: %s: %w; record the study anew", dir, err)
	}
	return f, nil
}

// check returns an error if f has numbers that no study records.
func (f *Findings) check() error {
	for i, r := range f.Predictions {
		if r.Shard < -1 || r.Architecture < 0 || r.Profiles < 0 {
			return fmt.Errorf("%s, row %d: shard %d on architecture %d, %d profiles", predictionsFile, i+1, r.Shard, r.Architecture, r.Profiles)
		}
	}
	for i, g := range f.Generations {
		if g.Generation < 0 || g.Terms < 0 {
			return fmt.Errorf("%s, row %d: generation %d with %d terms", searchesFile, i+1, g.Generation, g.Terms)
		}
	}
	for i, s := range f.Specs {
		if s.Rank < 1 {
			return fmt.Errorf("%s, row %d: rank %d", specsFile, i+1, s.Rank)
		}
	}
	return nil
}

// RecordBaselines writes the table of other methods into a folder.
func RecordBaselines(dir string, rows []Baseline, command string) error {
	return save(dir, baselinesFile, rows, "other methods, on the profiles that inferred models are judged by", command)
}

// LoadBaselines reads what RecordBaselines wrote.
func LoadBaselines(dir string) ([]Baseline, error) {
	var rows []Baseline
	err := load(dir, baselinesFile, &rows)
	return rows, err
}
