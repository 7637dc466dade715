package misses

import (
	"context"
	"math"
	"slices"

	"presage/perf/internal/num"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/predict"
	"presage/perf/reuse"
	"presage/perf/subject"
	"presage/perf/trace"
)

// A Substituter is a Corrector that may know of better models at a point, such as those of
// other runs of the same executable.
type Substituter interface {
	Corrector
	// Substitutes returns them; nil if there are none. It is called several times for a
	// point.
	Substitutes(ctx context.Context, point subject.Point) (*Substitutes, error)
}

// Substitutes are models of which each level takes one, or none, in place of the one that is
// asked.
type Substitutes struct {
	// OtherRuns are of other runs, or of more: a level takes the first of which it does not
	// foretell its own largest run much worse than the model that is asked does its own.
	OtherRuns []*Substitute
	// Refit is of the same runs, and taken if none of OtherRuns is, as Substitute.Refit is.
	Refit *Substitute
	// Lacking says why there are no others, if another time there may be.
	Lacking string
}

// Substitute is a model that is taken in place of another at a point.
type Substitute struct {
	Model     *Model
	Corrector Corrector // corrects it; not a Substituter at this point
	Warning   string    // for each row: which runs it is of, and why
	// More: it has all runs of the model that is asked, and further ones, so that every level
	// may take it.
	More bool
	// Refit, if not nil, is another model of the same runs, which is taken in its place if it
	// foretells misses of the largest of them, in fully associative caches of all sizes, much
	// better.
	Refit *Substitute
}

// A model of the same runs is taken if it has at most this share of the errors of the
// other model, unless these are below allowed: betterLines, and betterPages, of which there
// are few in small runs.
const (
	betterLines = 0.8
	betterPages = 0.5
	allowed     = 0.01
	// leastPage is the size from which on blocks are pages.
	leastPage = 4096
)

