package misses

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"presage/perf/internal/profiletest"
	"presage/perf/locality"
	"presage/perf/store"
	"presage/perf/subject"
)

// benchProfiles returns the profiles in the folders that $PRESAGE_PROFILES lists, as PATH
// lists folders, or those of small meshes of sweep3d.
func benchProfiles(b *testing.B) []*locality.Runs {
	b.Helper()
	dirs := filepath.SplitList(os.Getenv("PRESAGE_PROFILES"))
	if len(dirs) == 0 {
		return []*locality.Runs{profiletest.Profile(b, store.Open(b.TempDir()), []float64{6, 8, 10, 12, 14}, 32, 128, 32768)}
	}
	var all []*locality.Runs
	for _, dir := range dirs {
		runs, err := locality.LoadRuns(dir)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, runs)
	}
	return all
}

// BenchmarkFit fits models of a whole program, in blocks of all sizes that were profiled,
// anew each time, as after a change of the basis: it should take a second at most.
func BenchmarkFit(b *testing.B) {
	for _, runs := range benchProfiles(b) {
		for _, draft := range []bool{false, true} {
			b.Run(fmt.Sprintf("program=%s/draft=%t", runs.Label(), draft), func(b *testing.B) {
				st := store.Open(b.TempDir())
				at := 0
				for b.Loop() {
					at++ // a basis that was not fitted to before
					basis := fmt.Sprintf("1, n, n^2, n^3 + %g", 1e-9*float64(at))
					if _, err := Fit(b.Context(), runs, FitOptions{Store: st, Basis: basis, Draft: draft}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkCurve predicts the misses of a program on a machine at 41 sizes, from the
// smallest run to four times the largest, with and without intervals: by a new process
// that finds all that predictions take in the store, which should take a second at most,
// and, of the profiles of $PRESAGE_PROFILES, by the first one, which runs the program
// again and fits models for each size.
func BenchmarkCurve(b *testing.B) {
	for _, runs := range benchProfiles(b) {
		kept := store.Open(b.TempDir())
		for _, coverage := range []float64{0, -1} {
			c := curve{runs: runs, coverage: coverage, store: kept}
			name := fmt.Sprintf("program=%s/intervals=%t", runs.Label(), coverage == 0)
			if os.Getenv("PRESAGE_PROFILES") != "" {
				b.Run(name+"/kept=false", func(b *testing.B) {
					for b.Loop() {
						b.StopTimer()
						first := curve{runs: runs, coverage: coverage, store: store.Open(b.TempDir())}
						b.StartTimer()
						first.predict(b)
					}
				})
			}
			b.Run(name+"/kept=true", func(b *testing.B) {
				c.predict(b)
				for b.Loop() {
					c.predict(b)
				}
			})
		}
	}
}

// curve is what BenchmarkCurve predicts.
type curve struct {
	runs     *locality.Runs
	coverage float64
	store    *store.Store
}

func (c *curve) predict(b *testing.B) {
	b.Helper()
	model, err := Fit(b.Context(), c.runs, FitOptions{Store: c.store})
	if err != nil {
		b.Fatal(err)
	}
	on := profiletest.Machine(b, "origin2000")
	if _, err := Predict(b.Context(), model, on, curvePoints(b, model), PredictOptions{Coverage: c.coverage}); err != nil {
		b.Fatal(err)
	}
}

// curvePoints returns 41 sizes, from the smallest run to four times the largest.
func curvePoints(b *testing.B, m *Model) []subject.Point {
	b.Helper()
	param := m.Points[0].Names()[0]
	within, err := m.Range(param)
	if err != nil {
		b.Fatal(err)
	}
	points := make([]subject.Point, 41)
	for i := range points {
		points[i] = subject.Point{param: math.Round(within[0] * math.Pow(4*within[1]/within[0], float64(i)/40))}
	}
	return points
}
