package training

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"presage/perf/misses"
)

const (
	// overhead is what any run costs beside its own accesses, in accesses: the program
	// is started, and models are fitted again.
	overhead = 1e7
	// sampledBlocks is the number of blocks of 64 bytes that a sampled run is to
	// observe.
	sampledBlocks = 8192
	// mostOneIn bounds the reciprocal of a sampling rate.
	mostOneIn = 1024
	// share is the part of what is left that one run may take, if that suffices for
	// a larger size: a model of a few large sizes is better than of one.
	share = 0.5
	// gap is the ratio of two neighbouring sizes from which another between them may
	// be run.
	gap = 1.2
	// reserved is the part of the budget that is left to a sampled run.
	reserved = 0.2
	// guess is the time of a sampled run relative to that of an exact one.
	guess = 0.5
)

// choice is a run to be made.
type choice struct {
	size   float64
	oneIn  uint64 // 0: exact
	reason string
}

// option is a size that an exact run may have.
type option struct {
	size, work, apart float64 // apart: by how much models differ there
}

// choose returns the next run, or sets the reason to stop. Exact runs leave a part of
// the budget to a sampled one beyond them, if there can be one; what it leaves is
// theirs.
func (t *trainer) choose() (choice, error) {
	all, err := t.options()
	if err != nil {
		return choice{}, err
	}
	beyond := func(o option) bool { return o.size > t.members[len(t.members)-1].size }
	if !slices.ContainsFunc(all, beyond) {
		t.stop = StopSizes
		return choice{}, nil
	}
	sampled, err := t.sampled()
	if err != nil {
		return choice{}, err
	}
	reserve := 0.0
	if sampled != nil {
		reserve = reserved * t.opt.Budget.Seconds()
	}
	left := t.left() - reserve
	if slices.ContainsFunc(t.within(all, share*left), beyond) {
		left *= share
	}
	best := t.best(all, left)
	switch {
	case best == nil && sampled != nil:
		return *sampled, nil
	case best != nil:
		return choice{size: best.size, reason: fmt.Sprintf("models differ by %.1f%% there, the most for its cost", 100*best.apart)}, nil
	}
	t.stop = StopBudget
	return choice{}, nil
}

// within returns the exact runs that some seconds suffice for.
func (t *trainer) within(all []option, seconds float64) []option {
	perAccess := t.pace()
	return slices.DeleteFunc(slices.Clone(all), func(o option) bool { return o.work*perAccess+t.lastFit > seconds })
}

// best returns the exact run within some seconds that is worth most; nil if none is
// worth anything: between other sizes, models must differ by more than the error
// requested.
func (t *trainer) best(all []option, seconds float64) *option {
	var best *option
	largest := t.members[len(t.members)-1].size
	for _, o := range t.within(all, seconds) {
		if o.size < largest && o.apart <= t.opt.Error {
			continue
		}
		if best == nil || t.value(&o) > t.value(best) {
			best = &o
		}
	}
	return best
}

// value returns what is learnt by a run for what it costs, in work: times do not
// decide.
func (t *trainer) value(o *option) float64 {
	return o.apart / (o.work + overhead)
}

// options returns the sizes that exact runs may have, ascending.
func (t *trainer) options() ([]option, error) {
	var out []option
	largest := t.members[len(t.members)-1]
	for _, size := range t.ladder.candidates(largest.size, exactMultiples) {
		if size < largest.size && t.ladder.gap(size) < gap {
			continue
		}
		o := option{size: size, work: t.work(size)}
		for _, other := range t.others {
			apart, err := t.apart(other, size)
			if err != nil {
				return nil, err
			}
			o.apart = math.Max(o.apart, apart)
		}
		out = append(out, o)
	}
	return out, nil
}

// apart returns the mean difference of a model from that of all runs at a size.
func (t *trainer) apart(other *misses.Model, size float64) (float64, error) {
	all, err := differ(t.full, other, t.opt.point(size), t.full.BlockBytes())
	return mean(all), err
}

// work predicts the accesses of a run.
func (t *trainer) work(size float64) float64 {
	total := 0.0
	for _, n := range t.full.Accesses(t.opt.point(size)) {
		total += n
	}
	return total
}

// sampled returns the largest sampled run that fits into the budget; nil if none
// does, if there has been one, or if data are so small that too few blocks would be
// observed.
func (t *trainer) sampled() (*choice, error) {
	if t.checked {
		return nil, nil
	}
	perAccess := guess * t.pace()
	from := t.largest().size
	block := t.full.BlockBytes()[0]
	candidates := t.ladder.candidates(from, sampledMultiples)
	for i := len(candidates) - 1; i >= 0; i-- {
		size := candidates[i]
		if size <= from || t.work(size)*perAccess+t.lastFit > t.left() {
			continue
		}
		touched, err := t.full.Touched(t.opt.point(size), block)
		if err != nil {
			return nil, err
		}
		oneIn := uint64(math.Min(mostOneIn, touched*float64(block)/64/sampledBlocks))
		if oneIn < 2 {
			return nil, nil
		}
		oneIn = 1 << (bits.Len64(oneIn) - 1)
		return &choice{size: size, oneIn: oneIn, reason: fmt.Sprintf("the largest that fits into the %.3g s left, beyond exact runs", t.left())}, nil
	}
	return nil, nil
}

// pace returns the seconds that an access takes, by the largest run that was made for
// this purpose; 0 if the store had them all.
func (t *trainer) pace() float64 {
	for _, m := range slices.Backward(t.members) {
		if !m.Loaded && m.work() > 0 {
			return m.Seconds / m.work()
		}
	}
	return 0
}
