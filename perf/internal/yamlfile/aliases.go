package yamlfile

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
)

// maxNodes bounds the scalars of a document, each counted as often as aliases repeat
// it. A text of MaxBytes without aliases has fewer.
const maxNodes = 100_000

// checkAliases returns an error if a document holds more than maxNodes scalars. What
// an alias stands for is decoded anew wherever it stands, and may hold aliases itself:
// a few hundred bytes can stand for gigabytes.
func checkAliases(tree *ast.File) error {
	e := expansion{anchors: map[string]int{}}
	for _, d := range tree.Docs {
		if e.size(d.Body) > maxNodes {
			return fmt.Errorf("more than %d values with what the aliases (*) stand for", maxNodes)
		}
	}
	return nil
}

// expansion counts scalars in the order of the text, in which an anchor stands before
// its aliases.
type expansion struct {
	anchors map[string]int // size of what a name stands for
}

// size returns the scalars below a node, aliases expanded, at most maxNodes + 1.
func (e *expansion) size(node ast.Node) int {
	switch n := node.(type) {
	case *ast.MappingNode:
		sum := 1
		for _, v := range n.Values {
			sum = min(sum+e.size(v), maxNodes+1)
		}
		return sum
	case *ast.SequenceNode:
		sum := 1
		for _, v := range n.Values {
			sum = min(sum+e.size(v), maxNodes+1)
		}
		return sum
	case *ast.MappingValueNode:
		return min(e.size(n.Key)+e.size(n.Value), maxNodes+1)
	case *ast.MappingKeyNode:
		return e.size(n.Value)
	case *ast.TagNode:
		return e.size(n.Value)
	case *ast.AnchorNode:
		sum := e.size(n.Value)
		e.anchors[n.Name.GetToken().Value] = sum
		return sum
	case *ast.AliasNode:
		return max(e.anchors[n.Value.GetToken().Value], 1)
	}
	return 1
}