// substitutesAt returns the model to take at a point for each of some levels; nil: the one
// that is asked. It also says what is lacking.
func (m *Model) substitutesAt(ctx context.Context, by Corrector, point subject.Point, levels []predict.Level) (*taken, error) {
	out := &taken{at: make([]*Substitute, len(levels))}
	from, ok := by.(Substituter)
	if !ok {
		return out, nil
	}
	all, err := from.Substitutes(ctx, point)
	if err != nil || all == nil {
		return out, err
	}
	out.order, out.lacking = all.order(), all.Lacking
	for i, l := range levels {
		if out.at[i], err = all.takenAt(ctx, m, l); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// taken are the models to take, by level.
type taken struct {
	at, order []*Substitute
	lacking   string
}

// ofMostRuns returns the one of most runs that any level takes, the first in order of several;
// nil: none takes any.
func (t *taken) ofMostRuns() (most *Substitute) {
	for _, s := range t.order {
		if slices.Contains(t.at, s) && (most == nil || len(s.Model.Points) > len(most.Model.Points)) {
			most = s
		}
	}
	return most
}

// order returns all substitutes, the first to be taken first, and a refit, which is chosen by
// distances alone, after what it refits.
func (s *Substitutes) order() (list []*Substitute) {
	for _, o := range s.OtherRuns {
		list = append(list, o)
		if o.Refit != nil {
			list = append(list, o.Refit)
		}
	}
	if s.Refit != nil {
		list = append(list, s.Refit)
	}
	return list
}

// takenAt returns the model to take at a level in place of one that is asked; nil: that one.
func (s *Substitutes) takenAt(ctx context.Context, asked *Model, l predict.Level) (*Substitute, error) {
	if l.BypassFloat {
		return nil, nil
	}
	for _, o := range s.OtherRuns {
		better, err := o.foretells(ctx, asked, l)
		if err != nil {
			return nil, err
		}
		if better {
			return o.orRefit(ctx, l)
		}
	}
	of := &Substitute{Model: asked, Refit: s.Refit}
	got, err := of.orRefit(ctx, l)
	if got == of {
		got = nil
	}
	return got, err
}

// orRefit returns s, or its Refit if that is to be taken at a level.
func (s *Substitute) orRefit(ctx context.Context, l predict.Level) (*Substitute, error) {
	if s.Refit == nil || !slices.Contains(s.Refit.Model.blockSizes(), l.BlockBytes) {
		return s, nil
	}
	if better, err := s.refitForetells(ctx, l.BlockBytes); err != nil || better {
		return s.Refit, err
	}
	return s, nil
}

// foretells reports whether a model of other runs is taken at a level: see
// Substitutes.OtherRuns.
func (s *Substitute) foretells(ctx context.Context, asked *Model, l predict.Level) (bool, error) {
	if !slices.Contains(s.Model.blockSizes(), l.BlockBytes) {
		return false, nil
	}
	if s.More {
		return true, nil
	}
	here := func(h *histograms, truth *reuse.Histogram) float64 { return h.offAt(truth, l.Blocks()) }
	theirs, err := s.Model.foretold(ctx, l.BlockBytes, 1, here)
	if err != nil {
		return false, err
	}
	// Sizes of a sweep are nearer to each other than a size and its half.
	ours, err := asked.foretold(ctx, l.BlockBytes, 2, here)
	return otherRuns(theirs, ours), err
}

// otherRuns reports whether a model of other runs is taken, by what it leaves of its largest run
// and what the model of the profiles leaves of its own. It was made since memory grows as it
// says, and the level itself, which may hold all that a run touches, has to speak against it.
func otherRuns(theirs, ours float64) bool { return !math.IsInf(theirs, 1) && theirs <= worse*ours }

// refitForetells reports whether Refit is taken: of lines, those of all sizes together tell,
// and of pages those of the size.
func (s *Substitute) refitForetells(ctx context.Context, blockBytes uint64) (bool, error) {
	m, refit := s.Model, s.Refit.Model
	sizes, share := []uint64{blockBytes}, betterPages
	if blockBytes < leastPage {
		sizes, share = slices.DeleteFunc(slices.Clone(m.blockSizes()), func(b uint64) bool { return b >= leastPage }), betterLines
	}
	all := func(h *histograms, truth *reuse.Histogram) float64 { return h.off(truth) }
	theirs, ours := 0.0, 0.0
	for _, b := range sizes {
		off, err := refit.foretold(ctx, b, 2, all)
		if err != nil {
			return false, err
		}
		theirs += off
		if off, err = m.foretold(ctx, b, 2, all); err != nil {
			return false, err
		}
		ours += off
	}
	return !math.IsInf(theirs, 1) && theirs <= share*ours && ours >= allowed, nil
}

// foretold returns how far the misses of the largest run are off without a number of the
// largest runs.
func (m *Model) foretold(ctx context.Context, blockBytes uint64, without int, off func(*histograms, *reuse.Histogram) float64) (float64, error) {
	if len(m.Points)-without < locality.MinSizes {
		return math.Inf(1), nil
	}
	b := m.blockIndex(blockBytes)
	footprint, err := m.heldOutFootprint(without)
	if err != nil {
		return 0, err
	}
	fitted, err := m.fitted(ctx, refit{block: b, without: without})
	if err != nil {
		return 0, err
	}
	h, err := evaluate(fitted, footprint, blockBytes, m.Points[m.refits.top()])
	if err != nil {
		return 0, err
	}
	return off(h, m.refits.largest(b)), nil
}

// replaceAll puts the rows of substitutes, by level, in place of those of m. All levels have
// the accesses of scopes that the substitute of most runs predicts of those that any takes:
// where one is taken, m does not say how the program grows.
func (m *Model) replaceAll(ctx context.Context, t *target, point subject.Point, opt PredictOptions, rows [][]Row) error {
	taken, err := m.substitutesAt(ctx, opt.Corrector, point, t.levels)
	if err != nil {
		return err
	}
	known := make(map[*Substitute][][]Row)
	for i, s := range taken.at {
		if s == nil {
			continue
		}
		if known[s] == nil {
			if known[s], err = s.rows(ctx, m.Program, t, point, opt); err != nil {
				return err
			}
		}
		rows[i] = known[s][i]
	}
	most := taken.ofMostRuns()
	for i := range rows {
		if most != nil {
			countAs(rows[i], known[most][i])
		}
		for k := range rows[i] {
			rows[i][k].Warning = joinWarnings(rows[i][k].Warning, taken.lacking)
		}
	}
	return nil
}

// rows returns the rows of each level, by the substitute.
func (s *Substitute) rows(ctx context.Context, program string, t *target, point subject.Point, opt PredictOptions) ([][]Row, error) {
	opt.Corrector = s.Corrector
	own := &target{machine: t.machine, levels: t.levels, blockBytes: t.blockBytes, hardware: t.hardware, progress: t.progress}
	rows, err := s.Model.predictOwn(ctx, own, []subject.Point{point}, s.Model.Scopes(opt.By), opt)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		for k := range rows[i] {
			rows[i][k].Program, rows[i][k].Warning = program, joinWarnings(s.Warning, rows[i][k].Warning)
		}
	}
	return rows, nil
}

// countAs gives rows the accesses of others of the same scopes: they agree between levels.
func countAs(rows, others []Row) {
	for i := range rows {
		row := &rows[i]
		k := slices.IndexFunc(others, func(o Row) bool { return o.Scope == row.Scope })
		if k >= 0 && finite(row.Misses) {
			row.Accesses = others[k].Accesses
			row.Ratio = num.Ratio(row.Misses, row.Accesses)
		}
	}
}

func joinWarnings(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// byGroup returns the misses of the groups of m. What the substitute models as one is
// divided by the accesses that m has of them.
func (s *Substitute) byGroup(ctx context.Context, m *Model, on *machine.Machine, level string, point subject.Point, opt PredictOptions) (*GroupMisses, error) {
	opt.Corrector = s.Corrector
	theirs, err := s.Model.ByGroup(ctx, on, level, point, opt)
	if err != nil {
		return nil, err
	}
	of := make(map[trace.GroupID]Group)
	for g := range Group(m.Groups()) {
		for _, id := range m.OfRun(0, g) {
			of[id] = g
		}
	}
	accesses := m.accesses(point)
	out := &GroupMisses{BlockBytes: theirs.BlockBytes, Misses: make([]float64, m.Groups()), Warnings: append([]string{s.Warning}, theirs.Warnings...)}
	for h, misses := range theirs.Misses {
		var among []Group
		sum := 0.0
		for _, id := range s.Model.OfRun(0, Group(h)) {
			if g, ok := of[id]; ok && !slices.Contains(among, g) {
				among, sum = append(among, g), sum+accesses[g]
			}
		}
		for _, g := range among {
			out.Misses[g] += misses * num.Ratio(accesses[g], sum)
		}
	}
	return out, nil
}

// ForetellError returns how far misses of the largest run are off when they are foretold
// from all but so many of the largest runs: the mean over fully associative caches of the
// logarithm of their ratio, and over the block sizes below a page; infinite where too few
// runs are left.
func (m *Model) ForetellError(ctx context.Context, without int) (float64, error) {
	sum, n := 0.0, 0.0
	for _, b := range m.blockSizes() {
		if b >= leastPage {
			continue
		}
		off, err := m.foretold(ctx, b, without, func(h *histograms, truth *reuse.Histogram) float64 { return h.off(truth) })
		if err != nil {
			return 0, err
		}
		sum, n = sum+off, n+1
	}
	return num.Ratio(sum, n), nil
}

// FootprintError returns by how much what the program touches is off when it is foretold
// from smaller sizes: the larger relative error of the two largest runs, in blocks of the
// smallest size. ok is false if it cannot be told.
func (m *Model) FootprintError() (worst float64, ok bool) {
	runs, block := m.refits.runs, m.refits.runs.BlockBytes()[0]
	for without := 1; without <= 2; without++ {
		kept := m.refits.kept(without - 1)
		if len(kept)-1 < leastSizes {
			return worst, without > 1
		}
		f, err := m.heldOutFootprint(without)
		if err != nil {
			return worst, false
		}
		rest := m.refits.kept(without)
		at := slices.IndexFunc(kept, func(r int) bool { return !slices.Contains(rest, r) })
		largest := kept[at]
		worst = math.Max(worst, math.Abs(num.RelErr(f.Blocks(block, m.refits.sizes[largest]), float64(coldOf(&runs.Runs[largest], 0)))))
	}
	return worst, true
}
