package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"presage/perf/internal/oracle"
)

// rNumbers runs an R script and returns the numbers that it printed; it skips
// the test if R or its package quadprog is missing.
func rNumbers(t *testing.T, script string) []float64 {
	t.Helper()
	r := oracle.Need(t, "Rscript")
	if exec.Command(r, "-e", "library(quadprog)").Run() != nil {
		oracle.Need(t, "R with quadprog (Debian packages r-base-core and r-cran-quadprog)")
	}
	cmd := exec.Command(r, "--vanilla", "-")
	cmd.Stdin = strings.NewReader("library(quadprog); options(digits=17)\n" + script)
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var out []float64
	for _, f := range strings.Fields(string(text)) {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

func rVector(v []float64) string {
	s := make([]string, len(v))
	for i, x := range v {
		s[i] = strconv.FormatFloat(x, 'g', -1, 64)
	}
	return "c(" + strings.Join(s, ",") + ")"
}

func rMatrix(m mat.Matrix) string {
	rows, cols := m.Dims()
	var v []float64
	for i := range rows {
		for k := range cols {
			v = append(v, m.At(i, k))
		}
	}
	return fmt.Sprintf("matrix(%s, %d, %d, byrow=TRUE)", rVector(v), rows, cols)
}

// TestQuadProgAgainstR solves programmes of eight variables and thirty
// constraints around a point known to be feasible.
func TestQuadProgAgainstR(t *testing.T) {
	const n, rows, cases = 8, 30, 40
	r := rand.New(rand.NewPCG(21, 22))
	var script strings.Builder
	var got []float64
	active := 0
	for range cases {
		m := mat.NewDense(n, n, nil)
		c := mat.NewDense(rows, n, nil)
		m.Apply(func(int, int, float64) float64 { return r.NormFloat64() }, m)
		c.Apply(func(int, int, float64) float64 { return r.NormFloat64() }, c)
		var gg mat.Dense
		gg.Mul(m.T(), m)
		g := mat.NewSymDense(n, nil)
		a, inside, b := make([]float64, n), make([]float64, n), make([]float64, rows)
		for i := range n {
			a[i], inside[i] = 20*r.NormFloat64(), r.NormFloat64()
			for k := i; k < n; k++ {
				g.SetSym(i, k, gg.At(i, k))
			}
			g.SetSym(i, i, g.At(i, i)+1)
		}
		for i := range rows {
			b[i] = dot(c.RawRowView(i), inside) - r.Float64()
		}
		sol, err := quadProg(g, a, c, b)
		if err != nil {
			t.Fatal(err)
		}
		got = append(append(got, sol.X...), sol.Value)
		active += len(sol.Active)
		fmt.Fprintf(&script, "s <- solve.QP(%s, %s, t(%s), %s); cat(s$solution, s$value, '\\n')\n",
			rMatrix(g), rVector(a), rMatrix(c), rVector(b))
	}
	want := rNumbers(t, script.String())
	if len(want) != len(got) || active < 5*cases {
		t.Fatalf("%d numbers from R, %d expected; %d constraints active", len(want), len(got), active)
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > qpTolerance*(1+math.Abs(want[i])) {
			t.Fatalf("number %d: %g, R has %g", i, got[i], want[i])
		}
	}
}

// TestShapedFitAgainstR compares shaped fits of all terms with R: the
// constraints are derived again here from the definition of the shape, in
// scaled coefficients.
func TestShapedFitAgainstR(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	points := line(8, 14, 20, 26, 32, 40)
	d := mustDesign(t, "1, n, n^2, n^3", points)
	xs := places(Interval{8, 40}, "n", nil)
	scale := []float64{1, 0.1, 0.01, 0.001}
	terms := func(x float64) []float64 { return []float64{1, x * scale[1], x * x * scale[2], x * x * x * scale[3]} }
	var rows []float64
	for i, x := range xs {
		rows = append(rows, terms(x)...)
		if i > 0 {
			f, g := terms(xs[i-1]), terms(x)
			for j := range f {
				rows = append(rows, (g[j]-f[j])/(x-xs[i-1]))
			}
		}
		if i > 1 {
			e, f, g := terms(xs[i-2]), terms(xs[i-1]), terms(x)
			for j := range f {
				rows = append(rows, (g[j]-f[j])/(x-xs[i-1])-(f[j]-e[j])/(xs[i-1]-xs[i-2]))
			}
		}
	}
	cons := mat.NewDense(len(rows)/4, 4, rows)
	var script strings.Builder
	fmt.Fprintf(&script, "A <- t(%s); A <- A %%*%% diag(1/sqrt(colSums(A^2)))\nX <- t(sapply(%s, function(n) c(1, n/10, n^2/100, n^3/1000)))\n", rMatrix(cons), rVector([]float64{8, 14, 20, 26, 32, 40}))
	var got []float64
	bound := 0
	for range 40 {
		y := values(points, func(n float64) float64 { return 50 + 3*n + 0.05*n*n + 25*r.NormFloat64() })
		f, err := d.Fit(y, Options{AllTerms: true, Shape: Shape{NonNegative: true, Trend: Rising, Curvature: Convex}})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range f.Warnings {
			if w.Doubt == ActiveConstraint {
				bound++
			}
		}
		got = append(got, f.RMS)
		for _, p := range points {
			got = append(got, f.Eval(p))
		}
		fmt.Fprintf(&script, "y <- %s; s <- solve.QP(t(X) %%*%% X, t(X) %%*%% y, A, rep(0, ncol(A)))$solution; f <- X %%*%% s; cat(sqrt(mean((y-f)^2)), f, '\\n')\n", rVector(y))
	}
	want := rNumbers(t, script.String())
	if len(want) != len(got) || bound < 20 {
		t.Fatalf("%d numbers from R, %d expected; %d of 40 fits with active constraints", len(want), len(got), bound)
	}
	for i := range want {
		// R forms XᵀX, of condition 1e7: about half the digits.
		if math.Abs(got[i]-want[i]) > 1e-5*(1+math.Abs(want[i])) {
			t.Fatalf("number %d: %g, R has %g", i, got[i], want[i])
		}
	}
}

// TestWeightedFitAgainstR compares weighted least squares with all terms with
// R's lm.
func TestWeightedFitAgainstR(t *testing.T) {
	points := line(8, 14, 20, 26, 32, 40)
	d := mustDesign(t, "1, n, n*log(n)", points)
	y := []float64{512.3, 2751, 7999, 17600, 32790, 63998}
	f, err := d.Fit(y, Options{AllTerms: true, Weighting: Relative})
	if err != nil {
		t.Fatal(err)
	}
	want := rNumbers(t, fmt.Sprintf("n <- c(8,14,20,26,32,40); y <- %s; m <- lm(y ~ n + I(n*log(n)), weights=1/y^2); e <- residuals(m)/(1-hatvalues(m))/y; cat(coef(m), sqrt(mean(e^2)), summary(m)$r.squared)", rVector(y)))
	got := append(append([]float64{}, f.Coefficients...), f.LOO, f.R2)
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-8*math.Abs(want[i]) {
			t.Errorf("number %d: %g, R has %g", i, got[i], want[i])
		}
	}
}
