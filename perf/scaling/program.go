package scaling

import (
	"fmt"
	"math"

	"presage/perf/fit"
)

// What a group does by chance, the program as a whole does not. These are rules by which
// the whole bounds the parts.

const (
	// uneven is the leave-one-out error from which counts are no function of the size:
	// a level of a recursion, or a way of a branch, that data choose.
	uneven = 0.05
	// clearlyEven is how many times less a function must then be off than the same
	// share of all accesses at all sizes to be taken.
	clearlyEven = 2
	// few is the largest share of all accesses, at any size, of counts that are chance. What
	// is most of a program is what the other parts leave of it.
	few = 0.1
	// unevenFootprint is the leave-one-out error from which the memory touched bounds
	// no distances.
	unevenFootprint = 0.05
)

// sumUp models all accesses, and what bounds distances.
func (f *fitter) sumUp(groups []Group) error {
	accesses, touched := make([]float64, len(f.sizes)), make([]float64, len(f.sizes))
	for _, g := range groups {
		for i := range g.Hists {
			touched[i] += float64(g.Hists[i].Cold)
			if g.Accesses != nil {
				accesses[i] += g.Accesses[i]
			} else {
				accesses[i] += float64(g.Hists[i].Accesses())
			}
		}
	}
	var err error
	f.total = accesses
	if f.all, err = f.counted(ofAccesses, accesses); err != nil {
		return err
	}
	return f.boundDistances(touched)
}

// boundDistances leaves powers of the size out of distances that grow faster than the
// blocks that the program touches do: a reuse has at most all of them in between. It
// takes the default basis, and touched blocks that are a function of the size.
//
// The power is that of the function of touched blocks where it is furthest from start-up
// and remainders, at the end of its reach.
func (f *fitter) boundDistances(touched []float64) error {
	if f.plain == f.design || len(f.params) != 1 || !f.varies(ofDistance) {
		return nil
	}
	g, err := f.fit(ofFrequency, f.plain, f.extents, touched, 0, true)
	if err != nil {
		return err
	}
	last, end := g.Eval(f.times(fit.ReachLimit/2)), g.Eval(f.times(fit.ReachLimit))
	if !(last > 0 && end > 0) || g.LOO > unevenFootprint {
		return nil
	}
	degree := int(math.Round(math.Log2(end / last)))
	if degree < 1 || degree >= defaultDegree {
		return nil
	}
	f.bounded = withAlignment(fit.Monomials(degree, f.params...), f.sizes, f.blockBytes)
	f.boundedTo, err = fit.NewDesign(f.bounded, f.sizes, f.reach)
	return err
}

// evened returns g, or, if it is off by more than counts that are a function of the size
// are, the share of all accesses that the counts are, unless g is clearly nearer. A part
// of a program that data choose may grow by a half from one size to the next, and of
// powers through such values the third is as likely as the first; what it is a part of
// grows as the program does.
func (f *fitter) evened(g fit.Func, counts []float64) fit.Func {
	off := usualError(&g)
	if off <= uneven || len(f.all.Terms) == 0 {
		return g
	}
	for i, n := range counts {
		if n > few*f.total[i] {
			return g
		}
	}
	share := f.all.Fitted(f.sizes, counts, weights(f.extents, counts, usual))
	if share.LOO > clearlyEven*off {
		return g
	}
	if !f.noSpread {
		share.Spread = share.Spread.Or(g.Spread)
	}
	share.Warnings = append(share.Warnings, fit.Warning{Doubt: Uneven, Detail: fmt.Sprintf("no function of the size is nearer than %.0f%%: in proportion to all accesses", 100*math.Min(off, 10))})
	return share
}
