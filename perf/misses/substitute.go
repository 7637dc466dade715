package misses

import (
	"context"
	"math"
	"slices"

	"presage/perf/internal/num"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/predict"
	"presage/perf/scaling"
	"presage/perf/subject"
	"presage/perf/trace"
)

// A Substituter is a Corrector that may know of a better model at a point: one of other
// runs of the same executable.
type Substituter interface {
	Corrector
	// Substitute returns the better model; nil if there is none. It is called several
	// times for a point.
	Substitute(ctx context.Context, point subject.Point) (*Substitute, error)
}

// Substitute is a model that is taken in place of another at a point.
type Substitute struct {
	Model     *Model
	Corrector Corrector // corrects it; not a Substituter at this point
	Warning   string    // for each row: which runs it is of, and why
}

// substituteAt returns the model to take at a point; nil: the one that is asked.
func substituteAt(ctx context.Context, by Corrector, point subject.Point) (*Substitute, error) {
	if s, ok := by.(Substituter); ok {
		return s.Substitute(ctx, point)
	}
	return nil, nil
}

// foretells reports whether the substitute foretells the misses of its largest run, in a
// fully associative cache of a level's size, from smaller runs better than m those of its
// own.
func (s *Substitute) foretells(ctx context.Context, m *Model, l predict.Level) (bool, error) {
	if l.BypassFloat || !slices.Contains(s.Model.blockSizes(), l.BlockBytes) {
		return false, nil
	}
	theirs, err := s.Model.foretoldBy(ctx, l, 1)
	if err != nil {
		return false, err
	}
	// Sizes of a sweep are nearer to each other than a size and its half.
	ours, err := m.foretoldBy(ctx, l, 2)
	return theirs <= ours, err
}

// foretoldBy returns how far misses of the largest run are off, as the logarithm of their
// ratio, without a number of the largest runs.
func (m *Model) foretoldBy(ctx context.Context, l predict.Level, without int) (float64, error) {
	if len(m.Points)-without < locality.MinSizes {
		return math.Inf(1), nil
	}
	b := slices.Index(m.blockSizes(), l.BlockBytes)
	footprint, err := m.heldOutFootprint(without)
	if err != nil {
		return 0, err
	}
	fitted, err := m.fitted(ctx, refit{block: b, without: without})
	if err != nil {
		return 0, err
	}
	order := m.refits.kept(0)
	top := slices.MaxFunc(order, func(a, b int) int { return scaling.CompareSizes(m.refits.sizes[a], m.refits.sizes[b]) })
	h, err := evaluate(fitted, footprint, l.BlockBytes, m.Points[top])
	if err != nil {
		return 0, err
	}
	got, truth := 0.0, float64(m.refits.largest(b).Misses(l.Blocks()))
	for g := range h.groups {
		misses := h.missesIn(g, predict.FullyAssociative(l.Blocks()))
		got += misses.Total()
	}
	return math.Abs(math.Log((got + someMisses) / (truth + someMisses))), nil
}

// replace puts the rows at a point, by level, where the substitute foretells better, in
// place of those of m.
func (s *Substitute) replace(ctx context.Context, m *Model, t *target, point subject.Point, opt PredictOptions, rows [][]Row) error {
	better, some := make([]bool, len(t.levels)), false
	for i, l := range t.levels {
		var err error
		if better[i], err = s.foretells(ctx, m, l); err != nil {
			return err
		}
		some = some || better[i]
	}
	if !some {
		return nil
	}
	opt.Corrector = s.Corrector
	own := &target{machine: t.machine, levels: t.levels, blockBytes: t.blockBytes, hardware: t.hardware, progress: t.progress}
	theirs, err := s.Model.predictOwn(ctx, own, []subject.Point{point}, s.Model.Scopes(opt.By), opt)
	if err != nil {
		return err
	}
	for i := range rows {
		if !better[i] {
			continue
		}
		rows[i] = theirs[i]
		for k := range rows[i] {
			rows[i][k].Program, rows[i][k].Warning = m.Program, joinWarnings(s.Warning, rows[i][k].Warning)
		}
	}
	return nil
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

// FootprintError returns by how much what the program touches is off when it is foretold
// from smaller sizes: the larger relative error of the two largest runs, in blocks of the
// smallest size. ok is false if there are too few runs to tell.
func (m *Model) FootprintError() (worst float64, ok bool) {
	runs, block := m.refits.runs, m.refits.runs.BlockBytes()[0]
	for without := 1; without <= 2; without++ {
		kept := m.refits.kept(without - 1)
		if len(kept)-1 < leastSizes {
			return worst, without > 1
		}
		f, err := m.heldOutFootprint(without)
		if err != nil {
			return math.Inf(1), true
		}
		rest := m.refits.kept(without)
		at := slices.IndexFunc(kept, func(r int) bool { return !slices.Contains(rest, r) })
		largest := kept[at]
		worst = math.Max(worst, math.Abs(num.RelErr(f.Blocks(block, m.refits.sizes[largest]), float64(coldOf(&runs.Runs[largest], 0)))))
	}
	return worst, true
}
