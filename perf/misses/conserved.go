package misses

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"

	"presage/perf/fit"
	"presage/perf/internal/num"
	"presage/perf/locality"
	"presage/perf/predict"
	"presage/perf/reuse"
	"presage/perf/scaling"
	"presage/perf/subject"
	"presage/perf/trace"
)

// ErrNotReproduced is wrapped by the error of Fit about a model that does not have
// the accesses of the runs that it was fitted to, though a function of the size
// describes them.
var ErrNotReproduced = errors.New("the model does not reproduce a run that it was fitted to")

// DefaultDeviation is the relative difference up to which a model reproduces what
// it was fitted to.
const DefaultDeviation = 0.01

// apartDeviation is the relative difference up to which the parts of one executable
// may miss what their sum does not.
const apartDeviation = 0.05

// startUp is the number of accesses that a model may be off by at any size, whatever
// their share: what a program does when it starts and ends, such as to print a number,
// depends on digits, and is much of a run at a tiny size.
const startUp = 4096

// deviation is how far a model is off at a size that it was fitted to.
type deviation struct {
	run, block int // indices in the runs and their block sizes
	got, want  float64
}

// relative returns the difference relative to what is wanted, with its sign.
func (d *deviation) relative() float64 { return num.RelErr(d.got, d.want) }

// reproduces returns an error if the accesses of the whole program, at any size and
// for any block size, are not those of the run to within DefaultDeviation, though
// a function of the size describes what the runs did: then some were lost in joining
// executables. Of one executable none can be lost, as Runs.Conserved checks to the
// last access; parts of its work may depend on the data and only their sum on the
// size, as in Sweep3D's fixups: up to apartDeviation, a warning says by how much. So it does if a basis or shape
// was asked for that cannot follow them: trying such is what notebooks are for.
//
// If none does, because work depends on the data or grows as no sum of powers, or a
// compiler treats sizes differently, the model cannot meet all runs, and follows what is
// certain ahead or the largest. That is no loss, and a warning gives the numbers.
func (m *Model) reproduces(ctx context.Context, runs *locality.Runs) error {
	worst := m.worst(runs)
	rough, err := m.roughness(ctx)
	if err != nil {
		return err
	}
	if math.Abs(rough.relative()) > DefaultDeviation {
		m.Warnings = append(m.Warnings, fmt.Sprintf("the accesses of the runs are no smooth function of the size: the one that is likeliest to continue them has %.0f at %s, where the run made %.0f (%+.1f%%), and this model has %.0f at %s, where the run made %.0f (%+.1f%%). "+
			"Work may depend on the data or grow as no sum of powers does, or the compiler may treat some sizes differently: leave those out that are unlike the sizes to be predicted",
			rough.got, m.Points[rough.run], rough.want, 100*rough.relative(), worst.got, m.Points[worst.run], worst.want, 100*worst.relative()))
		return nil
	}
	if math.Abs(worst.relative()) <= DefaultDeviation {
		return nil
	}
	asked := m.refits.opt.Basis != "" || m.refits.opt.Shape != ""
	if !runs.Matched() && (asked || math.Abs(worst.relative()) <= apartDeviation) || math.Abs(worst.got-worst.want) <= startUp {
		m.Warnings = append(m.Warnings, fmt.Sprintf("at %s, in blocks of %d bytes, the model has %.0f accesses, and the run made %.0f (%+.1f%%); %s",
			m.Points[worst.run], runs.BlockBytes()[worst.block], worst.got, worst.want, 100*worst.relative(), m.astray(runs, &worst)))
		return nil
	}
	return &notReproduced{fmt.Errorf("perf: %s: %w: at %s, in blocks of %d bytes, it has %.0f accesses, and the run made %.0f (%+.1f%%, more than %g%%); %s. "+
		"Fit with functions that describe their growth (a basis such as \"1, n, n^2, n^3, n^4\", or none for the default), or leave out sizes at which the program does something else",
		m.Program, ErrNotReproduced, m.Points[worst.run], runs.BlockBytes()[worst.block], worst.got, worst.want,
		100*worst.relative(), 100*DefaultDeviation, m.astray(runs, &worst)), worst.run, worst.relative()}
}

