package locality

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"presage/perf/objfile"
	"presage/perf/store"
	"presage/perf/subject"
)

// savedFormat is the version of the file that Save writes. The formats before 4 had
// no checksum.
const savedFormat = 4

// SavedName is the file that says what a folder of profiles holds.
const SavedName = "profiles.json"

// saved is the content of profiles.json. The histograms stand beside it, in the
// layout of package store: under keys that are hashes of what was recorded, which
// their own checksums include. So the checksum here ties points and arguments to
// histograms.
type saved struct {
	Format     int
	Checksum   string // of the rest
	Name       string // of the program
	Programs   []savedProgram
	BlockBytes []uint64
	Runs       []savedRun
}

// savedProgram is an executable that the folder holds.
type savedProgram struct {
	Path   string // below the folder
	SHA256 string // with its libraries

	// Libraries are the shared libraries that the program loaded, none if it is static.
	Libraries []savedLibrary `json:",omitempty"`
}

// savedLibrary is a shared library that the folder holds.
type savedLibrary struct {
	Path   string // below the folder
	Name   string
	Loaded string // where the program found it
	Base   uint64
}

type savedRun struct {
	Program  int // index in saved.Programs
	Point    subject.Point
	Recorded Recorded
}

// Save writes the runs with their program into a folder, for LoadRuns. The
// folder then stands for these runs; profiles of others that it holds stay
// there, and a sweep that needs them finds them.
func (r *Runs) Save(dir string) error {
	if dir == "" {
		return errors.New("perf: save: no folder")
	}
	if len(r.Runs) == 0 {
		return errors.New("perf: no runs to save")
	}
	s := saved{Format: savedFormat, Name: r.Label(), BlockBytes: r.BlockBytes()}
	st := store.Open(dir)
	made := r.programs()
	for _, p := range made.list {
		kept, err := saveProgram(p, dir, st)
		if err != nil {
			return err
		}
		s.Programs = append(s.Programs, kept)
	}
	for i := range r.Runs {
		run := &r.Runs[i]
		s.Runs = append(s.Runs, savedRun{made.of[i], run.Point, run.Recorded})
		if err := run.save(st); err != nil {
			return err
		}
	}
	sum, err := s.checksum()
	if err != nil {
		return fmt.Errorf("perf: save: %w", err)
	}
	s.Checksum = sum
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("perf: save: %w", err)
	}
	return st.WriteFile(SavedName, append(text, '\n'))
}

