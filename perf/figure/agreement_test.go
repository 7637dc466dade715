package figure

import (
	"math"
	"strings"
	"testing"

	"presage/perf/frame"
)

type pairRow struct {
	Sim     float64 `frame:"sim_misses"`
	Pred    float64 `frame:"pred_misses"`
	Level   string  `frame:"level"`
	Program string  `frame:"program"`
}

func TestAgreement(t *testing.T) {
	rows := []pairRow{
		{100, 100, "L1", "cg"},
		{1000, 1090, "L1", "cg"},
		{1e6, 3e5, "L2", "cg"},
		{0, 5, "L2", "cg"},
		{1e4, 1e4, "L2", "matmul"},
	}
	opt := AgreementOptions{Reference: "sim_misses", Predicted: "pred_misses", By: "level", Panel: "program", Band: 0.1, XLabel: "simulated misses", YLabel: "predicted misses"}
	fig, err := Agreement(frame.Of(rows), opt)
	if err != nil {
		t.Fatal(err)
	}
	panels := fig.Panels()
	if len(panels) != 2 || panels[0].Title.Text != "cg (not drawn, not positive: 1)" || panels[1].Title.Text != "matmul" {
		t.Fatalf("%d panels, the first called %q", len(panels), panels[0].Title.Text)
	}
	for _, p := range panels {
		if p.X.Min != 2 || p.X.Max != 6 || p.Y.Min != 2 || p.Y.Max != 6 {
			t.Errorf("axes from 10^%g to 10^%g and 10^%g to 10^%g, want 2 to 6", p.X.Min, p.X.Max, p.Y.Min, p.Y.Max)
		}
	}
	if panels[0].Y.Label.Text != "predicted misses" || panels[1].Y.Label.Text != "" {
		t.Error("the y axis has a label in the first panel, and there only")
	}
	img := render(t, fig)
	for i, what := range []string{"L1", "L2"} {
		if count(img, paletteAt(i)) < 30 {
			t.Errorf("no mark of %s", what)
		}
	}
	for column, options := range map[string]AgreementOptions{
		"sim":     {Reference: "sim", Predicted: "pred_misses"},
		"pred":    {Reference: "sim_misses", Predicted: "pred"},
		"machine": {Reference: "sim_misses", Predicted: "pred_misses", By: "machine"},
		"n":       {Reference: "sim_misses", Predicted: "pred_misses", Panel: "n"},
	} {
		if _, err := Agreement(frame.Of(rows), options); err == nil || !strings.Contains(err.Error(), `"`+column+`"`) {
			t.Errorf("column %s: %v", column, err)
		}
	}
	if _, err := Agreement(frame.Of([]pairRow{{0, 1, "", ""}, {math.NaN(), 1, "", ""}}), opt); err == nil || !strings.Contains(err.Error(), "no row") {
		t.Errorf("nothing to draw: %v", err)
	}
}
