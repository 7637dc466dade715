//go:build nbdeps

package perf

// Notebooks are no Go files, so that `go mod tidy` would drop what only they
// import. These imports keep it in go.mod; nothing is ever built with this tag.
import (
	_ "github.com/janpfeifer/gonb/gonbui"
	_ "gonum.org/v1/plot"
	_ "gonum.org/v1/plot/vg/vgimg"
)
