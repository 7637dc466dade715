package kernels

import (
	"fmt"
	"math"

	"presage/perf/fit"
	"presage/perf/iperf"
	"presage/perf/subject"
)

// TimeRow is the time of one run of a kernel.
type TimeRow struct {
	Point   subject.Point `frame:",each"`    // the kernel's parameters
	Seconds float64       `frame:"time_sec"` // of the run; finite
}

// measurements returns one measurement for each point, in the order in which
// points first appear. Of three runs and more, all but the smallest and the
// largest are averaged, of two, both.
func measurements(times []TimeRow, params []string) ([]iperf.Measurement, error) {
	var points []fit.Point
	runs := make(map[string][]float64)
	for i, row := range times {
		if math.IsNaN(row.Seconds) || math.IsInf(row.Seconds, 0) {
			return nil, fmt.Errorf("perf: search models: row %d: time_sec is no number", i+1)
		}
		p := make(fit.Point)
		for _, name := range params {
			v, ok := row.Point[name]
			if !ok {
				return nil, fmt.Errorf("perf: search models: row %d: no parameter %s", i+1, name)
			}
			p[name] = v
		}
		key := subject.Point(p).String()
		if runs[key] == nil {
			points = append(points, p)
		}
		runs[key] = append(runs[key], row.Seconds)
	}
	out := make([]iperf.Measurement, len(points))
	for i, p := range points {
		switch r := runs[subject.Point(p).String()]; len(r) {
		case 1:
			out[i] = iperf.Measurement{Point: p, Time: r[0], Runs: r}
		case 2:
			out[i] = iperf.Measurement{Point: p, Time: (r[0] + r[1]) / 2, Runs: r}
		default:
			out[i] = iperf.NewMeasurement(p, r)
		}
	}
	return out, nil
}
