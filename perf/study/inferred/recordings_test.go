package inferred

import (
	"bytes"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestProfilesAreRecorded(t *testing.T) {
	p := inventedProfiles()
	dir := t.TempDir()
	if err := p.Record(dir, "invented"); err != nil {
		t.Fatal(err)
	}
	if err := p.RecordDistances(dir, "invented"); err != nil {
		t.Fatal(err)
	}
	got, err := LoadProfiles(dir)
	if err != nil || !reflect.DeepEqual(got, p) {
		t.Fatalf("read back as something else, error %v", err)
	}
	p.Profiles[3].Architecture = 99
	if err := p.Record(dir, "invented"); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadProfiles(dir); err == nil || !strings.Contains(err.Error(), "architecture 99") {
		t.Errorf("a profile of an unknown architecture: %v", err)
	}
	p.Misses = p.Misses[1:]
	if err := p.Record(dir, "invented"); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadProfiles(dir); err == nil || !strings.Contains(err.Error(), "misses of shard 0 of p-O1-first") {
		t.Errorf("misses that are not there: %v", err)
	}
}

// TestFindingsAreRecorded demands that findings survive being written and read, as do
// baselines, including those from R.
func TestFindingsAreRecorded(t *testing.T) {
	study := *smallFindings(t, Paper)
	found := &study
	dir := t.TempDir()
	if err := found.Record(dir, "invented"); err != nil {
		t.Fatal(err)
	}
	got, err := Load(dir)
	found.Model = nil
	if err != nil || !reflect.DeepEqual(got, found) {
		t.Errorf("read back as something else, error %v", err)
	}
}

// TestProfilesAreChecked demands errors, with file and row, for tables that no campaign
// records.
func TestProfilesAreChecked(t *testing.T) {
	for name, c := range map[string]struct {
		alter func(p *Profiles)
		want  []string
	}{
		"more ways miss more":    {func(p *Profiles) { p.Misses[4].Four = p.Misses[4].Two + 1 }, []string{"misses.csv", "row 5", "more ways"}},
		"eight ways miss more":   {func(p *Profiles) { p.Misses[0].Eight = p.Misses[0].Four + 1 }, []string{"misses.csv", "row 1", "more ways"}},
		"two ways miss more":     {func(p *Profiles) { p.Misses[1].Two = p.Misses[1].One + 1 }, []string{"misses.csv", "row 2", "more ways"}},
		"caches twice":           {func(p *Profiles) { p.Misses = slices.Insert(p.Misses, 3, p.Misses[1]) }, []string{"misses.csv", "row 4", "row 2 already"}},
		"a shard twice":          {func(p *Profiles) { p.Shards = append(p.Shards[:2:2], p.Shards[1:]...) }, []string{"shards.csv", "row 3", "row 2 already"}},
		"a shard of nothing":     {func(p *Profiles) { p.Shards[2].Instructions = 0 }, []string{"shards.csv", "row 3", "no instructions"}},
		"a profile of no cycles": {func(p *Profiles) { p.Profiles[6].Cycles = 0 }, []string{"profiles.csv", "row 7", "0 cycles"}},
		"a profile of no shard":  {func(p *Profiles) { p.Profiles[6].Shard = 9 }, []string{"profiles.csv", "row 7", "shard 9"}},
		"a negative shard":       {func(p *Profiles) { p.Profiles[6].Shard = -1 }, []string{"profiles.csv", "row 7", "shard -1"}},
		"a fraction of a way":    {func(p *Profiles) { p.Hardware[1].Parameters["l1_ways"] = 2.5 }, []string{"architectures.csv", "row 2", `"l1_ways"`, `"2.5"`}},
		"an unknown size":        {func(p *Profiles) { p.Hardware[1].Parameters["l2_kib"] = math.NaN() }, []string{"architectures.csv", "row 2", `"l2_kib"`, `""`}},
		"a shard before all":     {func(p *Profiles) { p.Shards[2].Shard = -1 }, []string{"shards.csv", "row 3", "shard -1"}},
		"a variant of nothing":   {func(p *Profiles) { p.Shards[2].Variant = "p" }, []string{"shards.csv", "row 3", `"p"`, "p-LEVEL-INPUT"}},
		"another variant":        {func(p *Profiles) { p.Shards[2].Variant = "q-O1-first" }, []string{"shards.csv", "row 3", `"q-O1-first"`}},
		"no such limit":          {func(p *Profiles) { delete(p.Shards[2].Limits, "l1_misses") }, []string{"shards.csv", "row 3", `"l1_misses"`}},
		"no such characteristic": {func(p *Profiles) { delete(p.Shards[3].Characteristics, "memory") }, []string{"shards.csv", "row 4", `"memory"`}},
	} {
		p := inventedProfiles()
		c.alter(p)
		dir := t.TempDir()
		if err := p.Record(dir, "invented"); err != nil {
			t.Fatal(err)
		}
		_, err := LoadProfiles(dir)
		for _, want := range append(c.want, dir, "anew") {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want one that names %q", name, err, want)
			}
		}
	}
}

