package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A notebook holds the parts of a version 4 notebook file that nbcheck uses. The
// format is described at https://nbformat.readthedocs.io/.
type notebook struct {
	Kernel string // the recorded name of the kernel, or empty
	Cells  []cell
}

// A cell is one cell of a notebook, in file order.
type cell struct {
	Number  int // counted from 1, over all kinds of cells
	Line    int // of the file, where the cell begins
	Code    bool
	Source  string
	ID      string // empty: none
	Tags    []string
	Count   int // execution count; 0 if the cell was never executed
	Outputs []output

	pieces []piece // of Source, in order
}

// A piece is a string of the file that is a part of a cell's source.
type piece struct {
	text       string
	start, end int // in bytes, of the JSON string
}

// An output is one output of a code cell.
type output struct {
	Type   string            // stream, display_data, execute_result or error
	Stream string            // stdout or stderr, of a stream
	Text   string            // of a stream; for an error its name, value and traceback
	Data   map[string]string // by MIME type; a JSON value as its text
}

// A syntaxError is a fault in a notebook file, with its position.
type syntaxError struct {
	Line    int
	Message string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// A value is a JSON value with its position in the file.
type value struct {
	raw    json.RawMessage
	offset int // in bytes, of the value's first byte
}

// A parser turns JSON values into parts of a notebook. It keeps the first fault, after
// which every method returns zero values.
type parser struct {
	data []byte
	err  *syntaxError
}

// parse reads a notebook file. Its error is a *syntaxError.
func parse(data []byte) (*notebook, error) {
	p := &parser{data: data}
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		p.fail(0, "the file begins with a byte order mark: save it as UTF-8 without one")
		return nil, p.err
	}
	var all json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		p.syntax(err)
		return nil, p.err
	}
	root := value{raw: bytes.TrimSpace(data), offset: len(data) - len(bytes.TrimLeft(data, " \t\r\n"))}
	nb := p.notebook(root)
	if p.err != nil {
		return nil, p.err
	}
	return nb, nil
}

// fail records a fault at an offset unless there is one already.
func (p *parser) fail(offset int, format string, args ...any) {
	if p.err == nil {
		p.err = &syntaxError{Line: p.line(offset), Message: fmt.Sprintf(format, args...)}
	}
}

func (p *parser) line(offset int) int {
	return 1 + bytes.Count(p.data[:min(offset, len(p.data))], []byte("\n"))
}

func (p *parser) syntax(err error) {
	offset := 0
	var s *json.SyntaxError
	if errors.As(err, &s) {
		offset = int(s.Offset)
	}
	hint := ""
	if i := bytes.Index(p.data, []byte("\n<<<<<<< ")); i >= 0 {
		offset, hint = i+1, " (a merge conflict: take one side and run the notebook again)"
	}
	p.fail(offset, "no JSON: %v%s", err, hint)
}

// decode stores v in dst, a pointer to the type that the JSON value must have.
func (p *parser) decode(v value, what string, dst any) {
	if p.err != nil {
		return
	}
	if err := json.Unmarshal(v.raw, dst); err != nil {
		p.fail(v.offset, "%s: %v", what, err)
	}
}

// fields splits an object. Every key must be in known, and the first required of
// the known keys must be present.
func (p *parser) fields(v value, what string, required int, known ...string) map[string]value {
	fields := make(map[string]value)
	d := json.NewDecoder(bytes.NewReader(v.raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		p.fail(v.offset, "%s: want an object, have %.20s", what, v.raw)
		return nil
	}
	for d.More() {
		key, _ := d.Token() // the text has been validated as a whole
		at := v.offset + int(d.InputOffset())
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			p.fail(at, "%s: %v", what, err)
			return nil
		}
		k := key.(string)
		if _, twice := fields[k]; twice {
			p.fail(at, "%s: key %q stands there twice", what, k)
		}
		if known != nil && !slices.Contains(known, k) {
			p.fail(at, "%s: unknown key %q (version 4 has %s)", what, k, strings.Join(known, ", "))
		}
		fields[k] = value{raw, v.offset + int(d.InputOffset()) - len(raw)}
	}
	for _, k := range known[:min(required, len(known))] {
		if _, ok := fields[k]; !ok {
			p.fail(v.offset, "%s: key %q is missing", what, k)
		}
	}
	return fields
}

// items splits an array.
func (p *parser) items(v value, what string) []value {
	d := json.NewDecoder(bytes.NewReader(v.raw))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		p.fail(v.offset, "%s: want an array, have %.20s", what, v.raw)
		return nil
	}
	var items []value
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			p.fail(v.offset, "%s: %v", what, err)
			return nil
		}
		items = append(items, value{raw, v.offset + int(d.InputOffset()) - len(raw)})
	}
	return items
}

// text reads what the format calls a multi-line string: a string, or an array
// of strings to be joined.
func (p *parser) text(v value, what string) string {
	var s string
	if json.Unmarshal(v.raw, &s) == nil {
		return s
	}
	var lines []string
	if json.Unmarshal(v.raw, &lines) != nil {
		p.fail(v.offset, "%s: want a string or an array of strings", what)
	}
	return strings.Join(lines, "")
}

// pieces returns the strings of which a multi-line string consists.
func (p *parser) pieces(v value, what string) (all []piece) {
	items := []value{v}
	if bytes.HasPrefix(v.raw, []byte("[")) {
		items = p.items(v, what)
	}
	for _, item := range items {
		var s string
		p.decode(item, what, &s)
		all = append(all, piece{s, item.offset, item.offset + len(item.raw)})
	}
	return all
}
