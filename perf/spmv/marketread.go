package spmv

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrMarket is wrapped by errors about files that are not in Matrix Market
// format.
var ErrMarket = errors.New("not a Matrix Market file")

// maxLine is the longest line accepted: Matrix Market allows 1024 characters,
// but comments in practice are longer.
const maxLine = 1 << 20

// OpenMarket reads a file in Matrix Market format, optionally compressed by
// gzip. The matrix is named after the file.
func OpenMarket(path string) (*Matrix, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("spmv: %w", err)
	}
	defer f.Close()
	m, err := ReadMarket(f, path)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(path)
	for _, ext := range []string{".gz", ".mtx"} {
		name = strings.TrimSuffix(name, ext)
	}
	m.Name, m.Origin = name, "file"
	return m, nil
}

// ReadMarket reads a matrix in Matrix Market coordinate format with real,
// integer or pattern entries, general, symmetric or skew-symmetric; both halves
// of the latter two are stored. Entries of a pattern are 1. The input may be
// compressed by gzip. Errors begin with name and line.
func ReadMarket(r io.Reader, name string) (*Matrix, error) {
	buffered := bufio.NewReader(r)
	if magic, _ := buffered.Peek(2); len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, fmt.Errorf("%s: gzip: %w", name, err)
		}
		defer z.Close()
		r = z
	} else {
		r = buffered
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	m := &market{lines: lines, name: name}
	if err := m.header(); err != nil {
		return nil, err
	}
	entries, err := m.entries()
	if err != nil {
		return nil, err
	}
	out, err := NewMatrix(m.rows, m.cols, entries)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// market is a file being read.
type market struct {
	lines      *bufio.Scanner
	name       string
	line       int
	field      string // real, integer, pattern
	symmetry   string // general, symmetric, skew-symmetric
	rows, cols int
	stored     int
}

func (m *market) fail(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w: %s", m.name, m.line, ErrMarket, fmt.Sprintf(format, args...))
}

// unreadable returns the reason why the current line cannot be read.
func (m *market) unreadable(err error) error {
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return m.fail("a line of more than %d characters", maxLine)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s:%d: the compressed file is cut off here, fetch it again: %w", m.name, m.line, err)
	}
	return fmt.Errorf("%s:%d: %w", m.name, m.line, err)
}

// next returns the fields of the next line that is neither blank nor a comment.
func (m *market) next() ([]string, error) {
	for m.lines.Scan() {
		m.line++
		text := strings.TrimSpace(m.lines.Text())
		if text != "" && !strings.HasPrefix(text, "%") {
			return strings.Fields(text), nil
		}
	}
	m.line++
	if err := m.lines.Err(); err != nil {
		return nil, m.unreadable(err)
	}
	return nil, io.EOF
}

// header reads the banner and the line of sizes.
func (m *market) header() error {
	if !m.lines.Scan() {
		m.line = 1
		if err := m.lines.Err(); err != nil {
			return m.unreadable(err)
		}
		return m.fail("it is empty")
	}
	m.line = 1
	banner := strings.Fields(strings.ToLower(m.lines.Text()))
	if len(banner) != 5 || banner[0] != "%%matrixmarket" || banner[1] != "matrix" {
		return m.fail("the first line must be %%%%MatrixMarket matrix coordinate FIELD SYMMETRY")
	}
	if banner[2] != "coordinate" {
		return m.fail("format %q is not read: want coordinate; a dense matrix (array) has no use for sparse storage", banner[2])
	}
	switch m.field = banner[3]; m.field {
	case "real", "integer", "pattern":
	case "double": // written by some tools
		m.field = "real"
	default:
		return m.fail("entries are %q: want real, integer or pattern", banner[3])
	}
	switch m.symmetry = banner[4]; m.symmetry {
	case "general", "symmetric", "skew-symmetric":
	default:
		return m.fail("symmetry is %q: want general, symmetric or skew-symmetric", banner[4])
	}
	if m.symmetry == "skew-symmetric" && m.field == "pattern" {
		return m.fail("a pattern has no signs, so that it cannot be skew-symmetric")
	}
	sizes, err := m.next()
	if errors.Is(err, io.EOF) {
		return m.fail("the line of rows, columns and entries is missing")
	}
	if err != nil {
		return err
	}
	if len(sizes) != 3 {
		return m.fail("%d numbers, want rows, columns and entries", len(sizes))
	}
	for i, dst := range []*int{&m.rows, &m.cols, &m.stored} {
		n, err := strconv.Atoi(sizes[i])
		if err != nil || n < 0 || i < 2 && n > MaxDimension {
			return m.fail("size %q: want a number from 0 to %d", sizes[i], MaxDimension)
		}
		*dst = n
	}
	if m.symmetry != "general" && m.rows != m.cols {
		return m.fail("%s, but of %d rows and %d columns", m.symmetry, m.rows, m.cols)
	}
	if m.stored > 0 && (m.rows == 0 || m.cols == 0) {
		return m.fail("%d entries do not fit in %d×%d", m.stored, m.rows, m.cols)
	}
	return nil
}

