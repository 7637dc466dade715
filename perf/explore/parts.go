package explore

import (
	"context"
	"fmt"
	"html/template"
	"net/http"

	"presage/perf/frame"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/subject"
)

// partName is a part of the page that is computed when it is opened.
type partName struct{ Name, Caption string }

var partNames = []partName{
	{"tree", "Scope tree"},
	{"machines", "Machines compared"},
	{"source", "Source with its misses"},
	{"doubt", "Intervals and doubts"},
}

func (h *server) part(w http.ResponseWriter, r *http.Request) {
	v := h.view(w, r)
	if v == nil {
		return
	}
	var (
		name = r.PathValue("name")
		data any
		err  error
		with = "table"
	)
	switch name {
	case "tree":
		with = "tree"
		data, err = v.tree()
	case "source":
		with = "source"
		data, err = v.source()
	case "machines":
		data, err = v.machinesTable(r.Context())
	case "doubt":
		data, err = v.doubtTable(r.Context())
	default:
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, userText(err), http.StatusUnprocessableEntity)
		return
	}
	h.write(w, with, data)
}

// tableContent is a table in the page.
type tableContent struct {
	Note  string
	Table template.HTML
}

// MachineRow is the misses of the view's scope in a level of a machine.
type MachineRow struct {
	Machine  string  `frame:"machine"`
	Level    string  `frame:"level"`
	Capacity uint64  `frame:"capacity_bytes"`
	Ways     uint64  `frame:"ways"` // 0: fully associative
	Block    uint64  `frame:"block_bytes"`
	Misses   float64 `frame:"pred_misses"`
	Ratio    float64 `frame:"pred_miss_ratio"`
}

// Machines predicts the misses of the view's scope, at its size, in all levels of all
// machines of the session whose blocks were profiled.
func (v *View) Machines(ctx context.Context) ([]MachineRow, error) {
	s := v.session
	whole, err := s.model(ctx, &v.State, 0)
	if err != nil {
		return nil, err
	}
	byBlock := make(map[uint64]*misses.ScopedHistograms)
	var rows []MachineRow
	for _, m := range s.machines {
		for _, l := range s.levels(m) {
			if byBlock[l.BlockBytes] == nil {
				st := v.State
				st.Block = l.BlockBytes
				if byBlock[l.BlockBytes], err = s.scoped(whole, &st, st.At); err != nil {
					return nil, err
				}
			}
			h := byBlock[l.BlockBytes]
			i := h.Index(v.State.Scope)
			if i < 0 {
				return nil, fmt.Errorf("explore: no %s %q in the model of all blocks", v.State.By, v.State.Scope)
			}
			row := MachineRow{Machine: m.Name, Level: l.Name, Capacity: l.Blocks() * l.BlockBytes, Ways: l.Ways, Block: l.BlockBytes, Misses: h.Misses(i, l.Cache()).Total()}
			if l.Sets == 1 {
				row.Ways = 0
			}
			if h.Accesses[i] > 0 {
				row.Ratio = row.Misses / h.Accesses[i]
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func (v *View) machinesTable(ctx context.Context) (*tableContent, error) {
	rows, err := v.Machines(ctx)
	if err != nil {
		return nil, err
	}
	return &tableContent{
		fmt.Sprintf("%s %s at %s, in the levels as the machines have them.", v.State.By, v.State.Scope, v.session.at(&v.State, v.State.At)),
		template.HTML(frame.HTML(frame.Of(rows), 0)), // it escapes what is text
	}, nil
}

// Doubt predicts the view's misses with intervals, and what makes them doubtful.
func (v *View) Doubt(ctx context.Context) ([]misses.CacheRow, error) {
	st := &v.State
	whole, err := v.session.model(ctx, st, 0)
	if err != nil {
		return nil, err
	}
	of := misses.CacheSize{Name: st.Level, Capacity: st.Capacity, Ways: st.Ways, BlockBytes: st.Block}
	rows, err := misses.OfCaches(ctx, whole, misses.Query{
		By: st.By, Points: []subject.Point{v.session.at(st, st.At)}, Caches: []misses.CacheSize{of}, Method: st.Method,
		Listing: subject.Listing{Limit: maxDoubtRows},
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// maxDoubtRows are the scopes with the most misses that are shown with intervals.
const maxDoubtRows = 20

func (v *View) doubtTable(ctx context.Context) (*tableContent, error) {
	rows, err := v.Doubt(ctx)
	if err != nil {
		return nil, err
	}
	return &tableContent{
		fmt.Sprintf("Intervals are meant to hold the misses with a probability of %g%%.", 100*predict.DefaultLevel),
		template.HTML(frame.HTML(frame.Of(rows), 0)), // it escapes what is text
	}, nil
}
