package explore

import (
	"fmt"
	"html/template"
	"maps"
	"path"
	"slices"
	"strings"

	"presage/perf/cfg"
	"presage/perf/locality"
	"presage/perf/subject"
)

// leastShare is what a scope must have of the misses to be a row of the tree.
const leastShare = 0.001

// TreeRow is a scope of the program with its misses, those of the scopes inside
// included.
type TreeRow struct {
	Depth  int // 0: the program
	Name   string
	By     subject.Scope
	Scope  string
	Misses float64
	Share  float64
	Own    bool // references of its own, outside of the scopes inside; routines have those inside, too
}

// Tree returns the program's scopes in the order of the program, without those that
// have less than a thousandth of the misses at the size to predict.
func (v *View) Tree() ([]TreeRow, error) {
	st := v.State
	st.By = subject.ByLoop
	h, err := v.session.scoped(v.model, &st, st.At)
	if err != nil {
		return nil, err
	}
	common, err := v.session.runs.Common()
	if err != nil {
		return nil, err
	}
	places := make(map[string]locality.Place)
	for p := range locality.Place(common.Places()) {
		if name := common.NameAt(subject.ByLoop, p); name != "" {
			if _, ok := places[name]; !ok {
				places[name] = p
			}
		}
	}
	sums := make([]float64, common.Places())
	apart := make(map[string]float64) // in no control-flow graph
	for i, name := range h.Names {
		m := h.Misses(i, st.cache()).Total()
		p, ok := places[name]
		if !ok {
			apart[name] += m
			sums[0] += m
			continue
		}
		for ; p >= 0; p = common.Outer(p) {
			sums[p] += m
		}
	}
	rows := treeRows(common, sums, apart)
	for i, r := range rows {
		rows[i].Own = r.By != subject.ByLoop || h.Index(r.Scope) >= 0
	}
	return rows, nil
}

func treeRows(common *locality.SharedGroups, sums []float64, apart map[string]float64) []TreeRow {
	var rows []TreeRow
	depth := make([]int, len(sums))
	for p := range locality.Place(len(sums)) {
		by := subject.ByLoop
		name := common.NameAt(subject.ByLoop, p)
		switch {
		case p == 0:
			by, name = subject.ByProgram, common.NameAt(subject.ByProgram, 0)
		case common.KindOf(p) != cfg.LoopScope:
			by = subject.ByRoutine
		}
		if p > 0 {
			depth[p] = depth[common.Outer(p)] + 1
		}
		if sums[p] < leastShare*sums[0] || sums[p] == 0 {
			continue
		}
		label := name
		if by == subject.ByLoop {
			label = name[strings.LastIndex(name, "/")+1:]
		}
		rows = append(rows, TreeRow{Depth: depth[p], Name: label, By: by, Scope: name, Misses: sums[p], Share: sums[p] / sums[0]})
	}
	for _, name := range slices.Sorted(maps.Keys(apart)) {
		if m := apart[name]; m >= leastShare*sums[0] && m > 0 {
			rows = append(rows, TreeRow{Depth: 1, Name: name, By: subject.ByRoutine, Scope: name, Misses: m, Share: m / sums[0]})
		}
	}
	return rows
}

// treeContent is the tree in the page.
type treeContent struct {
	At    string
	Least float64
	Rows  []treeLink
}

type treeLink struct {
	TreeRow
	Query   template.URL
	Indent  float64
	Current bool
}

func (v *View) tree() (*treeContent, error) {
	rows, err := v.Tree()
	if err != nil {
		return nil, err
	}
	c := &treeContent{At: v.session.at(&v.State, v.State.At).String(), Least: leastShare}
	for _, r := range rows {
		st := v.State
		st.By, st.Scope = r.By, r.Scope
		c.Rows = append(c.Rows, treeLink{r, template.URL(v.session.Query(st)), 0.4 + 1.1*float64(r.Depth), r.By == v.State.By && r.Scope == v.State.Scope})
	}
	return c, nil
}

// shortFile is the last two parts of a path.
func shortFile(file string) string {
	dir, base := path.Split(file)
	if dir = path.Base(dir); dir == "." || dir == "/" {
		return base
	}
	return fmt.Sprintf("%s/%s", dir, base)
}
