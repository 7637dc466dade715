package iperf

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"presage/perf/internal/yamldepth"
)

// maxFileBytes bounds a file of factors or kernels: a hundred times the longest.
const maxFileBytes = 1 << 20

// document is a YAML file being converted to values. It keeps the first error.
type document struct {
	file string
	tree *ast.File
	err  error
}

// decode reads data strictly into v. The YAML package panics at some malformed
// input; that is an error too.
func decode(file string, data []byte, v any) (d *document, err error) {
	defer func() {
		if r := recover(); r != nil {
			d, err = nil, fmt.Errorf("%s: malformed YAML: %v", file, r)
		}
	}()
	if len(data) > maxFileBytes {
		return nil, fmt.Errorf("%s: %d bytes, at most %d", file, len(data), maxFileBytes)
	}
	if err := yamldepth.Check(data); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if err := yaml.UnmarshalWithOptions(data, v, yaml.Strict()); err != nil {
		return nil, positioned(file, err)
	}
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, positioned(file, err)
	}
	return &document{file: file, tree: tree}, nil
}

// positioned puts file:line:column before an error of the YAML package.
func positioned(file string, err error) error {
	var y yaml.Error
	if errors.As(err, &y) && y.GetToken() != nil && y.GetToken().Position != nil {
		p := y.GetToken().Position
		return fmt.Errorf("%s:%d:%d: %s", file, p.Line, p.Column, y.GetMessage())
	}
	return fmt.Errorf("%s: %w", file, err)
}

// at returns file:line of a YAML path such as $.factors[0].models[1], or of the
// nearest existing path above it.
func (d *document) at(path string) (place string) {
	place = d.file
	defer func() { _ = recover() }() // of the YAML package, at paths through aliases
	for ; path != ""; path = path[:max(0, strings.LastIndexAny(path, ".["))] {
		p, err := yaml.PathString(path)
		if err != nil {
			continue
		}
		node, err := p.FilterFile(d.tree)
		if err != nil || node == nil || node.GetToken() == nil {
			continue
		}
		return fmt.Sprintf("%s:%d", d.file, node.GetToken().Position.Line)
	}
	return place
}

// fail records an error at a YAML path.
func (d *document) fail(path, format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%s: %s", d.at(path), fmt.Sprintf(format, args...))
	}
}

func (d *document) need(path, value string) bool {
	if value == "" {
		d.fail(path, "%s is missing", path[strings.LastIndexByte(path, '.')+1:])
	}
	return value != ""
}
