// Package yamlfile reads YAML from outside strictly: a file of bounded size and depth
// that holds one document, without unknown keys. Errors begin with file:line:column.
package yamlfile

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// MaxBytes bounds a file: ten times the longest one of this module. The YAML package
// takes time that grows with the square of the size of some texts, such as a folded
// scalar of empty lines: half a minute for a megabyte.
const MaxBytes = 128 << 10

// Read returns the content of a file, unless it is too large.
func Read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%s: more than %d bytes, the most that is read", path, MaxBytes)
	}
	return data, nil
}

// Decode decodes data, the content of file, into v, and returns the syntax tree, which
// places later errors.
func Decode(file string, data []byte, v any) (tree *ast.File, err error) {
	// The YAML package panics at some malformed input, such as a tag before a
	// missing sequence.
	defer func() {
		if r := recover(); r != nil {
			tree, err = nil, fmt.Errorf("%s: malformed YAML: %v", file, r)
		}
	}()
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%s: %d bytes, at most %d are read", file, len(data), MaxBytes)
	}
	if err := checkLayout(data); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if tree, err = parser.ParseBytes(data, 0); err != nil {
		return nil, Positioned(file, err)
	}
	if len(tree.Docs) > 1 {
		return nil, fmt.Errorf("%s: %d documents, separated by ---; only one is read", file, len(tree.Docs))
	}
	if err := checkAliases(tree); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(tree.Docs) == 0 || tree.Docs[0].Body == nil {
		return tree, nil
	}
	if err := yaml.NodeToValue(tree.Docs[0].Body, v, yaml.Strict()); err != nil {
		return nil, Positioned(file, err)
	}
	return tree, nil
}

// Positioned puts file:line:column before an error of the YAML package.
func Positioned(file string, err error) error {
	var y yaml.Error
	if errors.As(err, &y) && y.GetToken() != nil && y.GetToken().Position != nil {
		p := y.GetToken().Position
		return fmt.Errorf("%s:%d:%d: %s", file, p.Line, p.Column, y.GetMessage())
	}
	return fmt.Errorf("%s: %w", file, err)
}
