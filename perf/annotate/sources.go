package annotate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// sources finds the files of the source.
type sources struct {
	folders []string
	known   map[string][]string
	errs    map[string]error
}

func newSources(folders []string) sources {
	if len(folders) == 0 {
		folders = []string{"."}
	}
	return sources{folders, make(map[string][]string), make(map[string]error)}
}

// maxSource bounds the bytes of a file of the source, and maxParts the folders of its
// path.
const (
	maxSource = 4 << 20
	maxParts  = 64
)

// lines returns the lines of a file by its recorded path: of the file with the longest
// end of that path that is below one of the folders.
func (s *sources) lines(path string) ([]string, error) {
	if lines, ok := s.known[path]; ok {
		return lines, s.errs[path]
	}
	lines, err := s.find(path)
	s.known[path], s.errs[path] = lines, err
	return lines, err
}

func (s *sources) find(path string) ([]string, error) {
	all := strings.Split(filepath.ToSlash(filepath.Clean("/"+path)), "/")
	all = all[max(0, len(all)-maxParts):]
	for i := range all {
		end := filepath.Join(all[i:]...)
		if end == "" || !filepath.IsLocal(end) {
			continue
		}
		for _, folder := range s.folders {
			root, err := os.OpenRoot(folder) // so that links lead nowhere else
			if err != nil {
				return nil, fmt.Errorf("annotate: sources: %w", err)
			}
			lines, err := readLines(root, end)
			root.Close()
			if err == nil || !errors.Is(err, os.ErrNotExist) {
				return lines, err
			}
		}
	}
	return nil, fmt.Errorf("annotate: %s is not below %s: %w", path, strings.Join(s.folders, ", "), os.ErrNotExist)
}

func readLines(root *os.Root, path string) ([]string, error) {
	info, err := root.Stat(path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), "not a directory") {
			return nil, os.ErrNotExist
		}
		return nil, fmt.Errorf("annotate: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxSource {
		return nil, fmt.Errorf("annotate: %s is no file of at most %d bytes", path, maxSource)
	}
	f, err := root.Open(path)
	if err != nil {
		return nil, fmt.Errorf("annotate: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSource))
	if err != nil {
		return nil, fmt.Errorf("annotate: %w", err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), nil
}
