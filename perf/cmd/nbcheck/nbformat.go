package main

import (
	"fmt"
	"strings"
)

const (
	formatMajor = 4 // the version of the notebook format that is read
	minorWithID = 5 // from 4.5 on every cell has an id
)

// notebook reads the top level of the file.
func (p *parser) notebook(v value) *notebook {
	top := p.fields(v, "notebook", 4, "cells", "metadata", "nbformat", "nbformat_minor")
	if p.err != nil {
		return nil
	}
	var major, minor int
	p.decode(top["nbformat"], "nbformat", &major)
	p.decode(top["nbformat_minor"], "nbformat_minor", &minor)
	if major != formatMajor {
		p.fail(top["nbformat"].offset, "nbformat is %d, want %d: convert the file with 'jupyter nbconvert --to notebook'", major, formatMajor)
	}
	var meta struct {
		Kernelspec struct {
			Name string `json:"name"`
		} `json:"kernelspec"`
	}
	p.decode(top["metadata"], "metadata", &meta)

	nb := &notebook{Kernel: meta.Kernelspec.Name}
	ids := make(map[string]int)
	for i, item := range p.items(top["cells"], "cells") {
		c, id := p.cell(item, i+1, minor)
		if p.err != nil {
			return nil
		}
		if other := ids[id]; id != "" && other != 0 {
			p.fail(item.offset, "cell %d: id %q is that of cell %d too", c.Number, id, other)
			return nil
		}
		ids[id] = c.Number
		nb.Cells = append(nb.Cells, c)
	}
	return nb
}

// cell reads one cell and its id.
func (p *parser) cell(v value, number, minor int) (c cell, id string) {
	what := fmt.Sprintf("cell %d", number)
	c = cell{Number: number, Line: p.line(v.offset)}

	var kind string
	p.decode(p.fields(v, what, 0)["cell_type"], what+": cell_type", &kind)
	if p.err != nil {
		return c, ""
	}
	required := []string{"cell_type", "metadata", "source"}
	optional := []string{"attachments"}
	switch kind {
	case "code":
		c.Code = true
		required, optional = append(required, "execution_count", "outputs"), nil
	case "markdown", "raw":
	default:
		p.fail(v.offset, "%s: cell_type is %q, want code, markdown or raw", what, kind)
		return c, ""
	}
	if minor >= minorWithID {
		required = append(required, "id")
	} else {
		optional = append(optional, "id") // nbconvert 6 writes ids before 4.5 too
	}
	f := p.fields(v, what, len(required), append(required, optional...)...)
	if p.err != nil {
		return c, ""
	}

	c.Source = p.text(f["source"], what+": source")
	c.pieces = p.pieces(f["source"], what+": source")
	var meta struct {
		Tags []string `json:"tags"`
	}
	p.decode(f["metadata"], what+": metadata", &meta)
	c.Tags = meta.Tags
	if v, ok := f["id"]; ok {
		p.decode(v, what+": id", &id)
	}
	c.ID = id
	if c.Code {
		var count *int // null: never executed
		p.decode(f["execution_count"], what+": execution_count", &count)
		if count != nil {
			c.Count = *count
		}
		for i, item := range p.items(f["outputs"], what+": outputs") {
			c.Outputs = append(c.Outputs, p.output(item, fmt.Sprintf("%s: output %d", what, i+1)))
		}
	}
	return c, id
}

// output reads one output of a code cell.
func (p *parser) output(v value, what string) (o output) {
	var kind string
	p.decode(p.fields(v, what, 0)["output_type"], what+": output_type", &kind)
	if p.err != nil {
		return o
	}
	o.Type = kind
	switch kind {
	case "stream":
		f := p.fields(v, what, 3, "output_type", "name", "text")
		if p.err != nil {
			return o
		}
		p.decode(f["name"], what+": name", &o.Stream)
		if o.Stream != "stdout" && o.Stream != "stderr" {
			p.fail(f["name"].offset, "%s: stream is %q, want stdout or stderr", what, o.Stream)
		}
		o.Text = p.text(f["text"], what+": text")
	case "display_data":
		o.Data = p.bundle(p.fields(v, what, 3, "output_type", "data", "metadata"), what)
	case "execute_result":
		o.Data = p.bundle(p.fields(v, what, 4, "output_type", "data", "metadata", "execution_count"), what)
	case "error":
		f := p.fields(v, what, 4, "output_type", "ename", "evalue", "traceback")
		if p.err != nil {
			return o
		}
		var name, text string
		var trace []string
		p.decode(f["ename"], what+": ename", &name)
		p.decode(f["evalue"], what+": evalue", &text)
		p.decode(f["traceback"], what+": traceback", &trace)
		o.Text = name + ": " + text + "\n" + strings.Join(trace, "\n")
	default:
		p.fail(v.offset, "%s: output_type is %q, want stream, display_data, execute_result or error", what, kind)
	}
	return o
}

// bundle reads the data of an output: a MIME bundle.
func (p *parser) bundle(f map[string]value, what string) map[string]string {
	if p.err != nil {
		return nil
	}
	data := make(map[string]string)
	for mime, v := range p.fields(f["data"], what+": data", 0) {
		if isJSON(mime) {
			data[mime] = string(v.raw)
			continue
		}
		data[mime] = p.text(v, what+": "+mime)
	}
	return data
}

// isJSON reports whether data of the MIME type is a JSON value in the file.
func isJSON(mime string) bool {
	return mime == "application/json" || strings.HasPrefix(mime, "application/") && strings.HasSuffix(mime, "+json")
}
