package scaling

import (
	"fmt"
	"slices"

	"presage/perf/fit"
)

const (
	// defaultDegree is that of the default basis.
	defaultDegree = 3
	// largestDegree is the largest that counts are tried with.
	largestDegree = 6

	// explained is the leave-one-out error up to which a function of higher powers
	// explains counts, and improvement how many times smaller than without them it
	// must be: terms that grow that fast must not be taken for noise.
	explained   = 0.002
	improvement = 10
)

// higherPowers returns designs of the powers beyond the default basis up to each
// degree that the sizes can tell from the ones below: loops in four and more
// dimensions execute so many times.
func (f *fitter) higherPowers(blockBytes uint64) ([]*fit.Design, error) {
	var out []*fit.Design
	if len(f.params) != 1 {
		return nil, nil // products of several parameters are many
	}
	for degree := defaultDegree + 1; degree <= min(largestDegree, len(f.sizes)-2); degree++ {
		basis := withAlignment(fit.Monomials(degree, f.params...), f.sizes, blockBytes)
		d, err := fit.NewDesign(basis, f.sizes, f.reach)
		if err != nil {
			return nil, fmt.Errorf("scaling: %w", err)
		}
		out = append(out, d)
	}
	return out, nil
}

// steeper returns the function of the lowest power beyond the default basis that
// explains counts which the default basis does not, or else g.
func (f *fitter) steeper(k kind, g fit.Func, higher []*fit.Design, counts []float64) (fit.Func, error) {
	without := usualError(&g)
	if without <= explained {
		return g, nil
	}
	for _, d := range higher {
		h, err := f.fit(k, d, f.extents, counts, 0, f.noSpread)
		if err != nil {
			return g, err
		}
		if with := usualError(&h); with <= explained && with*improvement <= without {
			return h, nil
		}
	}
	return g, nil
}

// usualError returns the leave-one-out error of a function under the usual weights,
// or the least that it can be if others were chosen.
func usualError(g *fit.Func) float64 {
	if slices.ContainsFunc(g.Warnings, func(w fit.Warning) bool { return w.Doubt == Pieces }) {
		return max(g.LOO, pieces)
	}
	return g.LOO
}
