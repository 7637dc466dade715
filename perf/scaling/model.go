package scaling

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"presage/perf/fit"
)

// ErrData is wrapped by errors about sizes and groups that cannot be modelled.
var ErrData = errors.New("bad data")

// Doubts of this package, beside those of fit.
const (
	FewSizes       fit.Doubt = "few sizes"       // fewer than 5 sizes
	HeldConstant   fit.Doubt = "held constant"   // seen at too few sizes to tell its growth
	TotalsDisagree fit.Doubt = "totals disagree" // bins do not sum to the total's model
	PoorFit        fit.Doubt = "poor fit"        // a frequency model misses its own data
	Pieces         fit.Doubt = "pieces"          // no one function over all sizes: the largest decide
	Uneven         fit.Doubt = "uneven"          // counts that no function meets, in proportion to all accesses
	Outgrown       fit.Doubt = "outgrown"        // rows or planes are larger than a page, as at no size of the model
)

// BinModel is one bin of a histogram as functions of the size.
type BinModel struct {
	// Constant is set for a leading bin whose distance is the same at all
	// sizes.
	Constant bool
	// Distance is the average reuse distance of the bin's accesses, in blocks.
	Distance fit.Func
	// Frequency is the number of accesses in the bin.
	Frequency fit.Func
}

// GroupModel is the histogram of one group as functions of the size.
type GroupModel struct {
	Name string
	// Accesses is the number of all accesses: the same for all block sizes, but
	// for accesses that straddle blocks. At each size the bins' frequencies are
	// taken in proportion to what it leaves beside the cold accesses.
	Accesses fit.Func
	// Cold is the number of cold accesses.
	Cold fit.Func
	// Bins are by ascending distance at the sizes of the model.
	Bins []BinModel
	// Warnings are doubts about the group as a whole; its functions have their
	// own.
	Warnings []fit.Warning
}

// Model gives the histograms of all groups of a program as functions of the
// size. It is plain data for encoding/gob and encoding/json.
type Model struct {
	Params []string    // names of the parameters of a size, ascending
	Sizes  []fit.Point // the sizes that the model was fitted to
	Domain map[string]fit.Interval
	// BlockBytes is that of Options; 0: unknown.
	BlockBytes uint64
	Groups     []GroupModel
	// Tails are those of the whole program, by ascending distance, where distances are the
	// same at all sizes; nil otherwise.
	Tails []Tail
	// Warnings are doubts about the model as a whole, and numbers of those
	// about its groups.
	Warnings []fit.Warning
}

// Fit models groups over sizes. All histograms must have the same block size.
// It fails if there are fewer than three sizes, if two are equal, or if a group
// does not have one histogram for each size.
func Fit(ctx context.Context, sizes []fit.Point, groups []Group, opt Options) (*Model, error) {
	f, err := newFitter(sizes, groups, opt)
	if err != nil {
		return nil, err
	}
	f.chance = opt.Basis == nil && !opt.MedianRatio && !opt.FewBlocks
	if err := f.prepare(ctx, groups, opt.Workers); err != nil {
		return nil, err
	}
	m := &Model{Params: f.params, Sizes: sizes, Domain: f.design.Domain(), BlockBytes: opt.BlockBytes, Groups: make([]GroupModel, len(groups))}
	errs := make([]error, len(groups))
	order := f.largestFirst() // so that no worker is left with one of them at the end
	each(ctx, opt.Workers, len(groups), func(i int) { m.Groups[order[i]], errs[order[i]] = f.group(&f.groups[order[i]]) })
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("scaling: group %d %q: %w", i, groups[i].Name, err)
		}
	}
	if f.same && len(groups) > 0 && len(f.params) == 1 {
		if m.Tails, err = f.tails(groups); err != nil {
			return nil, fmt.Errorf("scaling: all groups: %w", err)
		}
	}
	m.Warnings = m.summary()
	return m, nil
}

// largestFirst returns the indices of the groups, those with the most bins first.
func (f *fitter) largestFirst() []int {
	order, bins := make([]int, len(f.groups)), make([]int, len(f.groups))
	for i := range order {
		order[i] = i
		for k := range f.groups[i].Hists {
			bins[i] += len(f.groups[i].Hists[k].Bins)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(bins[b], bins[a]) })
	return order
}

// each calls f with 0 to n - 1, by several workers, 0 for GOMAXPROCS, until the context
// ends.
func each(ctx context.Context, workers, n int, f func(int)) {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}

// summary counts the doubts about functions and groups, by kind.
func (m *Model) summary() []fit.Warning {
	count := make(doubts)
	for i := range m.Groups {
		g := &m.Groups[i]
		count.add(g.Warnings)
		count.add(g.Accesses.Warnings)
		count.add(g.Cold.Warnings)
		for _, b := range g.Bins {
			count.add(b.Frequency.Warnings)
			count.add(b.Distance.Warnings)
		}
	}
	return count.summary(len(m.Sizes), "functions or groups")
}

// doubts counts warnings by kind.
type doubts map[fit.Doubt]int

func (d doubts) add(all []fit.Warning) {
	for _, w := range all {
		d[w.Doubt]++
	}
}

// summary returns a warning if there are few sizes, and one for each kind of
// doubt with the number of functions that have it.
func (d doubts) summary(sizes int, what string) []fit.Warning {
	var out []fit.Warning
	if sizes < RecommendedSizes {
		out = append(out, fit.Warning{Doubt: FewSizes, Detail: fmt.Sprintf("%d sizes; %d or more are recommended", sizes, RecommendedSizes)})
	}
	for _, kind := range slices.Sorted(maps.Keys(d)) {
		out = append(out, fit.Warning{Doubt: kind, Detail: fmt.Sprintf("%d %s", d[kind], what)})
	}
	return out
}
