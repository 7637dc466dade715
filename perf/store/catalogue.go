package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Entry is what a store holds under a key.
type Entry struct {
	Key
	Bytes int64     // of its file
	Time  time.Time // when it was written
}

const ending = ".gob"

var (
	kindName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	hashName = regexp.MustCompile(`^[0-9a-f]{32}$`)
)

// check returns an error if the key is none that NewKey returns.
func (k Key) check() error {
	if !kindName.MatchString(k.Kind) || !hashName.MatchString(k.Hash) {
		return fmt.Errorf("store: %q, %q is no key of an entry", k.Kind, k.Hash)
	}
	return nil
}

// Kinds returns the kinds of entries that the store holds, in alphabetical order.
func (s *Store) Kinds() ([]string, error) {
	folders, err := readDir(s.dir)
	if err != nil {
		return nil, err
	}
	var kinds []string
	for _, f := range folders {
		if f.IsDir() && kindName.MatchString(f.Name()) && s.holdsEntries(f.Name()) {
			kinds = append(kinds, f.Name())
		}
	}
	return kinds, nil
}

// holdsEntries reports whether a folder of the store is that of a kind: programs and
// campaigns lie beside these.
func (s *Store) holdsEntries(kind string) bool {
	parts, err := os.ReadDir(filepath.Join(s.dir, kind))
	if err != nil {
		return false
	}
	for _, p := range parts {
		if len(p.Name()) != 2 || !p.IsDir() {
			continue
		}
		files, err := os.ReadDir(filepath.Join(s.dir, kind, p.Name()))
		if err == nil && slices.ContainsFunc(files, func(f fs.DirEntry) bool { return isEntry(f.Name()) }) {
			return true
		}
	}
	return false
}

func isEntry(file string) bool {
	hash, ok := strings.CutSuffix(file, ending)
	return ok && hashName.MatchString(hash)
}

// Walk calls visit for each entry of a kind, ordered by hash; "" stands for all kinds.
// It stops at the first error of visit and returns it. Entries that come or go meanwhile
// may be passed over. It holds one folder of names at a time, a 256th of a kind.
func (s *Store) Walk(kind string, visit func(Entry) error) error {
	kinds := []string{kind}
	if kind == "" {
		var err error
		if kinds, err = s.Kinds(); err != nil {
			return err
		}
	}
	for _, k := range kinds {
		parts, err := readDir(filepath.Join(s.dir, k))
		if err != nil {
			return err
		}
		for _, part := range parts {
			if err := s.walkPart(k, part.Name(), visit); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) walkPart(kind, part string, visit func(Entry) error) error {
	files, err := readDir(filepath.Join(s.dir, kind, part))
	if err != nil {
		return err
	}
	for _, f := range files {
		if !isEntry(f.Name()) {
			continue
		}
		key := Key{kind, strings.TrimSuffix(f.Name(), ending)}
		info, err := f.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("store: %w", err)
		}
		if err := visit(Entry{key, info.Size(), info.ModTime()}); err != nil {
			return err
		}
	}
	return nil
}

// readDir is os.ReadDir, except that a folder that does not exist is empty.
func readDir(dir string) ([]fs.DirEntry, error) {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return list, nil
}

// Verify reads the entry of k and holds it against its checksum. It returns ErrMissing
// if there is none, and a CorruptError if Load could not use it.
func (s *Store) Verify(k Key) error {
	path := s.Path(k)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s", ErrMissing, path)
	}
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer f.Close() // only read
	if err := k.verify(f); err != nil {
		return &CorruptError{Path: path, Err: err}
	}
	return nil
}

// verify holds the entry of k against the checksum at its beginning.
func (k Key) verify(r io.Reader) error {
	head := make([]byte, headBytes)
	if n, err := io.ReadFull(r, head); err != nil {
		head = head[:n]
	}
	want, sum, err := k.head(head)
	if err != nil {
		return err
	}
	if _, err := io.Copy(sum, r); err != nil {
		return err
	}
	if !bytes.Equal(sum.Sum(nil), want) {
		return errChecksum
	}
	return nil
}

