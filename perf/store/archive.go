package store

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Export writes the entries that are chosen, nil for all, to a tar archive and returns
// how many. An entry that is damaged is an error, and none that goes meanwhile.
func (s *Store) Export(w io.Writer, chosen func(Entry) bool) (int, error) {
	n := 0
	archive := tar.NewWriter(w)
	err := s.Walk("", func(e Entry) error {
		if chosen != nil && !chosen(e) {
			return nil
		}
		err := s.exportEntry(archive, e)
		if errors.Is(err, ErrMissing) {
			return nil
		}
		if err == nil {
			n++
		}
		return err
	})
	if err != nil {
		return n, err
	}
	if err := archive.Close(); err != nil {
		return n, fmt.Errorf("store: export: %w", err)
	}
	return n, nil
}

func (s *Store) exportEntry(archive *tar.Writer, e Entry) error {
	if err := s.Verify(e.Key); err != nil {
		return err
	}
	f, err := os.Open(s.Path(e.Key))
	if errors.Is(err, fs.ErrNotExist) {
		return ErrMissing
	}
	if err != nil {
		return fmt.Errorf("store: export: %w", err)
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("store: export: %w", err)
	}
	err = archive.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: path.Join(e.Kind, e.Hash+ending), Mode: 0o644, Size: info.Size(), ModTime: info.ModTime(),
	})
	if err == nil {
		_, err = io.Copy(archive, f)
	}
	if err != nil {
		return fmt.Errorf("store: export: %w", err)
	}
	return nil
}

// maxImported bounds an entry of an archive, in bytes.
const maxImported = 8 << 30

// Imported is what Import found in an archive.
type Imported struct {
	Added, Present int // entries that the store lacked, and that it had
}

// Import adds the entries of an archive that Export wrote. Those that the store holds
// already stay as they are, unless they are damaged. The error names the first member
// that is no entry, or is damaged; what stands before it has been added.
func (s *Store) Import(r io.Reader) (Imported, error) {
	var out Imported
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, fmt.Errorf("store: import: %w", err)
		}
		kind, file := path.Split(h.Name)
		key := Key{strings.TrimSuffix(kind, "/"), strings.TrimSuffix(file, ending)}
		if h.Typeflag != tar.TypeReg || !strings.HasSuffix(file, ending) || key.check() != nil || h.Size > maxImported {
			return out, fmt.Errorf("store: import: %q is no entry: want an archive of presage store export", h.Name)
		}
		if s.Verify(key) == nil {
			out.Present++
			continue
		}
		if err := s.importEntry(key, archive); err != nil {
			return out, fmt.Errorf("store: import: %s: %w", h.Name, err)
		}
		out.Added++
	}
}

// importEntry writes an entry as it is, once it has been held against its checksum.
func (s *Store) importEntry(k Key, r io.Reader) error {
	return writeTo(filepath.Join(s.dir, unfinished), s.Path(k), atLeisure, func(w io.Writer) error {
		return k.verify(io.TeeReader(r, w))
	})
}
