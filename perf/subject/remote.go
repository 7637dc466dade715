package subject

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"presage/perf/campaign"
	"presage/perf/engine"
	"presage/perf/progress"
	"presage/perf/store"
)

// Remote is a run as a job of a campaign describes it. The executable travels by
// content, in the store. Folders that the program reads have to be there, with the same
// contents, wherever it runs.
type Remote struct {
	Inputs Inputs
	Point  Point
	Whereabouts
}

// Whereabouts is where a Remote finds what the store does not hold of its executable.
type Whereabouts struct {
	// Path is where a program lies that may look for files beside it, such as shared
	// libraries: one that runs natively. It is run from there, if the same lies there on
	// the machine that does the job.
	Path string `json:",omitempty"`

	// Alone is the SHA-256 of the executable if it loads Libraries, which have to be on
	// the machine that does the job, and the same; Inputs.Program is that of all.
	Alone     string    `json:",omitempty"`
	Libraries []library `json:",omitempty"`
}

// Remote keeps the executable in a store, from which other processes open it, and
// returns what describes its run with the inputs in.
func (p *Program) Remote(st *store.Store, in Inputs, point Point) (Remote, error) {
	dir, err := filepath.Abs(st.Dir())
	if err != nil {
		return Remote{}, fmt.Errorf("perf: %w", err)
	}
	p.known.Lock()
	known := p.known.traveller == dir
	p.known.Unlock()
	if !known {
		if _, err := p.Alone().Keep(st); err != nil {
			return Remote{}, err
		}
		p.CopyAnalysis(st)
		p.known.Lock()
		p.known.traveller = dir
		p.known.Unlock()
	}
	r := Remote{Inputs: in, Point: point}
	if p != p.Alone() {
		r.Alone = p.Alone().File.SHA256
		for _, m := range p.File.Modules {
			r.Libraries = append(r.Libraries, library{m.Path, m.Base, m.File.SHA256})
		}
	}
	if !in.Engine.Numbered { // not in the sandbox, where a program finds nothing beside it
		if r.Path, err = filepath.Abs(p.File.Path); err != nil {
			return Remote{}, fmt.Errorf("perf: %w", err)
		}
	}
	return r, nil
}

// open opens the executable, where it lies or as the store keeps it.
func (r *Remote) open(st *store.Store) (*Program, error) {
	sum := cmp.Or(r.Alone, r.Inputs.Program)
	if r.Path != "" {
		if prog, err := Open(r.Path); err == nil && prog.File.SHA256 == sum {
			return prog, nil
		}
	}
	return Open(keptAt(st, sum, r.Inputs.Name))
}

// join returns the executable of the run with its libraries.
func (r *Remote) join(prog *Program) (*Program, error) {
	for _, l := range r.Libraries {
		f, err := prog.library(l.Path)
		if err != nil {
			return nil, fmt.Errorf("perf: %s: library: %w; it has to be on this machine, too", r.Inputs.Command(), err)
		}
		if f.SHA256 != l.SHA256 {
			return nil, fmt.Errorf("perf: %s: library %s is not that of the job: SHA-256 %s, want %s; link the program with -static, or do the job where it was made", r.Inputs.Command(), l.Path, f.SHA256, l.SHA256)
		}
	}
	return prog.join(r.Libraries)
}

// Open opens the executable of the run from a store, and checks that the run would be
// the one described: the same executable, engine and files. It completes Inputs by what
// their JSON does not tell.
func (r *Remote) Open(st *store.Store) (*Program, error) {
	in := &r.Inputs
	if len(in.Program) < programPrefix || len(r.Libraries) > 0 && len(r.Alone) < programPrefix || filepath.Base(in.Name) != in.Name {
		return nil, fmt.Errorf("perf: a job of the program %q, SHA-256 %q", in.Name, in.Program)
	}
	prog, err := r.open(st)
	if err != nil {
		return nil, fmt.Errorf("%w; the store that the job came from has it", err)
	}
	if prog, err = r.join(prog); err != nil {
		return nil, err
	}
	if prog.File.SHA256 != in.Program {
		return nil, fmt.Errorf("perf: %s is not the executable of the job: SHA-256 %s, want %s", prog.File.Path, prog.File.SHA256, in.Program)
	}
	id, err := prog.identity(in.choice())
	if err != nil {
		return nil, err
	}
	if here, err := sameEngine(id, in.Engine); !here || err != nil {
		return nil, errors.Join(fmt.Errorf("perf: %s: the engine here is %v, that of the job %v", in.Command(), id, in.Engine), err)
	}
	in.Engine = id
	var files []string
	for _, folder := range in.Folders {
		f, err := fingerprints(folder.Host)
		if err != nil {
			return nil, fmt.Errorf("perf: folder for %s: %w; it has to be on this machine, too", folder.Guest, err)
		}
		files = append(files, f...)
	}
	if !slices.Equal(files, in.Files) {
		return nil, fmt.Errorf("perf: %s: %w", in.Command(), errOtherFiles)
	}
	prog.KeepAnalysis(st)
	return prog, nil
}

// sameEngine reports whether an engine is the one that was read from JSON, which does
// not tell the names of all.
func sameEngine(here, read engine.Identity) (bool, error) {
	a, err := json.Marshal(here)
	if err != nil {
		return false, err
	}
	b, err := json.Marshal(read)
	return bytes.Equal(a, b), err
}

var errOtherFiles = errors.New("the files that it reads differ from those of the machine where the job was made")

// Step returns the step of the run, for Memo.
func (r *Remote) Step(at campaign.Site) Step {
	return Step{Point: r.Point, Total: 1, Options: &RunOptions{Store: at.Store, Progress: func(p progress.Report) {
		if at.Running != nil {
			at.Running(p.Instructions)
		}
	}}}
}

// RunMemory is what a run is expected to occupy, in bytes, unless more is known.
const RunMemory = 1 << 30

// RemoteJob returns the job of a kind that a Spec describes, and which runs the program
// with the inputs in.
func RemoteJob(kind, what string, in *Inputs, spec any, results ...store.Key) (campaign.Job, error) {
	job, err := campaign.NewJob(kind, what+" "+in.Command(), spec, results...)
	job.Needs.Memory = RunMemory
	return job, err
}
