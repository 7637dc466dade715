package anatomy

import (
	"context"
	"fmt"
	"math"
	"strings"

	"presage/perf/access"
	"presage/perf/subject"
	"presage/perf/trace"
)

// ObservedStrides are the strides that a run showed of the references for which static
// analysis has no formula: irregular and indirect ones.
type ObservedStrides struct {
	// References are those that the run executed, by ascending index in
	// Structure().Access.All of the Counts.
	References []access.ObservedReference
	Warnings   []string

	counts *Counts
}

// observedVersion is part of the key of stored strides, beside the engine's version and
// the observer's plan: raise it when the meaning of what is stored changes.
const observedVersion = 1

// storedStrides is what the store holds of a run that was observed.
type storedStrides struct {
	Facts      subject.Facts
	References []access.ObservedReference
}

// ObserveStrides runs the program of counts once more, with the same inputs, and finds
// for each reference without a formula, and each loop that holds it, the most frequent
// step from one iteration to the next: see access.StrideObserver. Every block is
// recorded, and of the references only these, so that it takes longer than counting.
// A program that fails is observed up to there, with a warning. The result is kept in the
// store. Of opt, Store and Progress are used.
func ObserveStrides(ctx context.Context, counts *Counts, opt subject.RunOptions) (*ObservedStrides, error) {
	a := counts.structure.Access
	observer := access.NewStrideObserver(a)
	key := struct {
		Inputs subject.Inputs
		Plan   string
		Loops  [][]int // without a formula, of each reference that has such
	}{counts.inputs, observer.Plan().Digest(), loopsWithoutFormula(a)}
	step := subject.Step{Options: &opt, Point: counts.Point, Total: 1}
	memo, err := subject.Memo(step, "observed strides", observedVersion, key, func(running func(uint64)) (*storedStrides, error) {
		res, err := counts.Program.Run(ctx, subject.Request{
			Inputs: counts.inputs, Plan: observer.Plan(), Collectors: []trace.Collector{observer}, Progress: running, MayFail: true,
		})
		if err != nil {
			return nil, err
		}
		res.WarnFailed(counts.inputs.Command(), "strides were observed until then")
		return &storedStrides{res.Facts, observer.Result()}, nil
	})
	if err != nil {
		return nil, err
	}
	out := &ObservedStrides{References: memo.Value.References, Warnings: memo.Value.Facts.Warnings, counts: counts}
	if memo.Warning != "" {
		out.Warnings = append(out.Warnings[:len(out.Warnings):len(out.Warnings)], memo.Warning)
	}
	opt.Progress.Finish(1)
	return out, nil
}

// loopsWithoutFormula returns, for each reference in whose strides one has no formula,
// the loops of these.
func loopsWithoutFormula(a *access.Analysis) [][]int {
	var all [][]int
	for i := range a.All {
		var loops []int
		for _, s := range a.All[i].Strides {
			if !s.Regular() {
				loops = append(loops, s.Loop)
			}
		}
		if loops != nil {
			all = append(all, loops)
		}
	}
	return all
}

// Run names the run by what determines its size: the point, or without one the
// program's arguments.
func (o *ObservedStrides) Run() string {
	switch args := o.counts.inputs.Args; {
	case len(o.counts.Point) > 0:
		return o.counts.Point.String()
	case len(args) > 0:
		return strings.Join(args, " ")
	}
	return "no arguments"
}

// byReference returns the observed strides by index in Access.All; none of a nil
// *ObservedStrides.
func (o *ObservedStrides) byReference() map[subject.Ref][]access.ObservedStride {
	all := make(map[subject.Ref][]access.ObservedStride)
	if o != nil {
		for _, r := range o.References {
			all[subject.Ref(r.Index)] = r.Strides
		}
	}
	return all
}

// observe puts what a run showed in place of the formulas that a reference has not.
// Strides is nil if the run did not execute it.
func (r *Reference) observe(ref *access.Reference, run string, strides []access.ObservedStride) {
	texts, sources := make([]string, len(ref.Strides)), make([]string, len(ref.Strides))
	for i, s := range ref.Strides {
		texts[i], sources[i] = s.String(), "formula"
		if s.Regular() {
			continue
		}
		if strides == nil || strides[i].Steps == 0 {
			sources[i] = "unknown"
			continue
		}
		seen := strides[i]
		texts[i], sources[i] = observedText(seen), "observed in the run of "+run+", not derived"
		if math.IsNaN(r.ObservedShare) {
			r.ObservedStride, r.ObservedShare = float64(seen.Stride), seen.Share
		}
	}
	r.Strides, r.StridesFrom = strings.Join(texts, "; "), strings.Join(sources, "; ")
}

// observedText writes a stride as in 48 (observed: 0.97 of steps).
func observedText(s access.ObservedStride) string {
	share := fmt.Sprintf("%.2g", s.Share)
	switch {
	case share == "1" && s.Share < 1:
		share = "more than 0.99"
	case !s.Exact:
		share = "at least " + share
	}
	return fmt.Sprintf("%d (observed: %s of steps)", s.Stride, share)
}
