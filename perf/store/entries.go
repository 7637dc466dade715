// Package store keeps the results of expensive computations on disk, each under
// a hash of everything that it depends on, so that a rerun notebook cell or shell
// command finds it again.
//
// Files are written under a temporary name and renamed, so that they are
// complete or absent. The file name contains the hash of the key, so that changing
// a program, an argument or an option never finds a stale result. A checksum of
// the key and the content detects damage, and a file that stands in the place of
// another.
//
//	file = magic, format version, SHA-256 of key and payload, payload (flate of gob)
//
// Version 1 of the format, whose checksum is that of the payload alone, is read, too.
package store

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Store is a folder of results. Several processes may use one at once.
type Store struct {
	dir   string
	stale time.Duration // age at which a temporary file belongs to nobody any more
	watch func(k Key, v any)
	*shared

	failure struct {
		sync.Mutex
		err error
	}
}

// shared is what handles of one store have in common.
type shared struct {
	tidy sync.Once
	// A compressor takes a megabyte, which is more work to make than most entries are.
	compressors sync.Pool
}

// staleAge is beyond the time that writing a file takes, on the slowest disk.
const staleAge = 24 * time.Hour

// tempPrefix begins the names of files that are being written.
const tempPrefix = ".tmp-"

// unfinished is the folder of files that are being written.
const unfinished = ".unfinished"

// ErrMissing is returned by Load for a key without an entry.
var ErrMissing = errors.New("store: no entry")

// CorruptError describes an entry that exists but cannot be used: truncated,
// modified, or in another format. Recomputing it replaces it.
type CorruptError struct {
	Path string
	Err  error
}

func (e *CorruptError) Error() string { return fmt.Sprintf("store: %s: %v", e.Path, e.Err) }

func (e *CorruptError) Unwrap() error { return e.Err }

// Open returns the store in dir, which is created by the first Save.
func Open(dir string) *Store { return &Store{dir: dir, stale: staleAge, shared: new(shared)} }

// Apart returns a handle of the same store with a Failure of its own.
func (s *Store) Apart() *Store { return &Store{dir: s.dir, stale: s.stale, shared: s.shared} }

// Default returns the user's store: $PRESAGE_STORE, or presage in the user's
// cache folder.
func Default() (*Store, error) {
	if dir := os.Getenv("PRESAGE_STORE"); dir != "" {
		return Open(dir), nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("store: no cache folder: %w; set PRESAGE_STORE to a folder", err)
	}
	return Open(filepath.Join(dir, "presage")), nil
}

// Watch has seen called with every value that Save is given, before it is written: for
// tests that hold what is stored. It is called before the store is used.
func (s *Store) Watch(seen func(k Key, v any)) { s.watch = seen }

// OrDefault returns s, or the default store if s is nil.
func OrDefault(s *Store) (*Store, error) {
	if s != nil {
		return s, nil
	}
	return Default()
}

// Dir returns the store's folder.
func (s *Store) Dir() string { return s.dir }

// Key identifies an entry by its kind, which becomes part of the file name, and a
// hash of everything that the entry depends on.
type Key struct {
	Kind string
	Hash string
}

// NewKey returns the key of an entry of the given kind that depends on inputs,
// which must marshal to JSON. Raise version when the meaning or layout of the
// kind's values changes.
func NewKey(kind string, version int, inputs any) (Key, error) {
	text, err := json.Marshal(struct {
		Kind    string
		Version int
		Inputs  any
	}{kind, version, inputs})
	if err != nil {
		return Key{}, fmt.Errorf("store: key of %s: %w", kind, err)
	}
	sum := sha256.Sum256(text)
	return Key{Kind: kind, Hash: hex.EncodeToString(sum[:16])}, nil
}

// Path returns the file that holds the entry of k.
func (s *Store) Path(k Key) string {
	return filepath.Join(s.dir, k.Kind, k.Hash[:2], k.Hash+".gob")
}

// magic begins every file; the version of the file format follows.
const magic = "presage"

// Versions of the file format.
const (
	unkeyed = 1 // the checksum is that of the payload
	keyed   = 2 // the checksum is that of the key and the payload
)

const headBytes = len(magic) + 1 + sha256.Size

