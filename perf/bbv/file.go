package bbv

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// ErrFormat is wrapped by errors about files that are not in the .bb format.
var ErrFormat = errors.New("not a .bb file")

// Write writes vectors in the .bb format: for each interval a line that begins
// with T and has an element :block:instructions for each block executed,
// counted from 1. If code outside the blocks was executed, the length of its
// interval is lost.
func Write(w io.Writer, v *Vectors) error {
	out := bufio.NewWriter(w)
	var text []byte
	for i := range v.Len() {
		blocks, counts := v.Interval(i)
		text = append(text[:0], 'T')
		for j, b := range blocks {
			text = append(text, ':')
			text = strconv.AppendUint(text, uint64(b)+1, 10)
			text = append(text, ':')
			text = strconv.AppendUint(text, counts[j], 10)
			text = append(text, ' ')
		}
		if _, err := out.Write(append(text, '\n')); err != nil {
			return fmt.Errorf("bbv: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("bbv: %w", err)
	}
	return nil
}

// Read reads vectors in the .bb format. It skips empty lines and lines that
// begin with #, as exp-bbv writes at the end; elements may come in any order;
// an element of 0 instructions is left out. Intervals are assumed to be
// contiguous, each as long as the sum of its elements. Errors begin with name
// and line.
func Read(r io.Reader, name string) (*Vectors, error) {
	in := &reader{in: bufio.NewReaderSize(r, 1<<16), name: name, line: 1, v: Vectors{First: []int{0}}}
	for {
		more, err := in.interval()
		if err != nil {
			return nil, err
		}
		if !more {
			return &in.v, nil
		}
	}
}

type reader struct {
	in   *bufio.Reader
	name string
	line int
	v    Vectors
	end  uint64 // instructions of all intervals so far
	row  []element
}

type element struct {
	block uint32
	n     uint64
}

func (r *reader) fail(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s: %w", r.name, r.line, fmt.Sprintf(format, args...), ErrFormat)
}

// next returns the next byte, and a newline at the end of the input.
func (r *reader) next() (byte, error) {
	b, err := r.in.ReadByte()
	if errors.Is(err, io.EOF) {
		return '\n', nil
	}
	if err != nil {
		return 0, fmt.Errorf("%s:%d: %w", r.name, r.line, err)
	}
	return b, nil
}

// interval reads a line and reports whether there was one.
func (r *reader) interval() (more bool, err error) {
	b, err := r.in.ReadByte()
	switch {
	case errors.Is(err, io.EOF):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%s:%d: %w", r.name, r.line, err)
	case b == 'T':
		if err := r.elements(); err != nil {
			return false, err
		}
	case b == '#':
		for b != '\n' {
			if b, err = r.next(); err != nil {
				return false, err
			}
		}
	case b == '\n':
	case b == ' ', b == '\t', b == '\r':
		if b, err = r.blank(); err != nil {
			return false, err
		}
		if b != '\n' {
			return false, r.fail("a line begins with %q, want T", b)
		}
	default:
		return false, r.fail("a line begins with %q, want T", b)
	}
	r.line++
	return true, nil
}

// elements reads the rest of a line after the T.
func (r *reader) elements() error {
	r.row = r.row[:0]
	for {
		b, err := r.blank()
		if err != nil {
			return err
		}
		if b == '\n' {
			return r.finish()
		}
		if b != ':' {
			return r.fail("%q after %d elements, want :block:instructions", b, len(r.row))
		}
		switch b, err = r.element(); {
		case err != nil:
			return err
		case b == '\n':
			return r.finish()
		case b == ':':
			if err := r.in.UnreadByte(); err != nil {
				return fmt.Errorf("%s:%d: %w", r.name, r.line, err)
			}
		}
	}
}

// element reads block:instructions into the row and returns the byte after it:
// white space or the next element's colon.
func (r *reader) element() (after byte, err error) {
	block, b, err := r.number()
	if err != nil {
		return 0, err
	}
	if b != ':' {
		return 0, r.fail("%q after block %d, want : and a number of instructions", b, block)
	}
	if block == 0 || block > math.MaxUint32 {
		return 0, r.fail("block %d, want 1 to %d", block, uint32(math.MaxUint32))
	}
	n, after, err := r.number()
	if err != nil {
		return 0, err
	}
	if n > 0 {
		r.row = append(r.row, element{uint32(block - 1), n})
	}
	switch after {
	case '\n', ' ', '\t', '\r', ':':
		return after, nil
	}
	return 0, r.fail("%q after the %d instructions of block %d", after, n, block)
}

// blank returns the next byte that is neither a space nor a tab.
func (r *reader) blank() (byte, error) {
	for {
		b, err := r.next()
		if err != nil || b != ' ' && b != '\t' && b != '\r' {
			return b, err
		}
	}
}

// number reads a number and the byte after it.
func (r *reader) number() (n uint64, after byte, err error) {
	digits := 0
	for {
		b, err := r.next()
		if err != nil {
			return 0, 0, err
		}
		if b < '0' || b > '9' {
			if digits == 0 {
				return 0, 0, r.fail("%q where a whole number is wanted", b)
			}
			return n, b, nil
		}
		d := uint64(b - '0')
		if n > (math.MaxUint64-d)/10 {
			return 0, 0, r.fail("a number above 2^64")
		}
		n = 10*n + d
		digits++
	}
}

// finish ends an interval.
func (r *reader) finish() error {
	slices.SortFunc(r.row, func(a, b element) int { return cmp.Compare(a.block, b.block) })
	var length uint64
	for i, e := range r.row {
		if i > 0 && e.block == r.row[i-1].block {
			return r.fail("block %d stands twice in an interval", e.block+1)
		}
		if e.n > math.MaxUint64-r.end-length {
			return r.fail("more than 2^64 instructions")
		}
		length += e.n
		r.v.Blocks = append(r.v.Blocks, e.block)
		r.v.Instructions = append(r.v.Instructions, e.n)
	}
	if length == 0 {
		return r.fail("an interval without instructions")
	}
	r.v.add(r.end, length)
	r.end += length
	return nil
}
