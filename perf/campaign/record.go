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

// Describe writes the campaign's manifest.
func (c *Campaign) Describe(on, command string) error {
	folder, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
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
	path := filepath.Join(dir, journals, name+".jsonl")
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	defer f.Close() // only read
	r := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("campaign: %s:%d: %w", path, n, err)
		}
		e := new(Ended)
		if err := json.Unmarshal(line, e); err != nil {
			return fmt.Errorf("campaign: %s:%d: %w", path, n, err)
		}
		to(e)
	}
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
