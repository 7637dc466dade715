package iperf

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"presage/perf/internal/yamlfile"
)

// document is a YAML file being converted to values. It keeps the first error.
type document struct {
	file string
	tree *ast.File
	err  error
}

// decode reads data strictly into v.
func decode(file string, data []byte, v any) (*document, error) {
	tree, err := yamlfile.Decode(file, data, v)
	if err != nil {
		return nil, err
	}
	return &document{file: file, tree: tree}, nil
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
