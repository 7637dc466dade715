package access

import (
	"cmp"
	"slices"

	"presage/perf/cfg"
	"presage/perf/trace"
)

// Subject is one of several executables of one source, analysed and run.
type Subject struct {
	Analysis *Analysis
	Groups   *Groups
	Scopes   *cfg.ScopeTree
	Accesses []uint64 // by group: in the runs of it
}

// Matching says which groups of several executables of one source are the same
// source references, so that their histograms at different sizes can be compared.
// The executables differ in a compile-time constant and thus in sizes, strides,
// and how far the compiler unrolls, peels and inlines.
//
// Groups are distinguished in steps, from coarse to fine, as long as every
// executable has groups on both sides:
//
//	scope      routine, then loop by loop: see cfg.Alignment
//	movement   for each loop that holds them, from the innermost out: whether
//	           the stride is 0, other, irregular or indirect
//	access     which kinds, sizes and classes of registers occur
//	lines      of the source, where they are known
//	strides    their values, where constant, and the number of references
//	order      by address
//
// Groups that some executable lacks are merged: first with other groups of the
// same step without a counterpart (a loop completely unrolled in one executable
// becomes references of the enclosing loop, which the other lacks); then, if some
// executable still has nothing to match, with the groups that do match, up to the
// enclosing scope (a peeled iteration). So each histogram counts the same source
// accesses at all sizes, even where it no longer distinguishes them. Groups that
// still have no counterpart are in sets of their own that only some executables
// have: at most a thousandth of the accesses, or one set per routine.
//
// Every group is in exactly one set: totals are those of the runs.
type Matching struct {
	Subjects  []Subject
	Alignment *cfg.Alignment
	Sets      []MatchedSet
	Of        [][]int // by subject and group: index in Sets
}

// MatchKind says how sure it is that the groups of a set are the same references.
type MatchKind uint8

// The kinds of matches, from the surest.
const (
	// Paired: one group of each executable.
	Paired MatchKind = iota
	// Merged: groups of one loop or routine that move alike, but not as many in
	// each executable.
	Merged
	// Folded: groups of one routine or loop, and loops in it, that could not be
	// told apart any further.
	Folded
	// Unmatched: groups of one routine or loop with no counterpart in some
	// executable.
	Unmatched
)

var matchNames = [...]string{"paired", "merged", "folded", "unmatched"}

func (k MatchKind) String() string { return matchNames[k] }

// MatchedSet is a set of groups of several executables that count the same
// accesses of the source.
type MatchedSet struct {
	Kind   MatchKind
	Scope  int               // in Alignment.Scopes; the program's for references that no graph holds
	Groups [][]trace.GroupID // by subject, ascending
}

// negligible is the share of its executable's accesses up to which groups
// without a counterpart stay by themselves, so that the others keep theirs.
const negligible = 1e-3

// Match matches the groups of one or more executables.
func Match(subjects ...Subject) *Matching {
	trees := make([]*cfg.ScopeTree, len(subjects))
	for i := range subjects {
		trees[i] = subjects[i].Scopes
	}
	m := &matcher{subjects: subjects, align: cfg.Align(trees...), total: make([]float64, len(subjects))}
	m.place()
	root := &m.align.Scopes[0]
	for _, routine := range root.Children {
		sets, rest := m.inScope(routine, root)
		m.sets = append(m.sets, sets...)
		m.unmatched(rest, routine)
	}
	m.outside()
	return m.result()
}

// item is a group of a subject.
type item struct {
	subject int
	group   int
}

type matcher struct {
	subjects []Subject
	align    *cfg.Alignment
	total    []float64 // accesses of each subject
	direct   [][]item  // by aligned scope: groups of references directly in it
	alone    []item    // groups that no graph holds
	sets     []set
}

// set is a MatchedSet under construction.
type set struct {
	kind  MatchKind
	scope int
	items []item
}