// Remove removes the entry of k. That there is none is no error.
func (s *Store) Remove(k Key) error {
	if err := k.check(); err != nil {
		return err
	}
	if err := os.Remove(s.Path(k)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// Stray is a file that a process began to write and did not finish.
type Stray struct {
	Path  string
	Bytes int64
	Time  time.Time // when it was last written to
}

// Strays returns unfinished files below the store's folder: those that are being
// written, and those of processes that died.
func (s *Store) Strays() ([]Stray, error) {
	var all []Stray
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() || !strings.HasPrefix(d.Name(), tempPrefix) {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			all = append(all, Stray{path, info.Size(), info.ModTime()})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return all, nil
}

// Collection says what Collect removes.
type Collection struct {
	Before   time.Time // entries written before; zero: none for their age
	Kinds    []string  // of these kinds only; nil: of all
	MaxBytes int64     // the oldest entries, until no more than this is left; 0: none
	Strays   time.Time // unfinished files last written to before
	Damaged  bool      // entries that Verify refuses, which takes reading all
	DryRun   bool      // nothing is removed: what would be is returned
}

// Collected is what Collect removed.
type Collected struct {
	Entries, Damaged, Strays int
	Bytes                    int64
}

// Collect removes what a Collection names. A result that is asked for again is computed
// again.
func (s *Store) Collect(c Collection) (Collected, error) {
	g := collecting{Collection: c, store: s}
	if err := g.removeStrays(); err != nil {
		return g.out, err
	}
	if err := s.Walk("", g.visit); err != nil {
		return g.out, err
	}
	err := g.removeOldest()
	return g.out, err
}

// collecting is a call of Collect.
type collecting struct {
	Collection
	store *Store
	out   Collected
	kept  int64   // bytes of entries that are not removed
	left  []Entry // those that may go for MaxBytes
}

// removeStrays removes unfinished files that are old enough.
func (g *collecting) removeStrays() error {
	strays, err := g.store.Strays()
	if err != nil {
		return err
	}
	for _, f := range strays {
		if !f.Time.Before(g.Strays) {
			continue
		}
		if !g.DryRun {
			if err := os.Remove(f.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("store: %w", err)
			}
		}
		g.out.Strays, g.out.Bytes = g.out.Strays+1, g.out.Bytes+f.Bytes
	}
	return nil
}

// visit removes an entry if it is damaged or old, and otherwise takes note of it.
func (g *collecting) visit(e Entry) error {
	chosen := g.Kinds == nil || slices.Contains(g.Kinds, e.Kind)
	if chosen && g.isDamaged(e) {
		g.out.Damaged++
		return g.remove(e)
	}
	if chosen && e.Time.Before(g.Before) {
		return g.remove(e)
	}
	g.kept += e.Bytes
	if chosen && g.MaxBytes > 0 {
		g.left = append(g.left, e)
	}
	return nil
}

// isDamaged reports whether Verify refuses an entry; false if Damaged does not ask for it.
func (g *collecting) isDamaged(e Entry) bool {
	corrupt := new(CorruptError)
	return g.Damaged && errors.As(g.store.Verify(e.Key), &corrupt)
}

// removeOldest removes the oldest of those left until no more than MaxBytes are kept.
func (g *collecting) removeOldest() error {
	slices.SortStableFunc(g.left, func(a, b Entry) int { return a.Time.Compare(b.Time) })
	for _, e := range g.left {
		if g.kept <= g.MaxBytes {
			break
		}
		if err := g.remove(e); err != nil {
			return err
		}
		g.kept -= e.Bytes
	}
	return nil
}

// remove removes an entry, or only counts it in a dry run.
func (g *collecting) remove(e Entry) error {
	if !g.DryRun {
		if err := g.store.Remove(e.Key); err != nil {
			return err
		}
	}
	g.out.Entries, g.out.Bytes = g.out.Entries+1, g.out.Bytes+e.Bytes
	return nil
}
