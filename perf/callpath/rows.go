package callpath

import (
	"cmp"
	"slices"
	"strings"

	"presage/perf/internal/num"
	"presage/perf/subject"
)

// Path is a call path: routines, and the loops in them around the next call, the
// outermost first.
type Path struct {
	Path  string `frame:"call_path"` // the program, then elements, joined by Separator
	Scope string `frame:"scope"`     // the last element: the program, a routine, a loop of the one before
	Depth int    `frame:"depth"`     // of elements before it; 0: the program
}

// Simulated is the accesses and misses of a call path at a level of a machine, as
// simulated at a point. Inclusive are those of the path and all that go on from it.
type Simulated struct {
	Program string             `frame:"program"`
	Point   map[string]float64 `frame:",each"`
	Machine string             `frame:"machine"`
	Level   string             `frame:"level"`
	Path
	Accesses    float64 `frame:"sim_accesses"` // to blocks of the level's size
	Misses      float64 `frame:"sim_misses"`
	AllAccesses float64 `frame:"sim_accesses_inclusive"`
	AllMisses   float64 `frame:"sim_misses_inclusive"`
	Share       float64 `frame:"sim_miss_share"` // of AllMisses in the level's, from 0 to 1
	Warning     string  `frame:"sim_warning"`    // of the run; in the first row of a level
}

// Predicted is the accesses and misses of a call path at a level of a machine, as
// predicted at a point. All numbers are missing at a level that floating-point accesses
// bypass.
type Predicted struct {
	Program string             `frame:"program"`
	Point   map[string]float64 `frame:",each"`
	Machine string             `frame:"machine"`
	Level   string             `frame:"level"`
	Path
	Accesses    float64 `frame:"pred_accesses"`
	Misses      float64 `frame:"pred_misses"`
	AllAccesses float64 `frame:"pred_accesses_inclusive"`
	AllMisses   float64 `frame:"pred_misses_inclusive"`
	// Low and High are the sums of the intervals of what AllMisses has, wider than need
	// be; missing if none were asked for.
	Low     float64 `frame:"pred_misses_inclusive_low"`
	High    float64 `frame:"pred_misses_inclusive_high"`
	Share   float64 `frame:"pred_miss_share"` // of AllMisses in the level's, from 0 to 1
	Warning string  `frame:"pred_warning"`    // about what the path has by itself
}

// cost is what a path costs.
type cost struct{ accesses, misses, low, high float64 }

func (c *cost) add(o cost) {
	c.accesses += o.accesses
	c.misses += o.misses
	c.low += o.low
	c.high += o.high
}

// branch is a path with those that go on from it.
type branch struct {
	element
	own, all cost
	warnings []string
	on       map[element]*branch
}

// enter adds the cost of a path.
func (b *branch) enter(path []element, c cost, warning string) {
	b.all.add(c)
	for _, e := range path {
		if b.on == nil {
			b.on = make(map[element]*branch)
		}
		if b.on[e] == nil {
			b.on[e] = &branch{element: e}
		}
		b = b.on[e]
		b.all.add(c)
	}
	b.own.add(c)
	for w := range strings.SplitSeq(warning, "; ") {
		if w != "" && !slices.Contains(b.warnings, w) {
			b.warnings = append(b.warnings, w)
		}
	}
}

// sorted returns the branches that go on from one, those with the most misses first.
func (b *branch) sorted() []*branch {
	list := make([]*branch, 0, len(b.on))
	for _, on := range b.on {
		list = append(list, on)
	}
	slices.SortFunc(list, func(x, y *branch) int {
		by := cmp.Or(-cmp.Compare(x.all.misses, y.all.misses), -cmp.Compare(x.all.accesses, y.all.accesses), cmp.Compare(x.label, y.label))
		if by == 0 && x.loop != y.loop {
			return 1
		}
		return by
	})
	return list
}

// limit sums up the branches that a listing gives no row, as one beside their siblings.
// Those before a branch have its misses and more, so that no row is without them.
func (b *branch) limit(list subject.Listing) {
	if list == (subject.Listing{}) {
		return
	}
	var all []*branch
	var gather func(*branch)
	gather = func(x *branch) {
		for _, on := range x.sorted() {
			all = append(all, on)
			gather(on)
		}
	}
	gather(b)
	slices.SortStableFunc(all, func(x, y *branch) int { return -cmp.Compare(x.all.misses, y.all.misses) })
	kept := make(map[*branch]bool)
	for i, x := range all {
		if (list.Limit == 0 || i < list.Limit) && x.all.misses >= list.MinShare*b.all.misses {
			kept[x] = true
		}
	}
	b.prune(kept)
}

func (b *branch) prune(kept map[*branch]bool) {
	var rest *branch
	for _, on := range b.sorted() {
		if kept[on] {
			on.prune(kept)
			continue
		}
		delete(b.on, on.element)
		if rest == nil {
			rest = &branch{element: element{subject.OtherScopes, false}}
		}
		rest.own.add(on.all)
		rest.all.add(on.all)
		on.gather(rest)
	}
	if rest != nil {
		if old := b.on[rest.element]; old != nil { // what was joined before it was modelled
			rest.own.add(old.all)
			rest.all.add(old.all)
			old.gather(rest)
		}
		b.on[rest.element] = rest
	}
}

// gather adds the warnings of a branch and of those that go on from it to another.
func (b *branch) gather(to *branch) {
	for _, w := range b.warnings {
		if !slices.Contains(to.warnings, w) {
			to.warnings = append(to.warnings, w)
		}
	}
	for _, on := range b.sorted() {
		on.gather(to)
	}
}

// each calls f with each branch and its path, a branch before those that go on from it.
func (b *branch) each(before string, depth int, f func(*branch, Path)) {
	path := Path{before + b.label, b.label, depth}
	f(b, path)
	for _, on := range b.sorted() {
		on.each(path.Path+Separator, depth+1, f)
	}
}

// simulatedRows returns the rows of a level.
func (b *branch) simulatedRows(blank Simulated) []Simulated {
	var rows []Simulated
	b.each("", 0, func(x *branch, p Path) {
		r := blank
		r.Path, r.Accesses, r.Misses, r.AllAccesses, r.AllMisses = p, x.own.accesses, x.own.misses, x.all.accesses, x.all.misses
		r.Share = num.Ratio(r.AllMisses, b.all.misses)
		rows = append(rows, r)
		blank.Warning = ""
	})
	return rows
}

// predictedRows returns the rows of a level.
func (b *branch) predictedRows(blank Predicted) []Predicted {
	var rows []Predicted
	b.each("", 0, func(x *branch, p Path) {
		r := blank
		r.Path, r.Accesses, r.Misses, r.AllAccesses, r.AllMisses = p, x.own.accesses, x.own.misses, x.all.accesses, x.all.misses
		r.Low, r.High = x.all.low, x.all.high
		r.Share = num.Ratio(r.AllMisses, b.all.misses)
		r.Warning = strings.Join(x.warnings, "; ")
		rows = append(rows, r)
	})
	return rows
}
