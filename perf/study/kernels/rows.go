package kernels

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"presage/perf/iperf"
	"presage/perf/subject"
)

// CandidateRow is a complete model.
type CandidateRow struct {
	Model   string  `frame:"model"`   // names of its models of factors, joined by +
	Factors int     `frame:"factors"` // their number
	Cost    float64 `frame:"cost"`    // sum of their costs
	Share   float64 `frame:"share"`   // of the sizes within the request's error, from 0 to 1
	RMS     float64 `frame:"rms_err"` // over all sizes: in seconds if the request is absolute, otherwise relative
	Chosen  bool    `frame:"chosen"`
}

// CoefficientRow is a term of a candidate.
type CoefficientRow struct {
	Model       string  `frame:"model"`
	Term        string  `frame:"term"`
	Coefficient float64 `frame:"coefficient_sec"` // seconds for each event that the term counts
	Collinear   string  `frame:"collinear"`       // terms that it is a combination of; empty if it is none
}

// PrunedRow is a factor, or a model of a factor, that pre-selection dropped.
type PrunedRow struct {
	Factor string `frame:"factor"`
	Model  string `frame:"model"` // empty if the factor was dropped
	Reason string `frame:"reason"`
}

// ReasonRow is one of the three causes for which there may be no model.
type ReasonRow struct {
	Cause    string `frame:"cause"`
	Holds    bool   `frame:"holds"`
	Evidence string `frame:"evidence"`
}

// SensitivityRow says how much a factor of the model matters.
type SensitivityRow struct {
	Factor    string  `frame:"factor"`
	Model     string  `frame:"model"`          // of the factor
	TimeShare float64 `frame:"time_share"`     // of all predicted time; negative if coefficients are
	Alone     float64 `frame:"share_alone"`    // of the sizes within the request's error, for the required factors and this one alone
	LeftOut   float64 `frame:"share_left_out"` // likewise for the model without it; NaN for a required factor alone in its model
	Explained float64 `frame:"explained"`      // share of its curve's variance that the other factors express, from 0 to 1
	Warning   string  `frame:"warning"`        // that they nearly replace it
}

// PredictionRow compares measured and predicted time at one size.
type PredictionRow struct {
	Point     subject.Point `frame:",each"`
	Time      float64       `frame:"time_sec"` // as given, averaged over the runs
	Runs      int           `frame:"runs"`
	Predicted float64       `frame:"pred_time_sec"`
	AbsErr    float64       `frame:"abs_err_sec"` // at least 0
	RelErr    float64       `frame:"rel_err"`     // (predicted - measured) / measured
	Within    bool          `frame:"within"`      // the request's error
}

// PeakRow is a size at which the best model is far off.
type PeakRow struct {
	Point     subject.Point `frame:",each"`
	Time      float64       `frame:"time_sec"`
	Predicted float64       `frame:"pred_time_sec"`
	Spreads   float64       `frame:"spreads"` // their difference, in robust standard deviations of all differences
}

// CurveRow is the value of a term at one size.
type CurveRow struct {
	Point     subject.Point `frame:",each"`
	Factor    string        `frame:"factor"`
	Model     string        `frame:"model"`
	Term      int           `frame:"term"`          // of the model, from 0
	Value     float64       `frame:"value"`         // a count, as in the report's Figure 7
	Predicted float64       `frame:"pred_time_sec"` // value times coefficient; NaN if the model shown lacks the term
}

// byShare returns the candidates, those with the largest share first.
func (m *ModelSearch) byShare() []*iperf.Evaluation {
	all := make([]*iperf.Evaluation, len(m.Answer.Candidates))
	for i := range all {
		all[i] = &m.Answer.Candidates[i]
	}
	slices.SortStableFunc(all, func(a, b *iperf.Evaluation) int { return cmp.Compare(b.Share, a.Share) })
	return all
}

func (m *ModelSearch) candidates(all []*iperf.Evaluation) (rows []CandidateRow) {
	for _, e := range all {
		rows = append(rows, CandidateRow{e.Name(), len(e.Models), e.Cost, e.Share, e.RMS, e == m.Model})
	}
	return rows
}

func coefficients(all []*iperf.Evaluation) (rows []CoefficientRow) {
	for _, e := range all {
		for j := range e.Columns {
			r := CoefficientRow{Model: e.Name(), Term: e.Columns[j].String(), Coefficient: e.Coefficients[j]}
			for _, c := range e.Collinear {
				if c.Column == r.Term {
					r.Collinear = fmt.Sprint(c.Of)
				}
			}
			rows = append(rows, r)
		}
	}
	return rows
}

func pruned(all []iperf.Pruned) (rows []PrunedRow) {
	for _, p := range all {
		rows = append(rows, PrunedRow{p.Factor, p.Model, p.Reason})
	}
	return rows
}

func (m *ModelSearch) reasons() (rows []ReasonRow) {
	if m.NoModel == nil {
		return nil
	}
	for _, r := range m.NoModel.Reasons {
		rows = append(rows, ReasonRow{string(r.Cause), r.Holds, r.Evidence})
	}
	return rows
}

func (m *ModelSearch) sensitivities(times []iperf.Measurement) (rows []SensitivityRow) {
	share := func(e *iperf.Evaluation) float64 {
		if e == nil {
			return math.NaN()
		}
		return e.Share
	}
	for _, s := range m.Lattice.Sensitivities(m.Shown(), times, m.Request) {
		r := SensitivityRow{s.Model.Factor, s.Model.Name, s.TimeShare, share(s.Alone), share(s.LeftOut), s.Explained, ""}
		if doubt := s.Collinearity(); doubt != nil {
			r.Warning = doubt.Error()
		}
		rows = append(rows, r)
	}
	return rows
}

func (m *ModelSearch) predictions(times []iperf.Measurement) (rows []PredictionRow) {
	e := m.Shown()
	for i, t := range times {
		r := PredictionRow{subject.Point(t.Point), t.Time, len(t.Runs), e.Predicted[i], e.AbsErr[i], e.Predicted[i]/t.Time - 1, e.AbsErr[i] <= m.Request.AbsErr}
		if m.Request.RelErr > 0 {
			r.Within = e.RelErr[i] <= m.Request.RelErr
		}
		rows = append(rows, r)
	}
	return rows
}

func (m *ModelSearch) peaks(times []iperf.Measurement) (rows []PeakRow) {
	if m.NoModel == nil {
		return nil
	}
	for _, p := range m.NoModel.Peaks {
		i := slices.IndexFunc(times, func(t iperf.Measurement) bool { return maps.Equal(t.Point, p.Point) })
		rows = append(rows, PeakRow{subject.Point(p.Point), times[i].Time, m.Shown().Predicted[i], p.Spreads})
	}
	return rows
}

func (m *ModelSearch) curves() (rows []CurveRow) {
	e := m.Shown()
	for _, c := range m.Lattice.Curves {
		for t, values := range c.Terms {
			coefficient := math.NaN()
			if j := slices.IndexFunc(e.Columns, func(o iperf.Column) bool { return o.Model == c.Model && o.Term == t }); j >= 0 {
				coefficient = e.Coefficients[j]
			}
			for i, v := range values {
				rows = append(rows, CurveRow{subject.Point(m.Lattice.Points[i]), c.Model.Factor, c.Model.Name, t, v, coefficient * v})
			}
		}
	}
	return rows
}
