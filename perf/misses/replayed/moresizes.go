package replayed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"presage/perf/progress"
	"presage/perf/replay"
	"presage/perf/store"
	"presage/perf/subject"
)

const (
	// maxMoreSizes is the largest number of sizes that are run beside those of the
	// profiles, for a prediction at one size.
	maxMoreSizes = 16
	// curable is the share of a program that more sizes must promise to make certain:
	// below it they are not worth their time.
	curable = 0.01
	// sameEighths is the modulus of the residue classes for which replay.Model fits
	// programs whose loops are unrolled, the largest.
	sameEighths = 8
	// perTile is the number of sizes, in the class of the one to be predicted modulo the
	// size of a tile, that are run for it; mostTiles bounds for how many.
	perTile   = 2
	mostTiles = 4
)

// moreSizes are sizes at which the program was run for its loops alone, as those of the
// profiles were too few to be certain of them.
type moreSizes struct {
	Sizes  []int64 `json:",omitempty"` // ascending
	Helped bool    // the replay is of a program that was learned from these, too
}

// said returns what a row is told; empty if no other sizes were run.
func (m *moreSizes) said(name string) string {
	if len(m.Sizes) == 0 {
		return ""
	}
	if !m.Helped {
		return fmt.Sprintf("loops were learned at %d more sizes (%s = %s), which made no more of the program certain", len(m.Sizes), name, listed(m.Sizes))
	}
	return fmt.Sprintf("loops were learned at %d more sizes: %s = %s", len(m.Sizes), name, listed(m.Sizes))
}

// listed returns sizes as texts have them.
func listed(sizes []int64) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(sizes), "[]"), " ", ", ")
}

// grown returns what is replayed at size n once the program has been run at more sizes,
// if those of the profiles leave much in doubt that others may settle; otherwise, or if
// they settle nothing, what was given. Executables of one size each are left alone.
func (p *Program) grown(ctx context.Context, n int64, t *target, in *replay.Instance, report progress.Func) (*target, *replay.Instance, *moreSizes, error) {
	more := new(moreSizes)
	if p.sweep.apart {
		return t, in, more, nil
	}
	before := in.Prospect()
	if before.Curable < curable {
		return t, in, more, nil
	}
	more.Sizes = p.choice().sizes(n, in.Tiles())
	if len(more.Sizes) == 0 {
		return t, in, more, nil
	}
	wider, used, err := p.wider(ctx, more.Sizes, report)
	switch {
	case ctx.Err() != nil:
		return nil, nil, nil, ctx.Err()
	case err != nil: // such as a file that has changed
		return nil, nil, nil, &passingError{err}
	}
	if more.Sizes = used; wider == nil {
		return t, in, more, nil
	}
	better, err := wider.model.At(ctx, n)
	if err != nil {
		return nil, nil, nil, err
	}
	if better.Prospect().Doubtful < before.Doubtful {
		more.Helped = true
		return wider, better, more, nil
	}
	return t, in, more, nil
}

// said returns a warning about the store.
func (p *Program) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.warning
}

// wider returns what is replayed of the program as it is learned from more sizes, too, and
// those at which it could be run; nil if there is none.
func (p *Program) wider(ctx context.Context, sizes []int64, report progress.Func) (*target, []int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := fmt.Sprint(sizes)
	if w, ok := p.widened[name]; ok {
		return w.target, w.sizes, nil
	}
	found, err := p.learnMore(ctx, sizes, report)
	if err != nil {
		return nil, nil, err
	}
	var w widened
	all, runs := slices.Clone(p.sweep.sizes), slices.Clone(p.runs)
	for i, n := range found.Sizes {
		at, _ := slices.BinarySearch(all, n)
		all, runs = slices.Insert(all, at, n), slices.Insert(runs, at, found.Runs[i])
		w.sizes = append(w.sizes, n)
	}
	if len(w.sizes) > 0 {
		model, err := replay.NewModel(p.target.code, all, runs)
		if err != nil {
			return nil, nil, err
		}
		t := *p.target
		t.model = model
		w.target = &t
	}
	if p.widened == nil {
		p.widened = make(map[string]widened)
	}
	p.widened[name] = w
	return w.target, w.sizes, nil
}

// widened is what is learned with more sizes.
type widened struct {
	target *target
	sizes  []int64
}

// learnMore returns what is learned from runs at more sizes, but those at which the
// program fails, from the store if it is there.
func (p *Program) learnMore(ctx context.Context, sizes []int64, report progress.Func) (*learned, error) {
	inputs := make([]subject.Inputs, len(sizes))
	for i, n := range sizes {
		var err error
		if inputs[i], err = p.sweep.inputs(p.target.prog, n); err != nil {
			return nil, err
		}
	}
	key, err := store.NewKey("nests", learnedVersion, struct {
		Inputs, More []subject.Inputs
		Plan         string
	}{p.depend.Inputs, inputs, p.target.code.Plan.Digest()})
	if err != nil {
		return nil, err
	}
	memo, err := store.Memo(p.store, key, func() (*learned, error) {
		l := moreLearner{program: p, sizes: sizes, inputs: inputs, report: report}
		return l.learn(ctx)
	})
	if err != nil {
		return nil, err
	}
	if memo.Warning != "" {
		p.warning = memo.Warning
	}
	return memo.Value, nil
}

// moreLearner learns from runs at more sizes.
type moreLearner struct {
	program *Program
	sizes   []int64
	inputs  []subject.Inputs
	report  progress.Func
}

