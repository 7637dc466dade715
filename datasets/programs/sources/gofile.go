package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
)

// goFile makes up a Go file, and takes it apart.
func goFile(r *random) (text string, parts int, err error) {
	source, written := newWriter(r).file()
	return checkGo(source, written)
}

// checkGo parses and type-checks a file, formats it, and compares. It returns the
// formatted text and the number of the tree's nodes.
func checkGo(source []byte, written census) (text string, parts int, err error) {
	tree, formatted, err := reformat(source)
	if err != nil {
		return "", 0, err
	}
	found, parts := count(tree)
	if found != written {
		return "", 0, fmt.Errorf("the tree has %+v, the source was made of %+v", found, written)
	}
	again, twice, err := reformat(formatted)
	if err != nil {
		return "", 0, err
	}
	if !bytes.Equal(formatted, twice) {
		return "", 0, fmt.Errorf("formatting a second time changes %d bytes to %d", len(formatted), len(twice))
	}
	if found, nodes := count(again); found != written || nodes != parts {
		return "", 0, fmt.Errorf("formatted, the tree has %d nodes and %+v, before %d and %+v", nodes, found, parts, written)
	}
	return string(formatted), parts, sameTokens(source, formatted)
}

// reformat returns a source's tree and its text in the usual format.
func reformat(source []byte) (*ast.File, []byte, error) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, "made-up.go", source, parser.ParseComments)
	if err != nil {
		return nil, nil, err
	}
	if _, err := new(types.Config).Check(tree.Name.Name, files, []*ast.File{tree}, nil); err != nil {
		return nil, nil, err
	}
	var out bytes.Buffer
	err = format.Node(&out, files, tree)
	return tree, out.Bytes(), err
}

// census is how many there are of some kinds of things in a file.
type census struct{ functions, ifs, loops, switches, calls, comments int }

// count returns the census of a tree, and the number of its nodes.
func count(tree *ast.File) (c census, nodes int) {
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n.(type) {
		case nil:
			return false
		case *ast.FuncDecl, *ast.FuncLit:
			c.functions++
		case *ast.IfStmt:
			c.ifs++
		case *ast.ForStmt, *ast.RangeStmt:
			c.loops++
		case *ast.SwitchStmt, *ast.TypeSwitchStmt:
			c.switches++
		case *ast.CallExpr:
			c.calls++
		case *ast.Comment, *ast.CommentGroup:
			return false // those with declarations would come twice
		}
		nodes++
		return true
	})
	for _, group := range tree.Comments {
		c.comments += len(group.List)
	}
	return c, nodes
}

// sameTokens compares two sources token by token, but for semicolons, which
// line ends stand for.
func sameTokens(a, b []byte) error {
	x, y := scan(a), scan(b)
	for {
		kind, literal := x()
		if k, l := y(); k != kind || l != literal {
			return fmt.Errorf("formatting changes the token %v %q to %v %q", kind, literal, k, l)
		}
		if kind == token.EOF {
			return nil
		}
	}
}

// scan returns a function that returns the next token of a source.
func scan(source []byte) func() (token.Token, string) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(source)), source, nil, 0)
	return func() (token.Token, string) {
		for {
			if _, kind, literal := s.Scan(); kind != token.SEMICOLON {
				return kind, literal
			}
		}
	}
}
