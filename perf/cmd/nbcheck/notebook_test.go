package main

import (
	"errors"
	"strings"
	"testing"
)

// TestMalformed breaks the format in one place in each case; the error must name the
// line and the fault.
func TestMalformed(t *testing.T) {
	good := golden(t, "good.ipynb")
	for _, c := range []struct {
		from, to string
		at       string // text on the line that the error must name
		want     string
	}{
		{`"nbformat": 4`, `"nbformat": 3`, `"nbformat": 3`, "want 4"},
		{`"nbformat": 4`, `"nbformat": "4"`, `"nbformat": "4"`, "cannot unmarshal string"},
		{` "nbformat": 4,`, ``, `{`, `key "nbformat" is missing`},
		{`"cells": [`, `"worksheets": [`, `"worksheets"`, "unknown key"},
		{`"cell_type": "markdown"`, `"cell_type": "heading"`, ``, "want code, markdown or raw"},
		{`"execution_count": 3,`, `"execution_count": "3",`, `"3"`, "cell 4: execution_count"},
		{`"execution_count": 3,`, ``, ``, `cell 4: key "execution_count" is missing`},
		{`"id": "cell-4"`, `"id": "cell-2"`, ``, `id "cell-2" is that of cell 2 too`},
		{`"id": "cell-4",`, ``, ``, `key "id" is missing`},
		{`"id": "cell-4",`, `"id": "cell-4", "id": "b",`, `"id": "b"`, "stands there twice"},
		{`"id": "cell-4",`, `"id": "cell-4", "colour": 1,`, `"colour"`, "unknown key"},
		{`"output_type": "display_data"`, `"output_type": "pyout"`, ``, "output 1: output_type"},
		{`"name": "stdout"`, `"name": "stdlog"`, `stdlog`, "want stdout or stderr"},
		{`"side  8\n"`, `8`, ``, "want a string or an array of strings"},
		{`"execution_count": 3,`, "\n<<<<<<< HEAD\n\"execution_count\": 3,\n", "<<<<<<< HEAD", "merge conflict"},
		{`"nbformat_minor": 5`, `"nbformat_minor": 5,`, "}", "no JSON"},
		{` "cells"`, `"cells": 3}{"cells"`, ``, "no JSON"},
	} {
		text := strings.Replace(good, c.from, c.to, 1)
		if text == good {
			t.Fatalf("%q is not in good.ipynb", c.from)
		}
		_, err := parse([]byte(text))
		var s *syntaxError
		if !errors.As(err, &s) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s -> %s: error %v, want %q", c.from, c.to, err, c.want)
			continue
		}
		if line := strings.Split(text, "\n")[s.Line-1]; c.at != "" && !strings.Contains(line, c.at) {
			t.Errorf("%s -> %s: error on line %d, %q; want the line with %q", c.from, c.to, s.Line, line, c.at)
		}
	}
	for _, text := range []string{"", "[]", "null", "\xef\xbb\xbf" + good, good[:len(good)/2]} {
		if nb, err := parse([]byte(text)); err == nil {
			t.Errorf("parse(%.20q) = %v, want an error", text, nb)
		}
	}
}

// FuzzParse checks that parse returns either a notebook or an error with a line of
// the file.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"cells":[{"cell_type":"code","execution_count":1,"metadata":{},"source":[],"outputs":[{"output_type":"error","ename":"a","evalue":"b","traceback":[]}]}],"metadata":{},"nbformat":4,"nbformat_minor":4}`))
	f.Add([]byte(`{"cells":[{"cell_type":"raw","metadata":{"tags":["x"]},"source":"s"}],"metadata":{"kernelspec":{"name":"k"}},"nbformat":4,"nbformat_minor":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		nb, err := parse(data)
		if (nb == nil) == (err == nil) {
			t.Fatalf("notebook %v, error %v: want exactly one", nb, err)
		}
		if err == nil {
			new(result).judge(nb)
			return
		}
		var s *syntaxError
		if !errors.As(err, &s) || s.Line < 1 || s.Line > 1+strings.Count(string(data), "\n") {
			t.Fatalf("error %v has no line of the file", err)
		}
	})
}