// roughness returns the largest deviation, at any size, of the function that models the
// accesses of whole runs as it would those of a part.
func (m *Model) roughness(ctx context.Context) (deviation, error) {
	sizes := make([]fit.Point, len(m.Points))
	total := scaling.Series{Name: "accesses", Counts: m.totals}
	for r, p := range m.Points {
		sizes[r] = fit.Point(p)
	}
	described, err := scaling.FitCounts(ctx, sizes, []scaling.Series{total}, scaling.Options{Chance: true})
	if err != nil {
		return deviation{}, fmt.Errorf("perf: the accesses of all runs: %w", err)
	}
	var worst deviation
	for r := range sizes {
		d := deviation{run: r, got: described.Funcs[0].Eval(sizes[r]), want: total.Counts[r]}
		if math.Abs(d.relative()) > math.Abs(worst.relative()) {
			worst = d
		}
	}
	return worst, nil
}

// worst returns the largest deviation of the accesses of the whole program.
func (m *Model) worst(runs *locality.Runs) deviation {
	var worst deviation
	for b, blockBytes := range runs.BlockBytes() {
		if m.byBlock[blockBytes] == nil {
			continue
		}
		for r, all := range m.atRuns(blockBytes) {
			d := deviation{run: r, block: b}
			for g, at := range all {
				d.got += at.Accesses()
				d.want += m.accessesBy(runs, g, r, b)
			}
			if beyond, known := math.Abs(d.got-d.want) > startUp, math.Abs(worst.got-worst.want) > startUp; beyond && !known ||
				beyond == known && math.Abs(d.relative()) > math.Abs(worst.relative()) {
				worst = d
			}
		}
	}
	return worst
}

// atRuns returns the histograms of all groups at the sizes that the model was fitted to,
// by run and group, which must not be modified.
func (m *Model) atRuns(blockBytes uint64) [][]scaling.Histogram {
	if known := m.checked[blockBytes]; known != nil {
		return known
	}
	at := make([]fit.Point, len(m.Points))
	for r, p := range m.Points {
		at[r] = fit.Point(p)
	}
	all := m.byBlock[blockBytes].HistogramsAt(at)
	m.checked[blockBytes] = all
	return all
}

// collectedBy returns the histogram of a part in a run.
func (m *Model) collectedBy(runs *locality.Runs, g, r, b int) reuse.Histogram {
	return locality.SumHistograms(runs.Runs[r].Reuse[b], m.ownGroups(g, r))
}

// accessesBy returns the accesses of a part in a run, exactly even if histograms are
// of a sample.
func (m *Model) accessesBy(runs *locality.Runs, g, r, b int) float64 {
	n := uint64(0)
	for _, own := range m.ownGroups(g, r) {
		n += locality.AccessesOf(runs.Runs[r].Reuse[b], own)
	}
	return float64(n)
}

// ownGroups returns the groups of a run's histograms that make up a part.
func (m *Model) ownGroups(g, r int) []trace.GroupID {
	var own []trace.GroupID
	for _, member := range m.parts[g].groups {
		own = append(own, m.shared.OfRun(r, member)...)
	}
	return own
}

// astray lists the routines that a deviation comes from.
func (m *Model) astray(runs *locality.Runs, d *deviation) string {
	scopes := m.Scopes(subject.ByRoutine)
	by := make(map[string]float64)
	fitted := m.byBlock[runs.BlockBytes()[d.block]]
	for g, at := range fitted.Histograms(fit.Point(m.Points[d.run])) {
		by[scopes.Names[scopes.Of[g]]] += at.Accesses() - m.accessesBy(runs, g, d.run, d.block)
	}
	names := slices.Sorted(maps.Keys(by))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(math.Abs(by[b]), math.Abs(by[a])) })
	var list []string
	for _, name := range names[:min(3, len(names))] {
		list = append(list, fmt.Sprintf("%s by %+.0f", name, by[name]))
	}
	return "routines that are off most: " + strings.Join(list, ", ")
}