// place finds the scope of each group.
func (m *matcher) place() {
	m.direct = make([][]item, len(m.align.Scopes))
	for s, sub := range m.subjects {
		for g, refs := range sub.Groups.Refs {
			r := &sub.Analysis.All[refs[0]]
			m.total[s] += float64(sub.Accesses[g])
			if !r.InGraph {
				m.alone = append(m.alone, item{s, g})
				continue
			}
			at := m.align.Of[s][sub.Scopes.Of(r.RoutineIndex, r.Block)]
			m.direct[at] = append(m.direct[at], item{s, g})
		}
	}
}

// inScope matches the groups of a scope and the scopes inside it. outer is the
// scope whose executables must all have every match; rest are the groups without a
// counterpart in some of them, and with nothing to be folded with.
func (m *matcher) inScope(scope int, outer *cfg.AlignedScope) (sets []set, rest []item) {
	s := &m.align.Scopes[scope]
	if !m.covers(scope, outer) {
		rest = append(rest, m.direct[scope]...)
		for _, c := range s.Children {
			inner, lost := m.inScope(c, outer)
			sets, rest = append(sets, inner...), append(rest, lost...)
		}
		return sets, rest
	}
	for _, c := range s.Children {
		inner, lost := m.inScope(c, s)
		sets, rest = append(sets, inner...), append(rest, lost...)
	}
	here := func(t int) bool { return s.Has(t) }
	direct, lost := m.refine(m.direct[scope], 0, scope, here)
	rest = append(rest, lost...)
	switch {
	case len(rest) == 0:
	case m.balanced(rest, here):
		sets, rest = append(sets, set{Folded, scope, rest}), nil
	case !m.matters(rest):
		sets, rest = append(sets, set{Unmatched, scope, rest}), nil
	default:
		all := slices.Clone(rest)
		for _, d := range direct {
			all = append(all, d.items...)
		}
		if m.balanced(all, here) {
			direct, rest = []set{{Folded, scope, all}}, nil
		}
	}
	return append(sets, direct...), rest
}

// covers reports whether every subject that has outer has the scope, too.
func (m *matcher) covers(scope int, outer *cfg.AlignedScope) bool {
	for t := range m.subjects {
		if outer.Has(t) && !m.align.Scopes[scope].Has(t) {
			return false
		}
	}
	return true
}

// balanced reports whether every wanted subject has some of the items.
func (m *matcher) balanced(items []item, wanted func(subject int) bool) bool {
	has := make([]bool, len(m.subjects))
	for _, it := range items {
		has[it.subject] = true
	}
	for t := range has {
		if wanted(t) && !has[t] {
			return false
		}
	}
	return true
}

// matters reports whether items are more than a negligible share of the accesses
// of some subject.
func (m *matcher) matters(items []item) bool {
	sum := make([]float64, len(m.subjects))
	for _, it := range items {
		sum[it.subject] += float64(m.subjects[it.subject].Accesses[it.group])
	}
	for t := range sum {
		if sum[t] > negligible*m.total[t] {
			return true
		}
	}
	return false
}

// refine distinguishes the groups of one scope by the steps from step on. rest are
// the groups without a counterpart; only the first step has any, because their
// counterparts may be elsewhere in the scope.
func (m *matcher) refine(items []item, step, scope int, wanted func(int) bool) (sets []set, rest []item) {
	if step == len(steps) {
		return m.pair(items, scope, wanted), nil
	}
	for _, same := range m.split(items, steps[step]) {
		if !m.balanced(same, wanted) {
			rest = append(rest, same...)
			continue
		}
		inner, _ := m.refine(same, step+1, scope, wanted)
		sets = append(sets, inner...)
	}
	if step == 0 || len(rest) == 0 {
		return sets, rest
	}
	switch {
	case m.balanced(rest, wanted) && step >= ordered:
		return append(sets, m.pair(rest, scope, wanted)...), nil
	case m.balanced(rest, wanted):
		return append(sets, set{Merged, scope, rest}), nil
	case !m.matters(rest):
		return append(sets, set{Unmatched, scope, rest}), nil
	}
	return []set{{Merged, scope, items}}, nil
}

