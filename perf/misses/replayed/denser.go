package replayed

import (
	"context"
	"fmt"
	"math"
	"strings"

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
	if c.opt.TrainedSizesOnly || w.apart || w.runs[0].Recorded.SampleOneIn > 1 || len(w.sizes) >= mostSizes {
		return nil, nil
	}
	off, err := c.model.ForetellError(ctx, 1)
	list := between(w.sizes)
	if err != nil || !(off >= unsettled) || len(list) == 0 {
		return nil, err
	}
	model, err := c.program.fittedTo(ctx, c.model, list, c.report, c.model.Runs().And)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, nil // such as a size at which the program fails: the model stays
	}
	// The largest run, from as far away.
	left, err := model.ForetellError(ctx, 1+above(list, w.sizes[len(w.sizes)-2]))
	if err != nil || !(left <= off) {
		return nil, err
	}
	text := strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ", ")
	return &misses.Substitute{Model: model, Corrector: c.in(model, 0), More: true, Warning: fmt.Sprintf("misses of the largest run, foretold from smaller ones, are off by %.0f%%, and by %.0f%% with those at %s = %s, of which models are, too", 100*math.Expm1(off), 100*math.Expm1(left), w.name, text)}, nil
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
	unit := int64(0)
	for _, n := range sizes {
		unit = gcd(unit, n)
	}
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

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
