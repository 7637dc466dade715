package misses

import (
	"context"
	"fmt"
	"math"

	"presage/perf/predict"
	"presage/perf/subject"
)

// A Corrector corrects predictions for what reuse distances do not know: where the
// program's data lie, and so which blocks collide in a cache's sets. It is given
// what is predicted of each group of references at a level, and returns what it
// knows better.
type Corrector interface {
	// Correct is called once for each level and point. A nil Correction corrects
	// nothing.
	Correct(ctx context.Context, of Uncorrected) (*Correction, error)
	// Replays reports whether it also corrects levels that are fully associative,
	// where it must know better than the models what is touched when.
	Replays() bool
}

// A Preparer is a Corrector that can find out what it knows of several points at a
// time, which Predict has it do before it asks. Errors are left to Correct.
type Preparer interface {
	Prepare(ctx context.Context, points []subject.Point)
}

// Uncorrected is a prediction that a Corrector is given.
type Uncorrected struct {
	Level  predict.Level
	Point  subject.Point
	Groups []predict.Misses // by Group, without conflicts unless the options say otherwise
}

// Correction is what a Corrector knows.
type Correction struct {
	Groups   []GroupCorrection // by Group; those with no Method stay as they are
	Warnings []string          // for the rows of the level, such as which objects collide
}

// GroupCorrection is the correction of one group.
type GroupCorrection struct {
	// Method names how, as in the column method, such as "replay". Empty: the group
	// stays as it is.
	Method string
	Misses predict.Misses // in place of the prediction
	// FirstUses, with no Method, are how many more accesses than predicted are first uses
	// of blocks.
	FirstUses float64
	// Exact says that the misses are counted and not modelled, so that they need no
	// interval.
	Exact bool
	// Modelled says that they follow from a model of the level, whatever the Corrector
	// replays.
	Modelled bool
	// Off is by what share of Misses they may be wrong, as far as the Corrector knows:
	// intervals of 90% go part of the way there, as to what other models say.
	Off float64
}

// correct replaces what the corrector knows better.
func (e *estimate) correct(ctx context.Context, of Uncorrected, by Corrector) error {
	c, err := by.Correct(ctx, of)
	if err != nil {
		return fmt.Errorf("perf: %s at %s: %w", of.Level.Name, of.Point, err)
	}
	if c == nil {
		return nil
	}
	if len(c.Groups) != len(e.misses) {
		return fmt.Errorf("perf: %s at %s: a correction of %d groups for %d", of.Level.Name, of.Point, len(c.Groups), len(e.misses))
	}
	e.warnings, e.replayed = append(e.warnings, c.Warnings...), make([]bool, len(e.misses))
	e.exact, e.corrected, e.off = make([]bool, len(e.misses)), make([]bool, len(e.misses)), make([]float64, len(e.misses))
	for g, better := range c.Groups {
		if better.Method == "" {
			e.misses[g] = WithFirstUses(e.misses[g], better.FirstUses)
			continue
		}
		e.methods[g], e.misses[g], e.exact[g] = better.Method, better.Misses, better.Exact
		e.corrected[g], e.replayed[g] = true, by.Replays() && !better.Modelled
		e.off[g] = better.Off * better.Misses.Total()
		if better.Exact {
			e.doubtful[g] = 0
		}
	}
	return nil
}

// WithFirstUses returns misses of which some more accesses are first uses of blocks, as
// many of them misses before as of all reuses.
func WithFirstUses(m predict.Misses, more float64) predict.Misses {
	reuses := m.Accesses - m.Cold
	if more = math.Min(more, reuses); more <= 0 {
		return m
	}
	m.Reuse *= 1 - more/reuses
	m.Cold += more
	return m
}

// NoCorrection is a Corrector that corrects nothing, for functions that correct
// predictions unless they are given one.
type NoCorrection struct{}

// Correct implements Corrector.
func (NoCorrection) Correct(context.Context, Uncorrected) (*Correction, error) { return nil, nil }

// Replays implements Corrector.
func (NoCorrection) Replays() bool { return false }