// split puts items with the same key together, in order of first appearance.
func (m *matcher) split(items []item, key func(*Analysis, []int) string) [][]item {
	at := make(map[string]int)
	var out [][]item
	for _, it := range items {
		sub := &m.subjects[it.subject]
		k := key(sub.Analysis, sub.Groups.Refs[it.group])
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], it)
	}
	return out
}

// pair pairs groups in order if all subjects have the same number of them, or the
// same number that were accessed; otherwise it makes them one set.
func (m *matcher) pair(items []item, scope int, wanted func(int) bool) []set {
	if sets := m.inOrder(items, scope, wanted); sets != nil {
		return sets
	}
	var live, dead []item
	for _, it := range items {
		if m.subjects[it.subject].Accesses[it.group] > 0 {
			live = append(live, it)
		} else {
			dead = append(dead, it)
		}
	}
	if sets := m.inOrder(live, scope, wanted); sets != nil {
		sets[0].items = append(sets[0].items, dead...)
		return sets
	}
	return []set{{Merged, scope, items}}
}

func (m *matcher) inOrder(items []item, scope int, wanted func(int) bool) []set {
	by := make([][]item, len(m.subjects))
	for _, it := range items {
		by[it.subject] = append(by[it.subject], it)
	}
	n := -1
	for t := range by {
		switch {
		case !wanted(t) && len(by[t]) == 0:
		case n >= 0 && len(by[t]) != n:
			return nil
		default:
			n = len(by[t])
		}
	}
	if n <= 0 {
		return nil
	}
	sets := make([]set, n)
	for i := range sets {
		sets[i] = set{kind: Paired, scope: scope}
		for t := range by {
			if len(by[t]) > 0 {
				sets[i].items = append(sets[i].items, by[t][i])
			}
		}
	}
	return sets
}

// unmatched keeps what has no counterpart, one set for each routine.
func (m *matcher) unmatched(items []item, routine int) {
	if len(items) > 0 {
		m.sets = append(m.sets, set{Unmatched, routine, items})
	}
}

// outside matches groups that no graph holds, by routine and then as others.
func (m *matcher) outside() {
	all := func(int) bool { return true }
	byRoutine := func(a *Analysis, refs []int) string { return cfg.SourceName(a.All[refs[0]].Routine) }
	for _, same := range m.split(m.alone, byRoutine) {
		if !m.balanced(same, all) {
			m.unmatched(same, 0)
			continue
		}
		sets, rest := m.refine(same, 0, 0, all)
		m.sets = append(m.sets, sets...)
		m.unmatched(rest, 0)
	}
}

// result sorts the sets by the groups of the last subject that has them, starting
// with the last subject.
func (m *matcher) result() *Matching {
	out := &Matching{Subjects: m.subjects, Alignment: m.align, Of: make([][]int, len(m.subjects))}
	for t := range m.subjects {
		out.Of[t] = make([]int, len(m.subjects[t].Groups.Refs))
	}
	latest := func(s set) item {
		first := s.items[0]
		for _, it := range s.items {
			if it.subject > first.subject || it.subject == first.subject && it.group < first.group {
				first = it
			}
		}
		return first
	}
	slices.SortFunc(m.sets, func(a, b set) int {
		x, y := latest(a), latest(b)
		return cmp.Or(cmp.Compare(y.subject, x.subject), cmp.Compare(x.group, y.group))
	})
	for i, s := range m.sets {
		ms := MatchedSet{Kind: s.kind, Scope: s.scope, Groups: make([][]trace.GroupID, len(m.subjects))}
		for _, it := range s.items {
			ms.Groups[it.subject] = append(ms.Groups[it.subject], trace.GroupID(it.group))
			out.Of[it.subject][it.group] = i
		}
		for t := range ms.Groups {
			slices.Sort(ms.Groups[t])
		}
		out.Sets = append(out.Sets, ms)
	}
	return out
}
