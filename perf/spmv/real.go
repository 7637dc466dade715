package spmv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Load returns the real matrix if one of the folders has a file of its name
// (.mtx or .mtx.gz), and a stand-in otherwise. A file of another matrix is an error.
func (t Table4) Load(folders ...string) (*Matrix, error) {
	file, err := t.File(folders...)
	if err != nil {
		return nil, err
	}
	if file == "" {
		return t.Synthesise()
	}
	m, err := OpenMarket(file)
	if err != nil {
		return nil, err
	}
	if err := t.check(m); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	m.Name = t.Name
	return m, nil
}

// File returns the file of the real matrix in the first of the folders that has it,
// under its own name or that of the collection; "" if none has.
func (t Table4) File(folders ...string) (string, error) {
	for _, dir := range folders {
		for _, name := range []string{t.Name, path.Base(t.Page)} {
			for _, ext := range []string{".mtx", ".mtx.gz"} {
				file := filepath.Join(dir, name+ext)
				switch _, err := os.Stat(file); {
				case err == nil:
					return file, nil
				case !errors.Is(err, fs.ErrNotExist):
					return "", fmt.Errorf("spmv: %w", err)
				}
			}
		}
	}
	return "", nil
}

// check returns an error if m is not the matrix of Table 4: other dimensions, or
// another number of entries. Table 4 counts both halves of some symmetric matrices
// and the stored one of others.
func (t Table4) check(m *Matrix) error {
	if m.Rows != t.Dimension || m.Cols != t.Dimension {
		return fmt.Errorf("spmv: %d×%d: %s of Table 4 has %d×%d; see presage spmv fetch", m.Rows, m.Cols, t.Name, t.Dimension, t.Dimension)
	}
	half, symmetric := storedHalf(m)
	if m.NonZeros() == t.NonZeros || symmetric && half == t.NonZeros {
		return nil
	}
	return fmt.Errorf("spmv: %d entries: %s of Table 4 has %d, or as many in the stored half; see presage spmv fetch", m.NonZeros(), t.Name, t.NonZeros)
}

// storedHalf returns the number of entries on and below the diagonal of a matrix
// whose places are symmetric; ok is false if they are not.
func storedHalf(m *Matrix) (half int, ok bool) {
	next := make([]int, m.Rows) // in each row, the first entry whose mirror is to come
	copy(next, m.Start)
	for row := range m.Rows {
		for i := m.Start[row]; i < m.Start[row+1]; i++ {
			col := int(m.Column[i])
			if col <= row {
				half++
			}
			if col >= m.Rows || next[col] == m.Start[col+1] || int(m.Column[next[col]]) != row {
				return 0, false
			}
			next[col]++
		}
	}
	return half, true
}
