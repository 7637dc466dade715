package scaling

import (
	"fmt"
	"math"
	"strings"

	"presage/perf/fit"
)

// A row of n elements of e bytes touches (en + b − g) / b blocks of b bytes on
// average, where g = gcd(en, b), since rows that follow each other in memory begin
// at all multiples of g. So the share of accesses that find the block that the one
// before them touched goes up and down with the size. Over powers of the size
// alone that is noise, and training sizes that fill blocks exactly are outliers;
// the models of a sweep over a mesh trained on eleven sizes were then 13% off where
// they are 2% off with these terms.

const (
	elementBytes   = 8   // of a row
	largestAligned = 512 // bytes: in larger blocks, pages, the effect is small beside others
)

// withAlignment adds to a basis, for a single parameter n, the terms n·g/b and
// n²·g/b, unless g is the same at all sizes, or a size is no integer.
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

// outgrown returns a doubt for each parameter n whose row (n elements) or plane
// (n²) lies within a page at all sizes of the model and is larger than one at p.
// Until then neighbouring rows share pages, and distances in pages grow with the
// mesh; after it each has its own, and they grow with the number of rows only. No
// size of the model tells of that.
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
