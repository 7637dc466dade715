package kernels

import (
	"fmt"
	"maps"
	"math"
	"os"
	"presage/perf/fit"
	"presage/perf/frame"
	"presage/perf/iperf"
	"presage/perf/machine/catalog"
	"presage/perf/subject"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"
)

// FindKernel returns the kernel called name among those that come with Presage.
// To read one of a file, name it file.yaml:kernel.
func FindKernel(name string) (*iperf.Kernel, error) {
	file, kernel, ok := strings.Cut(name, ".yaml:")
	if !ok {
		return iperf.FindKernel(name)
	}
	file += ".yaml"
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("perf: kernel %s: %w", kernel, err)
	}
	kernels, err := iperf.ParseKernels(file, text)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, k := range kernels {
		if k.Name == kernel {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return nil, fmt.Errorf("perf: %s has no kernel %q; it has %s", file, kernel, strings.Join(names, ", "))
}

// FindSystem returns a machine that FindMachine knows as SearchModels needs it,
// with what iperf.Supplements adds.
func FindSystem(name string) (*iperf.System, error) {
	m, err := catalog.FindMachine(name)
	if err != nil {
		return nil, err
	}
	for _, add := range iperf.Supplements() {
		if add.Machine == m.Name {
			return iperf.NewSystem(m, &add)
		}
	}
	return iperf.NewSystem(m, nil)
}

// FindSystemWith is FindSystem with what a file of supplements adds in the place
// of iperf.Supplements; "" is no file.
func FindSystemWith(name, file string) (*iperf.System, error) {
	if file == "" {
		return FindSystem(name)
	}
	m, err := catalog.FindMachine(name)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("perf: supplement of %s: %w", name, err)
	}
	all, err := iperf.ParseSupplements(file, text)
	if err != nil {
		return nil, err
	}
	for _, add := range all {
		if add.Machine == m.Name {
			return iperf.NewSystem(m, &add)
		}
	}
	return nil, fmt.Errorf("perf: %s has no supplement for machine %q", file, m.Name)
}

// timeColumns are where times are by default.
var timeColumns = []string{"meas_time_sec", "sim_time_sec", "time_sec"}

// measurements returns the times of a table, in the order in which sizes first
// appear.
func measurements(df dataframe.DataFrame, params, columns []string) ([]iperf.Measurement, error) {
	if df.Err != nil {
		return nil, fmt.Errorf("perf: search models: %w", df.Err)
	}
	if len(columns) == 0 {
		for _, name := range timeColumns {
			if slices.Contains(df.Names(), name) {
				columns = append(columns, name)
			}
		}
		if len(columns) != 1 {
			return nil, fmt.Errorf("perf: search models: of the columns %s, the table has %d: name those of times in the options", strings.Join(timeColumns, ", "), len(columns))
		}
	}
	if err := oneOfAKind(df); err != nil {
		return nil, err
	}
	values := make(map[string][]float64)
	for _, name := range slices.Concat(params, columns) {
		v, err := frame.Floats(df, name)
		if err != nil {
			return nil, fmt.Errorf("perf: search models: %w", err)
		}
		for row, x := range v {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, fmt.Errorf("perf: search models: row %d: %s is no number", row+1, name)
			}
		}
		values[name] = v
	}
	return grouped(df.Nrow(), params, columns, values), nil
}

// oneOfAKind reports a column of text that tells rows apart.
func oneOfAKind(df dataframe.DataFrame) error {
	for _, name := range df.Names() {
		if df.Col(name).Type() != series.String || name == "date" || strings.HasSuffix(name, "warning") {
			continue
		}
		text, err := frame.Strings(df, name)
		if err != nil {
			return err
		}
		for _, s := range text {
			if s != text[0] {
				return fmt.Errorf("perf: search models: rows with %s %q and %q: choose one with frame.Where, or leave the column out", name, text[0], s)
			}
		}
	}
	return nil
}