// checksum returns what takes the payload of an entry to compute its checksum in a
// version of the format; nil if there is no such version.
func (k Key) checksum(version byte) hash.Hash {
	h := sha256.New()
	switch version {
	case unkeyed:
		return h
	case keyed:
		fmt.Fprintf(h, "%s/%s\n", k.Kind, k.Hash)
		return h
	}
	return nil
}

// head returns the checksum of an entry that begins with head, and what takes the
// payload to compute it.
func (k Key) head(head []byte) (want []byte, sum hash.Hash, err error) {
	if len(head) < headBytes || string(head[:len(magic)]) != magic {
		return nil, nil, errors.New("not an entry of this format")
	}
	if sum = k.checksum(head[len(magic)]); sum == nil {
		return nil, nil, fmt.Errorf("version %d of the format, which this program does not read", head[len(magic)])
	}
	return head[len(magic)+1 : headBytes], sum, nil
}

var errChecksum = errors.New("checksum does not match")

// Has reports whether there is an entry of k. That it can be used is not checked:
// Load does that.
func (s *Store) Has(k Key) bool {
	info, err := os.Stat(s.Path(k))
	return err == nil && info.Mode().IsRegular()
}

// Failure returns why the last Save that failed did; nil if none has. Callers whose
// results are of use without being kept pass over the error of Save: this is how
// those who depend on what is kept learn of it.
func (s *Store) Failure() error {
	s.failure.Lock()
	defer s.failure.Unlock()
	return s.failure.err
}

// Load decodes the entry of k into v, a pointer. It returns ErrMissing if there
// is none and a CorruptError if the entry cannot be used.
func (s *Store) Load(k Key, v any) error {
	path := s.Path(k)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s", ErrMissing, path)
	}
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := decode(k, data, v); err != nil {
		return &CorruptError{Path: path, Err: err}
	}
	return nil
}

func decode(k Key, data []byte, v any) error {
	want, sum, err := k.head(data)
	if err != nil {
		return err
	}
	payload := data[headBytes:]
	sum.Write(payload)
	if !bytes.Equal(sum.Sum(nil), want) {
		return errChecksum
	}
	r := flate.NewReader(bytes.NewReader(payload))
	defer r.Close()
	return gob.NewDecoder(r).Decode(v)
}

// Try returns an error if nothing can be saved: no rights, a file in the place of the
// folder, or no room for as many bytes. It leaves nothing behind. It is for work that
// would take long and be lost.
func (s *Store) Try(room int64) error {
	dir := filepath.Join(s.dir, unfinished)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	f, err := os.CreateTemp(dir, ".tmp-*")
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer os.Remove(f.Name())
	block := make([]byte, 64<<10) // written, not only reserved: a file system may promise what it does not have
	for left := room; left > 0 && err == nil; left -= int64(len(block)) {
		_, err = f.Write(block[:min(left, int64(len(block)))])
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("store: %s cannot keep %d bytes: %w", s.dir, room, err)
	}
	return nil
}

