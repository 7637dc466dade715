package scaling

import (
	"fmt"
	"math"
	"strings"

	"presage/perf/fit"
)

// A row of n elements of e bytes touches (en + b − g) / b blocks of b bytes on
// average, where g = gcd(en, b), since consecutive rows begin at all multiples
// of g. So the share of accesses to the block touched just before fluctuates
// with the size. Powers of the size alone cannot express that, and training
// sizes that fill blocks exactly become outliers: models of a mesh sweep
// trained on eleven sizes were 13% off without these terms and 2% with them.

const (
	elementBytes   = 8   // of a row
	largestAligned = 512 // bytes: in larger blocks, such as pages, the effect is relatively small
)

// OfPages reports whether blocks are as large as pages, which hold several rows
// at small sizes.
func OfPages(blockBytes uint64) bool { return blockBytes > largestAligned }

// withAlignment adds the terms n·g/b and n²·g/b to a basis in a single
// parameter n, unless g is the same at all sizes or a size is not an integer.
func withAlignment(basis *fit.Basis, sizes []fit.Point, blockBytes uint64) *fit.Basis {
	params := basis.Params()
	if blockBytes == 0 || blockBytes > largestAligned || len(params) != 1 {
		return basis
	}
	n := params[0]
	g := fmt.Sprintf("gcd(%d*%s, %d)/%d", elementBytes, n, blockBytes, blockBytes)
	text := strings.Join([]string{basis.String(), n + "*" + g, n + "^2*" + g}, ", ")
	with, err := fit.ParseBasis(text, n)
	if err != nil {
		return basis
	}
	aligned := with.Terms[len(with.Terms)-2]
	share := func(s fit.Point) float64 { return aligned.Eval(s) / s[n] }
	varies := false
	for _, s := range sizes {
		if s[n] != math.Trunc(s[n]) {
			return basis
		}
		varies = varies || math.Abs(share(s)-share(sizes[0])) > 1e-12
	}
	if !varies {
		return basis
	}
	return with
}

// outgrown returns a warning for each parameter n whose row (n elements) or
// plane (n²) fits in a page at all sizes of the model but not at p. Up to that
// point neighbouring rows share pages, and distances in pages grow with the
// mesh; beyond it each row has its own pages, and they grow only with the
// number of rows, which no size of the model shows.
func (m *Model) outgrown(p fit.Point) []fit.Warning {
	if m.BlockBytes <= largestAligned {
		return nil
	}
	var out []fit.Warning
	for _, name := range m.Params {
		for i, what := range []string{"a row of %s", "a plane of %s²"} {
			degree := i + 1
			bytes := func(n float64) float64 { return elementBytes * math.Pow(n, float64(degree)) }
			if page := float64(m.BlockBytes); bytes(m.Domain[name].Hi) < page && bytes(p[name]) > page {
				out = append(out, fit.Warning{
					Doubt: Outgrown,
					Detail: fmt.Sprintf(what+" elements of %d bytes fits in a page of %d bytes up to %s = %.0f, as at all sizes of the model, and no more at %.0f",
						name, elementBytes, m.BlockBytes, name, math.Floor(math.Pow(page/elementBytes, 1/float64(degree))), p[name]),
				})
			}
		}
	}
	return out
}