// checksum returns the SHA-256, in hexadecimal, of everything but the checksum.
func (s saved) checksum() (string, error) {
	s.Checksum = ""
	text, err := json.Marshal(s)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

// readSaved returns the content of profiles.json. Keys that it does not know, and
// whatever was changed since it was written, are errors.
func readSaved(text []byte) (*saved, error) {
	var head struct{ Format int }
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, err
	}
	if head.Format != savedFormat {
		return nil, fmt.Errorf("format %d, and this version reads %d; profile again, which repeats no run that is kept", head.Format, savedFormat)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	s := new(saved)
	if err := d.Decode(s); err != nil {
		return nil, err
	}
	sum, err := s.checksum()
	if err != nil {
		return nil, err
	}
	if sum != s.Checksum {
		return nil, errors.New("the checksum does not match: the file was changed; profile again, which repeats no run that is kept")
	}
	if len(s.Programs) == 0 || len(s.Runs) == 0 || len(s.BlockBytes) == 0 {
		return nil, errors.New("no program, no runs or no block sizes; profile again")
	}
	return s, nil
}

// saveProgram copies a program, with its libraries, into a folder.
func saveProgram(p *subject.Program, dir string, st *store.Store) (savedProgram, error) {
	below := func(path string, err error) (string, error) {
		if err == nil {
			path, err = filepath.Rel(dir, path)
		}
		return filepath.ToSlash(path), err
	}
	s := savedProgram{SHA256: p.File.SHA256}
	alone := p.Alone()
	path, err := below(subject.KeepFile(st, alone.File, alone.Name))
	if err != nil {
		return s, fmt.Errorf("perf: save: %w", err)
	}
	s.Path = path
	for _, m := range p.File.Modules {
		path, err := below(subject.KeepFile(st, m.File, filepath.Base(m.Path)))
		if err != nil {
			return s, fmt.Errorf("perf: save: %w", err)
		}
		s.Libraries = append(s.Libraries, savedLibrary{Path: path, Name: m.Name, Loaded: m.Path, Base: m.Base})
	}
	p.CopyAnalysis(st)
	return s, nil
}

// save writes the run's histograms that the store lacks.
func (run *Run) save(st *store.Store) error {
	facts := subject.Facts{
		Args: run.Args, Instructions: run.Instructions, Accesses: run.Accesses,
		HeapPeak: run.HeapPeak, Mappings: run.Mappings, Processes: run.Processes,
		Stdout: run.Stdout, Warnings: run.warnings,
	}
	for _, result := range run.Reuse {
		_, err := loadReuse(st, run.Recorded, result.BlockBytes)
		if err == nil {
			continue
		}
		if err := saveReuse(st, run.Recorded, &storedReuse{Facts: facts, Stack: run.Stack, Result: result}); err != nil {
			return err
		}
	}
	return nil
}

// LoadRuns reads the runs that Save wrote.
func LoadRuns(dir string) (*Runs, error) {
	text, err := os.ReadFile(filepath.Join(dir, SavedName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("perf: %s holds no profiles (no %s); make some with Runs.Save or `presage profile … -o %s`", dir, SavedName, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	path := filepath.Join(dir, SavedName)
	s, err := readSaved(text)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", path, err)
	}
	programs := make([]*subject.Program, len(s.Programs))
	for i, p := range s.Programs {
		if programs[i], err = p.open(dir); err != nil {
			return nil, fmt.Errorf("perf: %s: %w", path, err)
		}
	}
	runs := &Runs{Name: s.Name}
	st := store.Open(dir)
	for _, sr := range s.Runs {
		if sr.Program < 0 || sr.Program >= len(programs) {
			return nil, fmt.Errorf("perf: %s: the profile of %s is of program %d, and there are %d; profile again", path, sr.Point, sr.Program, len(programs))
		}
		prog := programs[sr.Program]
		plan, err := planOf(prog, sr.Recorded.Stack)
		if err != nil {
			return nil, err
		}
		if w := prog.AnalysisWarning(); w != "" && !slices.Contains(runs.Warnings, w) {
			runs.Warnings = append(runs.Warnings, w)
		}
		if plan.Digest() != sr.Recorded.Plan {
			return nil, fmt.Errorf("perf: %s: the profile of %s was taken by a version that groups references otherwise; profile again", path, sr.Point)
		}
		run, err := loadRun(st, prog, sr, s.BlockBytes)
		if err != nil {
			return nil, err
		}
		runs.Runs = append(runs.Runs, run)
		runs.Warnings = slices.Concat(runs.Warnings, run.warnings, run.sampled())
	}
	return runs, runs.share()
}

// open opens a program that Save has kept in dir.
func (p savedProgram) open(dir string) (*subject.Program, error) {
	path, err := local(dir, p.Path)
	if err != nil {
		return nil, err
	}
	prog, err := subject.Open(path)
	if err != nil {
		return nil, err
	}
	prog.KeepAnalysis(store.Open(dir))
	var modules []objfile.Module
	for _, l := range p.Libraries {
		if path, err = local(dir, l.Path); err != nil {
			return nil, err
		}
		f, err := objfile.Open(path)
		if err != nil {
			return nil, err
		}
		modules = append(modules, objfile.Module{Name: l.Name, Path: l.Loaded, Base: l.Base, File: f})
	}
	if prog, err = prog.With(modules); err != nil {
		return nil, err
	}
	if prog.File.SHA256 != p.SHA256 {
		return nil, fmt.Errorf("%s is not the program that was profiled; profile again", prog.File.Path)
	}
	return prog, nil
}

// local returns the path of a file that Save has kept in dir.
func local(dir, path string) (string, error) {
	path = filepath.FromSlash(path)
	if !filepath.IsLocal(path) {
		return "", fmt.Errorf("file %q is not below the folder; profile again", path)
	}
	return filepath.Join(dir, path), nil
}

func loadRun(st *store.Store, prog *subject.Program, sr savedRun, sizes []uint64) (Run, error) {
	found := make(map[uint64]*storedReuse)
	for _, size := range sizes {
		s, err := loadReuse(st, sr.Recorded, size)
		var corrupt *store.CorruptError
		switch {
		case err == nil && s.Result.BlockBytes == size && slices.Equal(s.Facts.Args, sr.Recorded.Inputs.Args):
			found[size] = s
		case err == nil:
			return Run{}, fmt.Errorf("perf: %s: the profile of %s for blocks of %d bytes is that of another run (%q, blocks of %d); profile again", st.Dir(), sr.Point, size, s.Facts.Args, s.Result.BlockBytes)
		case errors.Is(err, store.ErrMissing):
			return Run{}, fmt.Errorf("perf: %s lacks the profile of %s for blocks of %d bytes; profile again (it is missing)", st.Dir(), sr.Point, size)
		case errors.As(err, &corrupt):
			return Run{}, fmt.Errorf("perf: %s lacks the profile of %s for blocks of %d bytes; profile again (%w)", st.Dir(), sr.Point, size, err)
		default:
			return Run{}, err
		}
	}
	return newRun(prog, sr.Point, sr.Recorded, sizes, found), nil
}
