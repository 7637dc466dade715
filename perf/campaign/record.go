package campaign

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"presage/perf/store"
)

// Manifest is what a campaign's folder says of it.
type Manifest struct {
	ID      string    `json:"id"`
	Command string    `json:"command,omitempty"` // that it is part of
	On      string    `json:"on"`                // what does it: pool, ssh or slurm
	Folder  string    `json:"folder"`            // that jobs run in
	Began   time.Time `json:"began"`
	Jobs    int       `json:"jobs"` // to be done then
	Total   int       `json:"total"`
}

const (
	manifestFile = "manifest.json"
	journals     = "journal"
	logs         = "logs"
)

// Describe writes the campaign's manifest: what it is on, the folder that jobs run in,
// and the command that it is part of.
func (c *Campaign) Describe(on, folder, command string) error {
	text, err := json.MarshalIndent(Manifest{
		ID: c.ID, Command: command, On: on, Folder: folder, Began: time.Now().UTC(), Jobs: len(c.Jobs), Total: c.Total,
	}, "", "\t")
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	return store.WriteFile(filepath.Join(c.Dir, manifestFile), append(text, '\n'))
}

// ErrNone is the error of a campaign that a store does not have.
var ErrNone = errors.New("campaign: there is none of this ID: presage campaign list has those that there are")

// ReadManifest returns the manifest of a campaign of a store.
func ReadManifest(st *store.Store, id string) (*Manifest, error) {
	if id == "" || strings.ContainsAny(id, `/\.`) {
		return nil, fmt.Errorf("%w: %q", ErrNone, id)
	}
	path := filepath.Join(st.Dir(), Folder, id, manifestFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNone, id)
	}
	if err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	m := new(Manifest)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("campaign: %s: %w", path, err)
	}
	return m, nil
}

// List returns the manifests of a store's campaigns, those begun last first.
func List(st *store.Store) ([]Manifest, error) {
	entries, err := os.ReadDir(filepath.Join(st.Dir(), Folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	var list []Manifest
	for _, e := range entries {
		m, err := ReadManifest(st, e.Name())
		if errors.Is(err, ErrNone) { // begun, and not described yet
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, *m)
	}
	slices.SortStableFunc(list, func(a, b Manifest) int { return b.Began.Compare(a.Began) })
	return list, nil
}

// Journal is a file of how jobs ended, which one process appends to: none is shared, as
// appending by several is not safe over NFS.
type Journal struct {
	file *os.File
}

// OpenJournal opens the journal of that name, which must not be open elsewhere.
func OpenJournal(dir, name string) (*Journal, error) {
	path := filepath.Join(dir, journals, name+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	return &Journal{f}, nil
}

// Write appends how a job ended.
func (j *Journal) Write(e *Ended) error {
	line, err := json.Marshal(e)
	if err == nil {
		_, err = j.file.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("campaign: journal: %w", err)
	}
	return nil
}

// Close closes the journal.
func (j *Journal) Close() error { return j.file.Close() }

// Journals returns the names of a campaign's journals, in order.
func Journals(dir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, journals))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".jsonl"); ok {
			names = append(names, name)
		}
	}
	return names, nil
}

// ReadJournal passes on what a journal holds. A last line that is not complete, as its
// writer was killed, is passed over; a damaged one elsewhere is an error.
func ReadJournal(dir, name string, to func(*Ended)) error {
	_, err := ReadJournalFrom(dir, name, 0, to)
	return err
}

// ReadJournalFrom is ReadJournal from an offset on, that an earlier call returned.
func ReadJournalFrom(dir, name string, offset int64, to func(*Ended)) (int64, error) {
	path := filepath.Join(dir, journals, name+".jsonl")
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return offset, nil
	}
	if err != nil {
		return offset, fmt.Errorf("campaign: %w", err)
	}
	defer f.Close() // only read
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return offset, fmt.Errorf("campaign: %w", err)
	}
	for r := bufio.NewReader(f); ; {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return offset, nil
		}
		if err != nil {
			return offset, fmt.Errorf("campaign: %s: %w", path, err)
		}
		e := new(Ended)
		if err := json.Unmarshal(line, e); err != nil {
			return offset, fmt.Errorf("campaign: %s: at byte %d: %w", path, offset, err)
		}
		offset += int64(len(line))
		to(e)
	}
}

// jobsFile holds the jobs of a campaign that is to be attached to.
const jobsFile = "jobs.jsonl"

// SaveJobs keeps the campaign's jobs, for Load.
func (c *Campaign) SaveJobs() error {
	return store.WriteTo(filepath.Join(c.Dir, jobsFile), func(w io.Writer) error { return WriteJobs(w, c.Jobs) })
}

// WriteJobs writes a line of JSON for each job.
func WriteJobs(w io.Writer, jobs []Job) error {
	b := bufio.NewWriter(w)
	e := json.NewEncoder(b)
	for i := range jobs {
		if err := e.Encode(&jobs[i]); err != nil {
			return err
		}
	}
	return b.Flush()
}

// ReadJobs reads what WriteJobs wrote to a file.
func ReadJobs(path string) ([]Job, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	defer f.Close() // only read
	var jobs []Job
	for d := json.NewDecoder(bufio.NewReader(f)); ; {
		var j Job
		err := d.Decode(&j)
		if errors.Is(err, io.EOF) {
			return jobs, nil
		}
		if err != nil {
			return nil, fmt.Errorf("campaign: %s: %w", path, err)
		}
		jobs = append(jobs, j)
	}
}

// JobsOf returns the jobs of a campaign of a store that were to be done when it began
// last.
func JobsOf(st *store.Store, id string) ([]Job, error) {
	return ReadJobs(filepath.Join(st.Dir(), Folder, id, jobsFile))
}

// Load returns a campaign of a store, with those of its jobs that are not done.
func Load(st *store.Store, id string) (*Campaign, error) {
	m, err := ReadManifest(st, id)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(st.Dir())
	if err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	c := &Campaign{ID: id, Dir: filepath.Join(dir, Folder, id), Store: st, Total: m.Total}
	jobs, err := ReadJobs(filepath.Join(c.Dir, jobsFile))
	if err != nil {
		return nil, err
	}
	for i := range jobs {
		done, err := jobs[i].Done(st)
		if err != nil {
			return nil, err
		}
		if !done {
			c.Jobs = append(c.Jobs, jobs[i])
		}
	}
	return c, nil
}

// WriteLog keeps what a failed job left to be read, and returns the file's path. Logs
// are in 256 folders, as there may be many.
func WriteLog(dir string, e *Ended, output string) (string, error) {
	path := filepath.Join(dir, logs, e.Job[:2], e.Job+".log")
	text := fmt.Sprintf("%s\non %s, %.3g s\n\n%s\n", e.Label, e.Host, e.Seconds, e.Error)
	if output != "" {
		text += "\nIt wrote:\n" + output + "\n"
	}
	return path, store.WriteFile(path, []byte(text))
}
