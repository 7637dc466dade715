package infer

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestFitRecovers demands the coefficients that the data were generated from.
func TestFitRecovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	table := &Table{Names: []string{"x", "y"}, Columns: make([][]float64, 2)}
	for range 60 {
		x, y := 2*rng.Float64()-1, 2*rng.Float64()-1
		table.Columns[0], table.Columns[1] = append(table.Columns[0], x), append(table.Columns[1], y)
		table.Response = append(table.Response, 0)
	}
	for v := range table.Columns { // the scales are then the identity
		table.Columns[v][0], table.Columns[v][1] = -1, 1
	}
	for i := range table.Response {
		x, y := table.Columns[0][i], table.Columns[1][i]
		table.Response[i] = 3 + 2*x - 5*x*x + 0.5*y + 7*x*y
	}
	m, err := Fit(table, Spec{Genes: []Gene{Cubic, Linear}, Interactions: []Interaction{{0, 1, 1, 1}}}, FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"1": 3, "x": 2, "x²": -5, "x³": 0, "y": 0.5, "x·y": 7}
	for j, term := range m.Terms {
		if name := m.Basis.Text(term); math.Abs(m.Coefficients[j]-want[name]) > 1e-12 {
			t.Errorf("coefficient of %s is %g, want %g", name, m.Coefficients[j], want[name])
		}
	}
	if len(m.Terms) != len(want) || m.R2 < 1-1e-14 {
		t.Errorf("%d terms, R² %g", len(m.Terms), m.R2)
	}
}

// TestWeightsCountRows demands that a row of weight 3 counts as three rows.
func TestWeightsCountRows(t *testing.T) {
	table := sample(rand.New(rand.NewPCG(7, 8)), 40)
	table.Weights = nil
	spec := Spec{Genes: []Gene{Quadratic, Linear, Excluded, Linear}}
	heavy := table.weighted(func(i int) float64 { return float64(1 + i%3) })
	var rows []int
	for i := range table.Rows() {
		for range 1 + i%3 {
			rows = append(rows, i)
		}
	}
	basis, err := NewBasis(table)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Fit(heavy, spec, FitOptions{Basis: basis})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Fit(table.Subset(rows), spec, FitOptions{Basis: basis})
	if err != nil {
		t.Fatal(err)
	}
	for j := range a.Coefficients {
		near(t, a.Basis.Text(a.Terms[j]), a.Coefficients[j], b.Coefficients[j])
	}
	near(t, "R²", a.R2, b.R2)
}