// grouped makes one measurement of the rows of each size.
func grouped(rows int, params, columns []string, values map[string][]float64) []iperf.Measurement {
	var points []fit.Point
	runs := make(map[string][]float64)
	for i := range rows {
		p := make(fit.Point)
		for _, name := range params {
			p[name] = values[name][i]
		}
		key := subject.Point(p).String()
		if runs[key] == nil {
			points = append(points, p)
		}
		for _, name := range columns {
			runs[key] = append(runs[key], values[name][i])
		}
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
	return out
}

func (m *ModelSearch) sensitivities(times []iperf.Measurement) dataframe.DataFrame {
	type row struct {
		Factor    string  `frame:"factor"`
		Model     string  `frame:"model"`
		TimeShare float64 `frame:"time_share"`
		Alone     float64 `frame:"share_alone"`
		LeftOut   float64 `frame:"share_left_out"`
		Explained float64 `frame:"explained"`
		Warning   string  `frame:"warning"`
	}
	share := func(e *iperf.Evaluation) float64 {
		if e == nil {
			return math.NaN()
		}
		return e.Share
	}
	var rows []row
	for _, s := range m.Lattice.Sensitivities(m.Shown(), times, m.Request) {
		r := row{s.Model.Factor, s.Model.Name, s.TimeShare, share(s.Alone), share(s.LeftOut), s.Explained, ""}
		if doubt := s.Collinearity(); doubt != nil {
			r.Warning = doubt.Error()
		}
		rows = append(rows, r)
	}
	return frame.Of(rows)
}

func (m *ModelSearch) predictions(times []iperf.Measurement) dataframe.DataFrame {
	type row struct {
		Point     map[string]float64 `frame:",each"`
		Time      float64            `frame:"time_sec"`
		Runs      int                `frame:"runs"`
		Predicted float64            `frame:"pred_time_sec"`
		AbsErr    float64            `frame:"abs_err_sec"`
		RelErr    float64            `frame:"rel_err"`
		Within    bool               `frame:"within"`
	}
	e := m.Shown()
	var rows []row
	for i, t := range times {
		r := row{t.Point, t.Time, len(t.Runs), e.Predicted[i], e.AbsErr[i], e.Predicted[i]/t.Time - 1, e.AbsErr[i] <= m.Request.AbsErr}
		if m.Request.RelErr > 0 {
			r.Within = e.RelErr[i] <= m.Request.RelErr
		}
		rows = append(rows, r)
	}
	return frame.Of(rows)
}

func (m *ModelSearch) peaks(times []iperf.Measurement) dataframe.DataFrame {
	type row struct {
		Point     map[string]float64 `frame:",each"`
		Time      float64            `frame:"time_sec"`
		Predicted float64            `frame:"pred_time_sec"`
		Spreads   float64            `frame:"spreads"`
	}
	var rows []row
	if m.NoModel != nil {
		for _, p := range m.NoModel.Peaks {
			i := slices.IndexFunc(times, func(t iperf.Measurement) bool { return maps.Equal(t.Point, p.Point) })
			rows = append(rows, row{p.Point, times[i].Time, m.Shown().Predicted[i], p.Spreads})
		}
	}
	return frame.Of(rows)
}

func (m *ModelSearch) curves() dataframe.DataFrame {
	type row struct {
		Point     map[string]float64 `frame:",each"`
		Factor    string             `frame:"factor"`
		Model     string             `frame:"model"`
		Term      int                `frame:"term"`
		Value     float64            `frame:"value"`
		Predicted float64            `frame:"pred_time_sec"`
	}
	e := m.Shown()
	var rows []row
	for _, c := range m.Lattice.Curves {
		for t, values := range c.Terms {
			coefficient := math.NaN()
			if j := slices.IndexFunc(e.Columns, func(o iperf.Column) bool { return o.Model == c.Model && o.Term == t }); j >= 0 {
				coefficient = e.Coefficients[j]
			}
			for i, v := range values {
				rows = append(rows, row{m.Lattice.Points[i], c.Model.Factor, c.Model.Name, t, v, coefficient * v})
			}
		}
	}
	return frame.Of(rows)
}