// WriteFile writes data to a file of the store's folder atomically. A file that has
// that content already is left alone, so that a folder that may only be read will do.
func (s *Store) WriteFile(name string, data []byte) error {
	path := filepath.Join(s.dir, name)
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return nil
	}
	return writeTo(filepath.Join(s.dir, unfinished), path, atOnce, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Save writes v as the entry of k and replaces any earlier one.
func (s *Store) Save(k Key, v any) error {
	if s.watch != nil {
		s.watch(k, v)
	}
	head, payload, err := s.encode(k, v)
	if err != nil {
		return fmt.Errorf("store: %s: %w", k.Kind, err)
	}
	s.tidy.Do(s.removeStale)
	err = writeTo(filepath.Join(s.dir, unfinished), s.Path(k), atLeisure, func(w io.Writer) error {
		for _, data := range [][]byte{head, payload} {
			if _, err := w.Write(data); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.failure.Lock()
		s.failure.err = err
		s.failure.Unlock()
	}
	return err
}

// removeStale removes what processes that were killed had begun to write.
func (s *Store) removeStale() {
	dir := filepath.Join(s.dir, unfinished)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // it does not exist yet, or cannot be read: Save will tell
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > s.stale {
			_ = os.Remove(filepath.Join(dir, e.Name())) // another process may have removed it
		}
	}
}

func (s *Store) encode(k Key, v any) (head, payload []byte, err error) {
	var plain, packed bytes.Buffer
	if err := gob.NewEncoder(&plain).Encode(v); err != nil {
		return nil, nil, err
	}
	if err := s.compress(&packed, plain.Bytes()); err != nil {
		return nil, nil, err
	}
	sum := k.checksum(keyed)
	sum.Write(packed.Bytes())
	return append([]byte(magic), sum.Sum([]byte{keyed})...), packed.Bytes(), nil
}

const (
	// sampled is the number of bytes in the middle of a long value that tell whether
	// compression is worth its time, which reading it takes again: it is not if more
	// than dense of them are left, as of numbers with all their digits.
	sampled = 1 << 15
	dense   = 0.75
)

// compress writes data as flate has it, compressed unless that saves little.
func (s *Store) compress(to *bytes.Buffer, data []byte) error {
	if len(data) > 4*sampled {
		at := (len(data) - sampled) / 2
		if err := s.deflate(to, data[at:at+sampled]); err != nil {
			return err
		}
		left := to.Len()
		to.Reset()
		if float64(left) > dense*sampled {
			w, err := flate.NewWriter(to, flate.NoCompression)
			if err != nil {
				return err
			}
			to.Grow(len(data) + len(data)>>8)
			if _, err := w.Write(data); err != nil {
				return err
			}
			return w.Close()
		}
	}
	return s.deflate(to, data)
}

// deflate compresses data with one of the compressors.
func (s *Store) deflate(to *bytes.Buffer, data []byte) error {
	w, _ := s.compressors.Get().(*flate.Writer)
	if w == nil {
		var err error
		if w, err = flate.NewWriter(nil, flate.BestSpeed); err != nil {
			return err
		}
	}
	defer s.compressors.Put(w)
	w.Reset(to)
	if _, err := w.Write(data); err != nil {
		return err
	}
	return w.Close()
}

// WriteFile writes data to path atomically and creates its folder if necessary.
func WriteFile(path string, data []byte) error {
	return WriteTo(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// WriteTo writes the output of write to path atomically, like WriteFile. If write
// fails, an existing file stays as it was.
func WriteTo(path string, write func(io.Writer) error) error {
	return writeTo(filepath.Dir(path), path, atOnce, write)
}

// urgency is when a file is to be safe from a loss of power.
type urgency int

const (
	atOnce urgency = iota
	// atLeisure leaves it to the system, which takes half a minute: what an entry loses
	// then, its checksum tells, and it is computed again. Waiting for the disk takes
	// milliseconds an entry, which are most of the time of small ones.
	atLeisure
)

// writeTo does the work of WriteTo with a temporary file in a folder on the same file
// system.
func writeTo(temp, path string, safe urgency, write func(io.Writer) error) (err error) {
	for _, dir := range []string{temp, filepath.Dir(path)} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return fmt.Errorf("store: %w", err)
		}
	}
	f, err := os.CreateTemp(temp, tempPrefix+"*")
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		f.Close()
		return fmt.Errorf("store: %s: %w", path, err)
	}
	if err := f.Chmod(0o644); err != nil { // CreateTemp makes files that only their owner can read
		f.Close()
		return fmt.Errorf("store: %w", err)
	}
	if safe == atOnce {
		if err := f.Sync(); err != nil {
			f.Close()
			return fmt.Errorf("store: %w", err)
		}
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// Memoized is a value returned by Memo and its provenance.
type Memoized[T any] struct {
	Value   T
	Stored  bool   // the value was loaded from the store
	Warning string // why an entry was unusable or the value could not be saved; usually empty
}

// Memo returns the entry of k, or computes and saves it. An unusable entry is
// recomputed, and a value that cannot be saved is returned anyway, both with a
// warning. If compute fails, Memo returns its error and saves nothing.
func Memo[T any](s *Store, k Key, compute func() (T, error)) (Memoized[T], error) {
	var m Memoized[T]
	err := s.Load(k, &m.Value)
	if err == nil {
		m.Stored = true
		return m, nil
	}
	var warning error
	if !errors.Is(err, ErrMissing) {
		warning = fmt.Errorf("%w; computed again", err)
	}
	fresh, err := compute()
	if err != nil {
		return Memoized[T]{}, err
	}
	if err := s.Save(k, fresh); err != nil {
		warning = errors.Join(warning, fmt.Errorf("%w; the result was not kept", err))
	}
	m = Memoized[T]{Value: fresh}
	if warning != nil {
		m.Warning = warning.Error()
	}
	return m, nil
}