// TestTablesAreChecked demands errors, with file, row and column, for malformed numbers
// and for numbers that a table cannot have.
func TestTablesAreChecked(t *testing.T) {
	type counts struct {
		N uint64 `frame:"n"`
	}
	type texts struct {
		N string `frame:"n"`
	}
	for text, want := range map[string]string{
		"0 7 9007199254740993": "",
		"1 -1 3":               "row 2",
		"1 2 0.5":              "row 3",
		"1 2 Inf":              "row 3",
		"1 many 3":             "row 2",
		"1 1e300 3":            "row 2",
	} {
		var rows []texts
		for _, n := range strings.Fields(text) {
			rows = append(rows, texts{n})
		}
		dir := t.TempDir()
		if err := save(dir, "n.csv", rows, "invented", "invented"); err != nil {
			t.Fatal(err)
		}
		var got []counts
		err := load(dir, "n.csv", &got)
		if want == "" && (err != nil || !slices.Equal(got, []counts{{0}, {7}, {1<<53 + 1}})) {
			t.Errorf("%s: %v, error %v", text, got, err)
		}
		for _, part := range []string{want, `column "n"`, "n.csv", "anew"} {
			if want != "" && (err == nil || !strings.Contains(err.Error(), part)) {
				t.Errorf("%s: error %v, want one that names %s", text, err, part)
			}
		}
	}
}

// TestFindingsAreChecked refuses numbers that no study records.
func TestFindingsAreChecked(t *testing.T) {
	for want, f := range map[string]Findings{
		"predictions.csv, row 2": {Predictions: []Prediction{{Shard: -1}, {Shard: -2}}},
		"predictions.csv, row 1": {Predictions: []Prediction{{Architecture: -1}}},
		"searches.csv, row 1":    {Generations: []Generation{{Generation: -1}}},
		"specs.csv, row 1":       {Specs: []Spec{{Rank: -3}}},
	} {
		dir := t.TempDir()
		if err := f.Record(dir, "invented"); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that names %s", err, want)
		}
	}
}

// TestRecordingsAreKept reads every recorded table into rows and writes these
// again: the files are the same to the byte.
func TestRecordingsAreKept(t *testing.T) {
	dir := t.TempDir()
	long := []string{"long/million", "long/ten-million"}
	for _, folder := range append(long, ".") {
		campaign, err := LoadProfiles(filepath.Join(recorded, folder))
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, folder)
		if err := os.MkdirAll(to, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := campaign.Record(to, "again"); err != nil {
			t.Fatal(err)
		}
		if err := campaign.RecordDistances(to, "again"); err != nil {
			t.Fatal(err)
		}
	}
	folders := []string{string(Paper), string(LimitSet), string(Portable), "searched", "joint", "ridge", "process", "process-3", string(Counted), string(Histograms), "histograms-3", "paper-hierarchical", "limits-hierarchical"}
	for _, campaign := range long {
		for _, study := range []string{string(Portable), "process", string(Histograms)} {
			folders = append(folders, filepath.Join(campaign, study))
		}
	}
	for _, folder := range folders {
		from, to := filepath.Join(recorded, folder), filepath.Join(dir, folder)
		if err := os.Mkdir(to, 0o700); err != nil {
			t.Fatal(err)
		}
		found, err := Load(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := found.Record(to, "again"); err != nil {
			t.Fatal(err)
		}
		if folder != string(Paper) && folder != string(LimitSet) {
			continue // baselines are of the paper's variables and of limits
		}
		others, err := LoadBaselines(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := RecordBaselines(to, others, "again"); err != nil {
			t.Fatal(err)
		}
	}
	files := 0
	err := fs.WalkDir(os.DirFS(recorded), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".csv" || d.Name() == "recordings.csv" {
			return err
		}
		files++
		want, err := os.ReadFile(filepath.Join(recorded, path))
		if err != nil {
			return err
		}
		got, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes were read, %d written (%v)", path, len(want), len(got), err)
		}
		return nil
	})
	if err != nil || files != 74 {
		t.Errorf("%d files, error %v", files, err)
	}
}
