package infer

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
)

// rTolerance is the largest relative difference allowed between coefficients
// here and R's, on columns whose condition number is below 1e4.
const rTolerance = 1e-8

// runR runs a script that reads a CSV table from its standard input and prints
// numbers, one a line; NA is NaN.
func runR(t *testing.T, script, csv string) []float64 {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.R")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(oracle.Need(t, "Rscript"), file)
	cmd.Stdin = strings.NewReader(csv)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("Rscript: %v\n%s", err, &stderr)
	}
	var list []float64
	for _, f := range strings.Fields(string(out)) {
		if f == "NA" {
			list = append(list, math.NaN())
			continue
		}
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}

func csvOf(names []string, columns ...[]float64) string {
	var b strings.Builder
	b.WriteString(strings.Join(names, ",") + "\n")
	for i := range columns[0] {
		for j := range columns {
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.FormatFloat(columns[j][i], 'g', -1, 64))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// sample is a table of three variables on different scales, two that are the
// same but for scale, and one of few values.
func sample(rng *rand.Rand, rows int) *Table {
	t := &Table{Names: []string{"a", "b", "twice", "width"}, Columns: make([][]float64, 4)}
	for range rows {
		a, b, width := rng.ExpFloat64()*1000, rng.Float64()-0.5, float64(int(1)<<rng.IntN(4))
		for v, x := range []float64{a, b, 2*b + 1, width} {
			t.Columns[v] = append(t.Columns[v], x)
		}
		t.Response = append(t.Response, 2+math.Sqrt(a)/50+b*b/width+3/width+0.1*rng.NormFloat64())
		t.Weights = append(t.Weights, 0.5+rng.Float64())
		t.Groups = append(t.Groups, fmt.Sprint("g", rng.IntN(3)))
	}
	return t
}

// TestFitAgreesWithLm gives the columns of a spec with dependent terms to R's lm, which
// must find the same coefficients, dropped terms and errors.
func TestFitAgreesWithLm(t *testing.T) {
	table := sample(rand.New(rand.NewPCG(1, 2)), 200)
	spec := Spec{
		Genes:        []Gene{Spline, Quadratic, Cubic, Spline},
		Interactions: []Interaction{{0, 1, 1, 1}, {0, 2, 1, 1}, {0, 3, 2, 1}, {1, 3, 1, 2}},
	}
	for _, scaling := range []Scaling{{}, {Log: true}, {Power: 1}, {Power: 2}} {
		m, err := Fit(table, spec, FitOptions{Scaling: scaling})
		if err != nil {
			t.Fatal(err)
		}
		y, weights, _ := response(table, scaling)
		units, _ := m.Basis.units(table)
		terms := m.Basis.Terms(spec)
		names, columns := []string{"y", "w"}, [][]float64{y, weights}
		for j, term := range terms[1:] {
			names = append(names, fmt.Sprint("t", j))
			column := make([]float64, table.Rows())
			m.Basis.column(column, term, units)
			columns = append(columns, column)
		}
		got := runR(t, `d <- read.csv(file("stdin")); w <- d$w; d$w <- NULL
			m <- lm(y ~ ., data = d, weights = w); s <- summary(m)
			cat(format(c(s$sigma, s$r.squared, coef(m)), digits = 17), sep = "\n")`, csvOf(names, columns...))
		near(t, "residual error", m.ResidualError, got[0])
		near(t, "R²", m.R2, got[1])
		if len(m.Dropped) < 3 {
			t.Errorf("%d terms dropped, of %d; twice has the values of b, so its three terms depend", len(m.Dropped), len(terms))
		}
		k := 0
		for j, want := range got[2:] {
			kept := k < len(m.Terms) && m.Terms[k] == terms[j]
			if kept == math.IsNaN(want) {
				t.Errorf("term %s: kept %v, by R %v", m.Basis.Text(terms[j]), kept, want)
			}
			if kept {
				near(t, m.Basis.Text(terms[j]), m.Coefficients[k], want)
				k++
			}
		}
	}
}

// TestPredictAgreesWithFormula compares a spec with an R formula of the raw columns:
// transformations, inflections and interactions must mean the same, whatever the
// scaling.
func TestPredictAgreesWithFormula(t *testing.T) {
	table := sample(rand.New(rand.NewPCG(3, 4)), 150)
	spec := Spec{Genes: []Gene{Spline, Quadratic, Excluded, Cubic}, Interactions: []Interaction{{0, 1, 1, 1}, {1, 3, 1, 1}}}
	m, err := Fit(table, spec, FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Predict(table)
	if err != nil {
		t.Fatal(err)
	}
	// Raw inflections: back from [-1, 1], still powered.
	s := m.Basis.Scales[0]
	var knots []string
	for _, k := range s.Knots {
		knots = append(knots, strconv.FormatFloat(s.Lo+(k+1)/2*(s.Hi-s.Lo), 'g', -1, 64))
	}
	pow := func(v int) string {
		p := m.Basis.Scales[v].Power
		if p == 0 {
			return "log(d$" + table.Names[v] + ")"
		}
		return "d$" + table.Names[v] + "^" + strconv.FormatFloat(p, 'g', -1, 64)
	}
	script := fmt.Sprintf(`d <- read.csv(file("stdin")); a <- %s; b <- d$b; k <- c(%s); p <- function(x) pmax(x, 0)^3; w <- %s
		m <- lm(d$y ~ a + I(a^2) + I(a^3) + p(a-k[1]) + p(a-k[2]) + p(a-k[3]) + b + I(b^2) + w + I(w^2) + I(w^3) + a:b + b:w, weights = d$weight)
		cat(format(fitted(m), digits = 17), sep = "\n")`, pow(0), strings.Join(knots, ","), pow(3))
	want := runR(t, script, csvOf([]string{"y", "weight", "a", "b", "width"}, table.Response, table.Weights, table.Columns[0], table.Columns[1], table.Columns[3]))
	if len(want) != len(got) || len(knots) != 3 {
		t.Fatalf("%d fitted values for %d rows, %d knots", len(want), len(got), len(knots))
	}
	for i := range got {
		near(t, fmt.Sprint("row ", i), got[i], want[i])
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rTolerance*math.Max(1, math.Abs(want))) {
		t.Errorf("%s: got %.12g, want %.12g", what, got, want)
	}
}