// firstRoom is the capacity reserved for the entries that a file claims, before
// any is seen.
const firstRoom = 1 << 16

// entries reads the stored entries and mirrors those of a stored half.
func (m *market) entries() ([]Entry, error) {
	all := make([]Entry, 0, min(m.stored, firstRoom))
	for n := range m.stored {
		fields, err := m.next()
		if errors.Is(err, io.EOF) {
			return nil, m.fail("the file ends after %d of %d entries", n, m.stored)
		}
		if err != nil {
			return nil, err
		}
		e, err := m.entry(fields)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
		if m.symmetry != "general" && e.Row != e.Col {
			mirror := Entry{e.Col, e.Row, e.Value}
			if m.symmetry == "skew-symmetric" {
				mirror.Value = -e.Value
			}
			all = append(all, mirror)
		}
	}
	if _, err := m.next(); err == nil {
		return nil, m.fail("more than the %d entries that the header tells", m.stored)
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return all, nil
}

func (m *market) entry(fields []string) (Entry, error) {
	e := Entry{Value: 1}
	want := 3
	if m.field == "pattern" {
		want = 2
	}
	if len(fields) != want {
		return e, m.fail("%d fields, want %d for a %s entry", len(fields), want, m.field)
	}
	for i, bound := range []int{m.rows, m.cols} {
		n, err := strconv.Atoi(fields[i])
		if err == nil && n == 0 {
			return e, m.fail("%s %q: rows and columns count from 1; if this file counts from 0, add 1 to all", []string{"row", "column"}[i], fields[i])
		}
		if err != nil || n < 1 || n > bound {
			return e, m.fail("%s %q: want a number from 1 to %d", []string{"row", "column"}[i], fields[i], bound)
		}
		if i == 0 {
			e.Row = n - 1
		} else {
			e.Col = n - 1
		}
	}
	if err := m.value(&e, fields[2:]); err != nil {
		return e, err
	}
	switch {
	case m.symmetry == "skew-symmetric" && e.Row == e.Col:
		return e, m.fail("an entry on the diagonal of a skew-symmetric matrix")
	case m.symmetry != "general" && e.Col > e.Row:
		return e, m.fail("entry (%d, %d) is above the diagonal: of a %s matrix the lower half is given", e.Row+1, e.Col+1, m.symmetry)
	}
	return e, nil
}

func (m *market) value(e *Entry, fields []string) error {
	switch m.field {
	case "real":
		v, ok := decimal(fields[0])
		if !ok {
			return m.fail("value %q is no finite number", fields[0])
		}
		e.Value = v
	case "integer":
		v, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil {
			return m.fail("value %q is no integer", fields[0])
		}
		e.Value = float64(v)
	}
	return nil
}

// decimal reads a finite number as C and Fortran print it, including Fortran's
// D exponent of double precision. It rejects Go's hexadecimal numbers and
// underscores.
func decimal(text string) (v float64, ok bool) {
	if strings.ContainsAny(text, "xX_pP") {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.NewReplacer("D", "E", "d", "e").Replace(text), 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}
