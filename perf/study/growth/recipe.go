package growth

import (
	"context"
	"fmt"
	"slices"

	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/study/record"
	"presage/perf/subject"
)

// PaperBasis are the functions of the papers' models in one parameter: no terms for
// how rows are aligned to blocks.
const PaperBasis = "1, n, n^2, n^3"

// RecipeRow is what the papers' own recipe predicts of a program at a size.
type RecipeRow struct {
	Program string        `frame:"program"`
	Point   subject.Point `frame:",each"`
	Machine string        `frame:"machine"`
	Level   string        `frame:"level"`
	Method  string        `frame:"method"`
	Misses  float64       `frame:"pred_misses"`
}

// Recipe predicts the misses of the whole program at opt.Judge and opt.Large as Marin
// and Mellor-Crummey do: histograms split in the median ratio at all sizes, powers of
// the size up to the third (PaperBasis, unless opt.Fit has a basis), and misses of
// set-associative caches by the binomial formula. Nothing is simulated.
func (opt Options) Recipe(ctx context.Context, prog *subject.Program) ([]RecipeRow, error) {
	if opt.Fit.Basis == "" {
		opt.Fit.Basis = PaperBasis
	}
	opt.Fit.MedianRatio = true
	if err := opt.Check(); err != nil {
		return nil, err
	}
	model, err := opt.Model(ctx, prog)
	if err != nil {
		return nil, err
	}
	points := slices.Concat(opt.Judge, opt.Large)
	var rows []RecipeRow
	for _, m := range opt.Machines {
		all, err := misses.Predict(ctx, model, m, points, misses.PredictOptions{Method: predict.MethodBinomial, Coverage: -1})
		if err != nil {
			return nil, err
		}
		for _, r := range all {
			rows = append(rows, RecipeRow{r.Program, r.Point, r.Machine, r.Level, r.Method, r.Misses})
		}
	}
	return rows, nil
}

// RecordRecipe records rows of Recipe in prefix-recipe.csv.
func RecordRecipe(prog *subject.Program, rows []RecipeRow, prefix, command string) error {
	return record.Write(prefix+"-recipe.csv", rows, record.Source{
		Origin:  fmt.Sprintf("predicted by presage as in the papers: median ratio, powers of the size, binomial; %s, SHA-256 %s", prog.Name, prog.File.SHA256),
		Command: command,
	})
}