// The misses of whole programs that are looked at: in fully associative caches of
// leastCapacity blocks, four times as many, and so on up to the footprint.
const (
	leastCapacity = 8
	growthOfCaps  = 4
	// someMisses is the difference below which misses count as reproduced: a few
	// blocks that begin or end elsewhere.
	someMisses = 16
)

// missWarnings says, for each block size, how far misses at the sizes that the
// model was fitted to are off by more than DefaultDeviation. They are no error:
// a bin stands for many distances by their average, and a capacity within its
// range divides the accesses otherwise than the average does.
func (m *Model) missWarnings(runs *locality.Runs) ([]string, error) {
	var out []string
	for b, blockBytes := range runs.BlockBytes() {
		if m.byBlock[blockBytes] == nil {
			continue
		}
		var worst deviation
		capacity, looked, off := uint64(0), 0, 0
		m.atRuns(blockBytes) // before workers ask for them
		byRun, err := inOrder(runtime.GOMAXPROCS(0), len(runs.Runs), func(r int) ([]deviation, error) { return m.missesOff(runs, r, b) })
		if err != nil {
			return nil, err
		}
		for _, at := range byRun {
			c := uint64(leastCapacity) / growthOfCaps
			for _, d := range at {
				c *= growthOfCaps
				looked++
				if math.Abs(d.got-d.want) <= someMisses || math.Abs(d.relative()) <= DefaultDeviation {
					continue
				}
				off++
				if math.Abs(d.relative()) > math.Abs(worst.relative()) {
					worst, capacity = d, c
				}
			}
		}
		if off > 0 {
			out = append(out, fmt.Sprintf("blocks of %d bytes: at %d of %d sizes and capacities that the model was fitted to, its misses are off by more than %g%%: most at %s in %d blocks, %.0f misses where the run has %.0f (%+.1f%%)",
				blockBytes, off, looked, 100*DefaultDeviation, m.Points[worst.run], capacity, worst.got, worst.want, 100*worst.relative()))
		}
	}
	return out, nil
}

// missesOff compares the misses of run r with the model's in blocks of the b-th size, at
// capacities from leastCapacity on, each growthOfCaps times the one before.
func (m *Model) missesOff(runs *locality.Runs, r, b int) ([]deviation, error) {
	compared, err := m.compared(runs, r, b)
	if err != nil {
		return nil, err
	}
	var all []deviation
	for c := uint64(leastCapacity); c <= growthOfCaps*runs.Runs[r].Reuse[b].Blocks; c *= growthOfCaps {
		all = append(all, compared.missesAt(c))
	}
	return all, nil
}

// compared are the histograms of all groups at a size that a model was fitted to,
// for one block size.
type compared struct {
	of        deviation
	modelled  []scaling.Histogram
	collected []reuse.Histogram
}

// compared returns the histograms of run r for the b-th block size.
func (m *Model) compared(runs *locality.Runs, r, b int) (*compared, error) {
	fitted, at := m.byBlock[runs.BlockBytes()[b]], fit.Point(m.Points[r])
	if err := fitted.Check(at); err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	c := &compared{of: deviation{run: r, block: b}, modelled: m.atRuns(runs.BlockBytes()[b])[r]}
	for g := range fitted.Groups {
		c.collected = append(c.collected, m.collectedBy(runs, g, r, b))
	}
	return c, nil
}

// missesAt compares the misses of the whole program in a fully associative cache.
func (c *compared) missesAt(capacity uint64) deviation {
	d := c.of
	for g := range c.modelled {
		d.got += predict.OfHistogram(&c.modelled[g], predict.FullyAssociative(capacity)).Total()
		d.want += float64(c.collected[g].Misses(capacity))
	}
	return d
}
