package report

import (
	"fmt"
	"math"

	"presage/perf/figure"
	"presage/perf/frame"
)

// Figure is a figure of the report, with what it is called.
type Figure struct {
	Caption string
	*figure.Figure
	Width, Height float64 // inches
}

// Figures draws the report's figures: misses over the size for each machine, and, if
// sizes were simulated, predictions against simulations.
func (r *Report) Figures() ([]Figure, error) {
	var all []Figure
	training := [2]float64{math.Inf(1), math.Inf(-1)}
	for _, p := range r.opt.Train {
		training[0], training[1] = min(training[0], p[r.Param]), max(training[1], p[r.Param])
	}
	for _, m := range r.opt.Machines {
		rows, err := frame.Where(frame.Of(r.Curves), "machine", m.Name)
		if err != nil {
			return nil, err
		}
		curves := []figure.Curve{{Column: "pred_misses", Label: "predicted, from reuse distances"}}
		if len(r.opt.Judge) > 0 {
			curves = append(curves, figure.Curve{Column: "sim_misses", Label: "simulated", Mark: figure.Points})
		}
		f, err := figure.Curves(rows, figure.CurvesOptions{
			X: r.Param, XLabel: "problem size " + r.Param, YLabel: "misses", Panel: "level", Training: training, Curves: curves,
		})
		if err != nil {
			return nil, err
		}
		f.Alt = fmt.Sprintf("Misses of %s in the caches and TLBs of %s over %s, from %g on.", r.Program, m.Name, r.Param, training[0])
		all = append(all, Figure{"Misses on " + m.Name, f, 10, 3.2})
	}
	agreement, err := r.agreement()
	if err != nil || agreement == nil {
		return all, err
	}
	return append(all, Figure{"Predictions against simulations, of the program and its routines", agreement, 10, 4.2}), nil
}

// agreement draws predictions against simulations; nil if none can be drawn.
func (r *Report) agreement() (*figure.Figure, error) {
	drawn := 0
	for i := range r.Judgements {
		if r.Judgements[i].Pred > 0 && r.Judgements[i].Sim > 0 {
			drawn++
		}
	}
	if drawn == 0 {
		return nil, nil
	}
	f, err := figure.Agreement(frame.Of(r.Judgements), figure.AgreementOptions{
		Reference: "sim_misses", Predicted: "pred_misses", By: "level", Panel: "machine", Band: 0.1,
		XLabel: "misses simulated", YLabel: "misses predicted",
	})
	if err != nil {
		return nil, err
	}
	f.Alt = fmt.Sprintf("%d predictions against simulations, on logarithmic axes, with the range within 10%% shaded.", drawn)
	return f, nil
}
