package replayed

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"presage/perf/misses"
)

const (
	// unsettled is how far misses of the largest run, foretold from smaller ones, are off
	// from which on more runs are worth their time.
	unsettled = 0.02
	// mostSizes is the number of sizes from which on no more are run.
	mostSizes = 9
	// leastMultiple of the number that all sizes are multiples of is the smallest of them,
	// at least, for sizes between them to be run.
	leastMultiple = 4
)

// denser returns a model of the profiles' runs and of others at sizes between theirs. Where
// what a program does depends on its data, counts have noise, and of half a dozen sizes a
// function may follow that, and go astray beyond them; of twice as many it hardly does. nil:
// the runs foretell each other, or there is no such model.
func (c *Corrector) denser(ctx context.Context) (*misses.Substitute, error) {
	w := c.program.sweep
	list := between(w.sizes)
	if !c.mayProfile() || len(w.sizes) >= mostSizes || len(list) == 0 {
		return nil, nil
	}
	off, err := c.model.ForetellError(ctx, 1)
	if err != nil || !(off >= unsettled) || math.IsInf(off, 1) {
		return nil, err
	}
	model, err := c.fitted(ctx, list, c.model.Runs().And)
	if err != nil || model == nil {
		return nil, err
	}
	further, all := furtherSizes(model, w.name, w.sizes) // a run of its own may have been left out
	if !all || len(further) == 0 {
		return nil, nil
	}
	// The largest run, from as far away.
	left, err := model.ForetellError(ctx, 1+above(further, w.sizes[len(w.sizes)-2]))
	if err != nil || !(left <= off) || math.IsInf(left, 1) {
		return nil, err
	}
	return &misses.Substitute{Model: model, Corrector: c.in(model, c.program.run), More: true, Warning: fmt.Sprintf("misses of the largest run, foretold from smaller ones, are off by %.0f%%, and by %.0f%% with those at %s = %s, of which models are, too", 100*math.Expm1(off), 100*math.Expm1(left), w.name, listed(further))}, nil
}

// furtherSizes returns the sizes of a model beside some, and whether it has all of these.
func furtherSizes(model *misses.Model, name string, sizes []int64) (further []int64, all bool) {
	own := 0
	for _, p := range model.Points {
		switch n := int64(p[name]); {
		case slices.Contains(sizes, n):
			own++
		default:
			further = append(further, n)
		}
	}
	slices.Sort(further)
	return further, own == len(sizes)
}

// above returns how many of some sizes are above n.
func above(sizes []int64, n int64) int {
	k := 0
	for _, m := range sizes {
		if m > n {
			k++
		}
	}
	return k
}

// between returns sizes between others, which ascend: their geometric means, but multiples
// of what all of them are multiples of. Of sizes that are small multiples of a number, such
// as 2, 3, 4 and 6 times 512, others may not be what the program is for.
func between(sizes []int64) []int64 {
	common := new(big.Int)
	for _, n := range sizes {
		common.GCD(nil, nil, common, big.NewInt(n))
	}
	unit := common.Int64()
	if len(sizes) == 0 || unit*leastMultiple > sizes[0] {
		return nil
	}
	var list []int64
	for i := 1; i < len(sizes); i++ {
		mean := math.Sqrt(float64(sizes[i-1]) * float64(sizes[i]))
		n := unit * int64(math.Round(mean/float64(unit)))
		if n > sizes[i-1] && n < sizes[i] {
			list = append(list, n)
		}
	}
	return list
}