// TestRelativeFitsScale demands that, with relative residuals, rescaling the response
// rescales the predictions.
func TestRelativeFitsScale(t *testing.T) {
	for _, scaling := range []Scaling{{Log: true}, {Power: 1}, {Power: 0.5}, {Power: 3}} {
		relativeFitScales(t, scaling)
	}
	table := sample(rand.New(rand.NewPCG(9, 10)), 10)
	for _, bad := range []Scaling{{Power: -1}, {Log: true, Power: 1}} {
		if _, err := Fit(table, Spec{Genes: make([]Gene, 4)}, FitOptions{Scaling: bad}); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}

func relativeFitScales(t *testing.T, scaling Scaling) {
	table := sample(rand.New(rand.NewPCG(9, 10)), 80)
	spec := Spec{Genes: []Gene{Spline, Linear, Excluded, Quadratic}}
	predict := func() []float64 {
		m, err := Fit(table, spec, FitOptions{Scaling: scaling})
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Predict(table)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	before := predict()
	for i := range table.Response {
		table.Response[i] *= 8
	}
	for i, p := range predict() {
		near(t, "prediction", p, 8*before[i])
	}
	table.Response[3] = 0
	if _, err := Fit(table, spec, FitOptions{Scaling: scaling}); !errors.Is(err, ErrData) || !strings.Contains(err.Error(), "row 3") {
		t.Errorf("a response of 0 has no logarithm: got %v", err)
	}
}

// TestFactorsGoOnAlongTheirTangent demands that beyond the range of the data every
// factor is a straight line that joins smoothly; within it, it is the power or the
// truncated power.
func TestFactorsGoOnAlongTheirTangent(t *testing.T) {
	const knot = -0.25
	for _, f := range []Factor{{Power: 1}, {Power: 2}, {Power: 3}, {Knot: 1}} {
		within := func(z float64) float64 {
			if f.Knot > 0 {
				return math.Pow(math.Max(z-knot, 0), 3)
			}
			return math.Pow(z, float64(f.Power))
		}
		for z := -1.0; z <= 1; z += 0.125 {
			near(t, "inside", f.value(z, knot), within(z))
		}
		for _, edge := range []float64{-1, 1} {
			const h = 1e-6
			slope := (within(edge+h) - within(edge-h)) / (2 * h)
			for _, d := range []float64{0.5, 1, 3} {
				got, want := f.value(edge*(1+d), knot), within(edge)+edge*d*slope
				if math.Abs(got-want) > 1e-4 {
					t.Errorf("%+v at %g is %g, its tangent %g", f, edge*(1+d), got, want)
				}
			}
		}
	}
}

func TestOutside(t *testing.T) {
	table := sample(rand.New(rand.NewPCG(11, 12)), 50)
	m, err := Fit(table, Spec{Genes: []Gene{Linear, Linear, Excluded, Linear}}, FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	more := table.Subset([]int{0, 1, 2})
	more.Columns[1][1] = 7
	got, err := m.Outside(more)
	if err != nil {
		t.Fatal(err)
	}
	if len(got[0]) != 0 || len(got[2]) != 0 || len(got[1]) != 1 || got[1][0] != 1 {
		t.Errorf("outside %v, want variable 1 of row 1", got)
	}
}

// TestScaleClimbsTheLadder demands the powers that the data were generated with.
func TestScaleClimbsTheLadder(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, c := range []struct {
		make func() float64
		want float64
	}{
		{func() float64 { return rng.Float64() }, 1},
		{func() float64 { return rng.NormFloat64() }, 1},
		{func() float64 { return math.Exp(rng.NormFloat64()) }, 0},
		{func() float64 { return math.Pow(rng.Float64(), 2) }, 1. / 2},
		{func() float64 { return math.Pow(rng.Float64(), 5) }, 1. / 5},
	} {
		var x []float64
		for range 20000 {
			x = append(x, c.make())
		}
		s := NewScale("x", x)
		if s.Power != c.want {
			t.Errorf("power %g, want %g", s.Power, c.want)
		}
		for _, v := range x {
			if u, err := s.Unit(v); err != nil || math.Abs(u) > 1+1e-12 {
				t.Fatalf("%g becomes %g, error %v", v, u, err)
			}
		}
	}
	s := NewScale("width", []float64{1, 2, 4, 8, 8, 8, 1})
	if len(s.Knots) != 3 || s.Knots[0] <= -1 || s.Knots[2] >= 1 {
		t.Errorf("inflections of a variable with four values: %v", s.Knots)
	}
	if s := NewScale("x", []float64{3, 3}); !s.Constant() {
		t.Error("a constant is not seen as one")
	}
	if _, err := s.Unit(-1); s.Power != 1 && !errors.Is(err, ErrData) {
		t.Errorf("a root of -1: %v", err)
	}
}

func TestModelsAreStored(t *testing.T) {
	table := sample(rand.New(rand.NewPCG(15, 16)), 50)
	m, err := Fit(table, Spec{Genes: []Gene{Spline, Linear, Excluded, Linear}, Interactions: []Interaction{{0, 1, 1, 1}}}, FitOptions{Scaling: Scaling{Log: true}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var again Model
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	a, _ := m.Predict(table)
	b, err := again.Predict(table)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("row %d: %g becomes %g", i, a[i], b[i])
		}
	}
}

func TestBadTables(t *testing.T) {
	good := func() *Table { return sample(rand.New(rand.NewPCG(17, 18)), 10) }
	for what, spoil := range map[string]func(*Table){
		"without rows":  func(t *Table) { t.Response = nil },
		"3 names":       func(t *Table) { t.Names = t.Names[:3] },
		"taken":         func(t *Table) { t.Names[1] = "a" },
		"9 values":      func(t *Table) { t.Columns[2] = t.Columns[2][:9] },
		"row 4: b is":   func(t *Table) { t.Columns[1][4] = math.NaN() },
		"the response":  func(t *Table) { t.Response[0] = math.Inf(1) },
		"not positive":  func(t *Table) { t.Weights[2] = 0 },
		"1 groups":      func(t *Table) { t.Groups = t.Groups[:1] },
		"the estimate":  func(t *Table) { t.Estimate = slices.Repeat([]float64{1}, 9); t.Estimate = append(t.Estimate, 0) },
		"2 estimates":   func(t *Table) { t.Estimate = []float64{1, 1} },
		"Plain has 1":   func(t *Table) { t.Plain = []bool{true} },
		"row 5: twice ": func(t *Table) { t.Columns[2][5] = math.Inf(-1) },
	} {
		table := good()
		spoil(table)
		if err := table.Check(); !errors.Is(err, ErrData) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	table := good()
	m, err := Fit(table, Spec{Genes: make([]Gene, 4)}, FitOptions{})
	if err != nil || len(m.Terms) != 1 {
		t.Fatalf("a spec without variables is a mean: %v, %v", m, err)
	}
	if _, err := m.Predict(&Table{Names: []string{"a"}, Columns: [][]float64{{1}}}); !errors.Is(err, ErrData) {
		t.Errorf("prediction from another table's variables: %v", err)
	}
	for what, s := range map[string]Spec{
		"3 genes":           {Genes: make([]Gene, 3)},
		"gene 1 is 9":       {Genes: []Gene{0, 9, 0, 0}},
		"variables 2 and 1": {Genes: make([]Gene, 4), Interactions: []Interaction{{2, 1, 1, 1}}},
		"powers 1 and 4":    {Genes: make([]Gene, 4), Interactions: []Interaction{{1, 2, 1, 4}}},
		"does not follow":   {Genes: make([]Gene, 4), Interactions: []Interaction{{1, 2, 1, 1}, {1, 2, 1, 1}}},
	} {
		if _, err := Fit(table, s, FitOptions{}); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

func TestJoinAndSubset(t *testing.T) {
	a := sample(rand.New(rand.NewPCG(19, 20)), 6)
	b := a.Where(func(i int) bool { return i >= 4 })
	b.Groups = nil
	j, err := a.Join(b)
	if err != nil {
		t.Fatal(err)
	}
	if j.Rows() != 8 || j.Columns[1][7] != a.Columns[1][5] || j.Groups[7] != "" || j.Groups[0] != a.Groups[0] {
		t.Errorf("joined: %+v", j)
	}
	b.Names = []string{"p", "q", "r", "s"}
	if _, err := a.Join(b); !errors.Is(err, ErrData) {
		t.Errorf("joined with other variables: %v", err)
	}
}

// TestEstimatesAreCorrected demands that a model that corrects an estimate equals the
// estimate times a model of the ratio.
func TestEstimatesAreCorrected(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	table := sample(rng, 60)
	for i := range table.Response {
		table.Response[i] = 2 + rng.Float64()
	}
	ratio := *table
	ratio.Response = make([]float64, 60)
	table.Estimate = make([]float64, 60)
	for i, z := range table.Response {
		table.Estimate[i] = 0.5 + rng.Float64()
		ratio.Response[i] = z / table.Estimate[i]
	}
	spec := Spec{Genes: []Gene{Linear, Quadratic, Excluded, Linear}}
	opt := FitOptions{Scaling: Scaling{Power: 1}}
	m, err := Fit(table, spec, opt)
	if err != nil {
		t.Fatal(err)
	}
	of, err := Fit(&ratio, spec, opt)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Predict(table)
	if err != nil {
		t.Fatal(err)
	}
	want, err := of.Predict(&ratio)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		near(t, "a corrected estimate", got[i], want[i]*table.Estimate[i])
	}
	if _, err := m.Predict(&ratio); !errors.Is(err, ErrData) {
		t.Errorf("nothing to correct: %v", err)
	}
	if _, err := table.Join(&ratio); !errors.Is(err, ErrData) {
		t.Errorf("joined with a table without estimates: %v", err)
	}
	if both, err := table.Join(table.Subset([]int{3})); err != nil || both.Estimate[60] != table.Estimate[3] {
		t.Errorf("estimates are not joined: %v", err)
	}
	// The search judges by the same relative errors.
	search := SearchOptions{Population: 10, Generations: 3, Scaling: opt.Scaling, Seed: 5}
	a, err := Search(context.Background(), table, search)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Search(context.Background(), &ratio, search)
	if err != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("the search for corrections is not that for ratios, error %v", err)
	}
}

// TestRidgeShrinks checks a ridge fit by hand: for a centred variable of squared length
// 2 and a slope of 3, 2/(2+ridge) of the slope remains, and the constant is the mean.
func TestRidgeShrinks(t *testing.T) {
	table := &Table{Names: []string{"a"}, Columns: [][]float64{{-1, 0, 1}}, Response: []float64{4, 7, 10}, Plain: []bool{true}}
	for _, ridge := range []float64{0, 2, 1e9} {
		m, err := Fit(table, Spec{Genes: []Gene{Linear}}, FitOptions{Ridge: ridge})
		if err != nil {
			t.Fatal(err)
		}
		near(t, "the constant", m.Coefficients[0], 7)
		near(t, "the slope", m.Coefficients[1], 3*2/(2+ridge))
	}
	for _, bad := range []float64{-1, math.NaN()} {
		if _, err := Fit(table, Spec{Genes: []Gene{Linear}}, FitOptions{Ridge: bad}); err == nil {
			t.Errorf("a ridge of %g, and no error", bad)
		}
		if _, err := Search(context.Background(), table, SearchOptions{Ridge: bad}); err == nil {
			t.Errorf("a search with a ridge of %g, and no error", bad)
		}
	}
}

// TestCorrectionsAreBounded demands that corrections stay within those of the training
// rows, and that Bounded reports where they are at the limit.
func TestCorrectionsAreBounded(t *testing.T) {
	table := &Table{
		Names: []string{"a"}, Columns: [][]float64{{0, 1, 2}}, Response: []float64{2, 6, 6}, Plain: []bool{true},
		Estimate: []float64{2, 4, 3}, // ratios 1, 1.5, 2
	}
	m, err := Fit(table, Spec{Genes: []Gene{Linear}}, FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	asked := &Table{Names: table.Names, Columns: [][]float64{{-5, 0.5, 9}}, Plain: table.Plain, Estimate: []float64{10, 10, 10}}
	got, err := m.Predict(asked)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{10, 12.5, 20} {
		near(t, "a bounded correction", got[i], want)
	}
	if at, err := m.Bounded(asked); err != nil || !slices.Equal(at, []bool{true, false, true}) {
		t.Errorf("bounded %v, error %v", at, err)
	}
}

// TestPlainVariables demands that a plain variable is not raised to a power, however
// skewed.
func TestPlainVariables(t *testing.T) {
	table := &Table{Names: []string{"a", "b"}, Response: []float64{1, 2, 3, 4, 5}, Plain: []bool{true, false}}
	skew := []float64{0.001, 0.01, 0.1, 1, 10}
	table.Columns = [][]float64{skew, skew}
	b, err := NewBasis(table)
	if err != nil || b.Scales[0].Power != 1 || b.Scales[1].Power != 0 {
		t.Errorf("%+v, error %v", b, err)
	}
}

// TestJudge checks numbers by hand: errors 0.1, 0, 0.5, 0.2, sorted 0, 0.1, 0.2, 0.5.
func TestJudge(t *testing.T) {
	a := Judge([]float64{1.1, 2, 6, -4}, []float64{1, 2, 4, -5})
	for _, c := range []struct {
		what      string
		got, want float64
	}{{"median", a.Median, 0.15}, {"lower", a.Lower, 0.075}, {"upper", a.Upper, 0.275}, {"p90", a.P90, 0.41}, {"max", a.Max, 0.5}, {"mean", a.Mean, 0.2}} {
		near(t, c.what, c.got, c.want)
	}
	if a.Rows != 4 || a.Correlation < 0.97 || a.Correlation > 1 {
		t.Errorf("%+v", a)
	}
}

// TestJudgeOfConstants demands that constant values correlate with nothing, however
// their sums are rounded, but that values that differ, even slightly, do.
func TestJudgeOfConstants(t *testing.T) {
	truth := []float64{1, 2, 4, 5}
	rounded, almost := make([]float64, len(truth)), make([]float64, len(truth))
	for i, z := range truth {
		rounded[i] = 0.1 * (1 + 1e-15*float64(i%3))
		almost[i] = 3 + 1e-5*z
	}
	for name, c := range map[string]struct{ predicted, truth []float64 }{
		"predicted":         {[]float64{0.1, 0.1, 0.1, 0.1}, truth},
		"predicted rounded": {rounded, truth},
		"true":              {truth, []float64{0.7, 0.7, 0.7, 0.7}},
		"true rounded":      {truth, rounded},
		"both":              {rounded, rounded},
		"zero":              {[]float64{0, 0, 0, 0}, truth},
		"one row":           {[]float64{1}, []float64{2}},
	} {
		if a := Judge(c.predicted, c.truth); !math.IsNaN(a.Correlation) || a.Rows != len(c.truth) {
			t.Errorf("%s: correlation %g of %d rows, want NaN", name, a.Correlation, a.Rows)
		}
	}
	if a := Judge(almost, truth); math.Abs(a.Correlation-1) > 1e-6 {
		t.Errorf("values that are a line: correlation %g", a.Correlation)
	}
}