// learn runs the program at all sizes, again where one of them shows what to look for in
// others.
func (l *moreLearner) learn(ctx context.Context) (*learned, error) {
	if err := l.program.sweep.stale(); err != nil {
		return nil, err
	}
	runs := make([]*replay.Run, len(l.sizes))
	hints := l.program.hints
	with := make([]int, len(l.sizes)) // hints that each run had
	for round := range 2 {
		for i := range l.sizes {
			if round > 0 && (runs[i] == nil || with[i] == hints.Size()) {
				continue
			}
			l.report.Report(progress.Report{Task: fmt.Sprintf("learning loops at %s=%d, one of %d more sizes", l.program.sweep.name, l.sizes[i], len(l.sizes)), Done: i, Total: len(l.sizes)})
			with[i] = hints.Size()
			var err error
			if runs[i], hints, err = l.collect(ctx, i, hints); err != nil {
				return nil, err
			}
		}
	}
	out := &learned{Hints: hints}
	for i, run := range runs {
		if run != nil {
			out.Sizes, out.Runs = append(out.Sizes, l.sizes[i]), append(out.Runs, run)
		}
	}
	return out, nil
}

// collect runs the program once. It returns no run if the program fails at the size, or
// cannot be followed there.
func (l *moreLearner) collect(ctx context.Context, i int, hints replay.Hints) (*replay.Run, replay.Hints, error) {
	t := l.program.target
	c := replay.NewCollector(t.code, hints)
	result, err := t.prog.Run(ctx, subject.Request{Inputs: l.inputs[i], Plan: t.code.Recorded, Collectors: collectors(c), MayFail: true})
	if err != nil {
		return nil, hints, err
	}
	if result.Failed != "" {
		return nil, hints, nil
	}
	run, err := c.Result()
	if trouble := new(replay.TroubleError); errors.As(err, &trouble) {
		return nil, hints, nil
	}
	return run, c.Hints(), err
}

// choice chooses sizes.
type choice struct {
	trained      []int64   // ascending
	instructions []float64 // of the runs at them
}

func (p *Program) choice() *choice {
	c := &choice{trained: p.sweep.sizes}
	for _, r := range p.sweep.runs {
		c.instructions = append(c.instructions, float64(r.Instructions))
	}
	return c
}

// sizes returns more sizes to run for a prediction at n, ascending: none above the largest
// of the profiles, at most maxMoreSizes, and together of about as many instructions as
// the runs of these, at most. First come sizes that leave n's remainder modulo 8, as
// unrolled loops have forms of their own for each; then such as leave its remainder
// by a tile, which tells how many tiles there are; then the same below the smallest of
// the profiles, and others that leave n's remainder modulo 4 and 2.
func (c *choice) sizes(n int64, tiles []int64) []int64 {
	least, most := c.trained[0], c.trained[len(c.trained)-1]
	if least < 1 {
		return nil
	}
	budget := 0.0
	for _, i := range c.instructions {
		budget += i
	}
	var chosen []int64
	take := func(list []int64) {
		for _, s := range list {
			cost := c.cost(s)
			if len(chosen) < maxMoreSizes && cost <= budget && !slices.Contains(c.trained, s) && !slices.Contains(chosen, s) {
				chosen, budget = append(chosen, s), budget-cost
			}
		}
	}
	take(class(n, sameEighths, least, most).spread(maxMoreSizes / 2))
	large := slices.Clone(tiles[max(0, len(tiles)-mostTiles):])
	slices.Reverse(large)
	for _, t := range large {
		take(class(n, t, max(t+1, least/2), most).last(perTile))
	}
	take(class(n, sameEighths, least/2, least).spread(maxMoreSizes / 4))
	take(class(n, sameEighths/2, least, most).spread(maxMoreSizes / 4))
	take(class(n, sameEighths/4, least, most).spread(maxMoreSizes / 4))
	slices.Sort(chosen)
	return chosen
}

// progression is an arithmetic one, ascending.
type progression struct{ first, step, count int64 }

// class returns the sizes from one to another, of 1 at least, that leave n's remainder by
// a modulus.
func class(n, modulus, from, to int64) progression {
	from = max(1, from)
	p := progression{first: from + ((n-from)%modulus+modulus)%modulus, step: modulus}
	if p.first <= to {
		p.count = 1 + (to-p.first)/modulus
	}
	return p
}

// spread returns at most so many elements, two or more, at equal distances.
func (p progression) spread(most int64) (list []int64) {
	if p.count <= most {
		return p.last(most)
	}
	for i := range most {
		list = append(list, p.first+p.step*(i*(p.count-1)/(most-1)))
	}
	return list
}

// last returns the last elements, at most so many.
func (p progression) last(most int64) (list []int64) {
	for i := max(0, p.count-most); i < p.count; i++ {
		list = append(list, p.first+p.step*i)
	}
	return list
}

// cost returns the number of instructions of a run at a size, which is not above the
// largest of the profiles: a power of the size between two of these, and below the
// smallest what that one has.
func (c *choice) cost(s int64) float64 {
	k, found := slices.BinarySearch(c.trained, s)
	if found || k == 0 {
		return c.instructions[k]
	}
	x0, x1 := math.Log(float64(c.trained[k-1])), math.Log(float64(c.trained[k]))
	y0, y1 := math.Log(max(1, c.instructions[k-1])), math.Log(max(1, c.instructions[k]))
	return math.Exp(y0 + (y1-y0)*(math.Log(float64(s))-x0)/(x1-x0))
}
