package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// updateProse writes the figures of a notebook's prose that are bound to a result (=)
// and contradict it anew, with the digits and the unit that they have, and returns the
// notebook and how many figures were changed. A result of the other sign is left to be
// found: the words around the figure have to change.
func updateProse(data []byte, nb *notebook) ([]byte, int) {
	found := readResults(nb)
	var out bytes.Buffer
	from, changed := 0, 0
	for i := range nb.Cells {
		c := &nb.Cells[i]
		if c.Code {
			continue
		}
		fenced := false
		for _, p := range c.pieces {
			text, n := updateLines(p.text, found, c.Number, &fenced)
			if n == 0 {
				continue
			}
			changed += n
			out.Write(data[from:p.start])
			out.Write(quoted(text))
			from = p.end
		}
	}
	out.Write(data[from:])
	return out.Bytes(), changed
}

// updateLines returns the text of a cell of a number with its figures as the results have them, and how many
// it changed. Lines in fenced code, which may begin in an earlier text of the cell, stay.
func updateLines(text string, found *results, number int, fenced *bool) (string, int) {
	var out strings.Builder
	changed := 0
	for line := range strings.Lines(text) {
		if isFence(line) {
			*fenced = !*fenced
		}
		if *fenced {
			out.WriteString(line)
			continue
		}
		from := 0
		for _, m := range mentions(line) {
			if m.bound == nil || m.bound.relation != "=" {
				continue
			}
			var c *contradiction
			if !errors.As(m.check(found, number), &c) || c.result.value < 0 {
				continue
			}
			out.WriteString(line[from:m.start] + m.of(c.result))
			from = m.end
			changed++
		}
		out.WriteString(line[from:])
	}
	return out.String(), changed
}

// quoted writes a JSON string as Jupyter does, without escapes for HTML.
func quoted(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // a string can be encoded
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
