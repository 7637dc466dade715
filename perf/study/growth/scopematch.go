package growth

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"presage/perf/internal/num"
	"presage/perf/subject"
	"presage/perf/timing"
)

// kind names the scopes of a kind at a point.
type kind struct{ point, of string }

func (r *ScopeTime) kind() kind { return kind{r.Point.String(), r.Of} }

// plus returns sum with the instructions and cycles of r added.
func plus(sum ScopeTime, r *ScopeTime) ScopeTime {
	sum.PredInst += r.PredInst
	sum.SimInst += r.SimInst
	sum.Pred += r.Pred
	sum.Executed += r.Executed
	sum.Branch += r.Branch
	sum.Missed += r.Missed
	sum.Sim += r.Sim
	return sum
}

// at names a scope at a point.
type at struct{ point, of, scope string }

func (r *ScopeTime) at() at { return at{r.Point.String(), r.Of, r.Scope} }

// Notes about scopes that are not in both.
const (
	onlyPredicted = "only predicted"
	onlySimulated = "only simulated"
)

// beside returns the scopes that were predicted, with their simulations, then those
// that were only simulated. All rows are of one program, machine and kind of scope.
func beside(by subject.Scope, predicted []timing.Row, simulated []timing.SimulatedRow) []ScopeTime {
	rows := make([]ScopeTime, 0, len(predicted))
	index := make(map[at]int)
	for i := range predicted {
		p := &predicted[i]
		r := ScopeTime{
			Program: p.Program, Point: p.Point, Machine: p.Machine, Of: string(by), Scope: p.Scope,
			PredInst: p.Instructions, Pred: p.Cycles, Executed: p.Schedule + p.Flow, Branch: p.Branch, Note: onlyPredicted, PredWarning: p.Warning,
		}
		for _, level := range slices.Sorted(maps.Keys(p.Waits)) {
			r.Missed += p.Waits[level]
		}
		index[r.at()] = len(rows)
		rows = append(rows, r)
	}
	for i := range simulated {
		s := &simulated[i]
		r := ScopeTime{Program: s.Program, Point: s.Point, Machine: s.Machine, Of: string(by), Scope: s.Scope, Note: onlySimulated}
		k, ok := index[r.at()]
		if ok {
			rows[k].Note = ""
		} else {
			k = len(rows)
			rows = append(rows, r)
		}
		rows[k].SimInst, rows[k].Sim, rows[k].SimWarning = s.Instructions, s.Cycles, s.Warning
	}
	return rows
}

// cube sets the baseline of rows, to which all scopes at each size belong.
func cube(rows []ScopeTime, trained []subject.Point) {
	simulated := make(map[at]float64)
	var points []subject.Point
	for i := range rows {
		r := &rows[i]
		if r.Sim > 0 {
			simulated[r.at()] = r.Sim
		}
		if growth(r.Point, trained) <= 1 && !slices.ContainsFunc(points, func(p subject.Point) bool { return p.String() == r.Point.String() }) {
			points = append(points, r.Point)
		}
	}
	for i := range rows {
		r := &rows[i]
		r.Base, r.Cubed = math.NaN(), math.NaN()
		for _, p := range points {
			size, ok := alone(r.Point)
			if base, too := alone(p); !ok || !too || base >= size || base <= r.Base {
				continue
			} else if cycles, ok := simulated[at{p.String(), r.Of, r.Scope}]; ok {
				r.Base, r.Cubed = base, cycles*math.Pow(size/base, 3)
			}
		}
	}
}

// alone returns the value of a point's only parameter.
func alone(p subject.Point) (float64, bool) {
	for _, v := range p {
		return v, len(p) == 1
	}
	return 0, false
}

// growth returns the largest ratio of a parameter to its largest training value.
func growth(p subject.Point, trained []subject.Point) float64 {
	most := 0.0
	for name, v := range p {
		largest := math.Inf(-1)
		for _, t := range trained {
			largest = max(largest, t[name])
		}
		most = max(most, v/largest)
	}
	return most
}

// apart is the share of a program's cycles by which those of its scopes may differ from
// them: sums of the same numbers in another order.
const apart = 1e-6

// adds returns an error unless the rows of each kind add up to the program's.
func adds(rows []ScopeTime) error {
	sums := make(map[kind]ScopeTime)
	for i := range rows {
		sums[rows[i].kind()] = plus(sums[rows[i].kind()], &rows[i])
	}
	for i := range rows { // in order, as maps have none
		k := rows[i].kind()
		whole, sum := sums[kind{k.point, string(subject.ByProgram)}], sums[k]
		if math.Abs(sum.Pred-whole.Pred) > apart*whole.Pred || math.Abs(sum.Sim-whole.Sim) > apart*whole.Sim {
			return fmt.Errorf("at %s, %ss add up to %.0f predicted and %.0f simulated cycles, the program takes %.0f and %.0f", k.point, k.of, sum.Pred, sum.Sim, whole.Pred, whole.Sim)
		}
	}
	return nil
}

// listed returns the rows of the program and of scopes with LeastShare of its cycles,
// predicted or simulated, each with its share and errors, and sums up the others of a
// kind at a point after them.
func listed(rows []ScopeTime) []ScopeTime {
	var order []kind
	whole, of := make(map[string]*ScopeTime), make(map[kind][]ScopeTime)
	for i := range rows {
		k := rows[i].kind()
		if k.of == string(subject.ByProgram) {
			whole[k.point] = &rows[i]
		}
		if of[k] == nil {
			order = append(order, k)
		}
		of[k] = append(of[k], rows[i])
	}
	var out []ScopeTime
	for _, k := range order {
		w := whole[k.point]
		var few []ScopeTime
		for _, r := range of[k] {
			if r.Pred < LeastShare*w.Pred && r.Sim < LeastShare*w.Sim {
				few = append(few, r)
			} else {
				out = append(out, r)
			}
		}
		if len(few) > 0 {
			out = append(out, others(few))
		}
	}
	for i := range out {
		r := &out[i]
		r.Share = num.Ratio(r.Sim, whole[r.kind().point].Sim)
		r.Err, r.ErrCubed = num.RelErr(r.Pred, r.Sim), num.RelErr(r.Cubed, r.Sim)
	}
	return out
}

// others sums up rows. Its note tells how many were not in both.
func others(rows []ScopeTime) ScopeTime {
	sum := rows[0]
	predicted, simulated := 0, 0
	for i := range rows {
		if i > 0 {
			sum = plus(sum, &rows[i])
		}
		switch rows[i].Note {
		case onlyPredicted:
			predicted++
		case onlySimulated:
			simulated++
		}
	}
	sum.Scope, sum.Note, sum.Base, sum.Cubed = subject.OtherScopes, "", math.NaN(), math.NaN()
	if predicted+simulated > 0 {
		sum.Note = fmt.Sprintf("of %d: %s %d, %s %d", len(rows), onlyPredicted, predicted, onlySimulated, simulated)
	}
	return sum
}
