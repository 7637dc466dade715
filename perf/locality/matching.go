package locality

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"presage/perf/access"
	"presage/perf/internal/num"
	"presage/perf/reuse"
	"presage/perf/subject"
	"presage/perf/trace"
)

// Match is how far the groups of an executable correspond to those of others.
type Match struct {
	Program    string `frame:"program"`
	Executable string `frame:"executable"` // its file
	// Kind is paired (one group of each executable), merged (groups of one loop
	// that move alike, not as many in each), folded (groups of one loop or routine
	// that could not be told apart any further) or unmatched (some executable has
	// none); see access.Matching.
	Kind     string  `frame:"match"`
	Groups   int     `frame:"groups"`   // that were accessed
	Accesses uint64  `frame:"accesses"` // by them, in all runs of the executable
	Share    float64 `frame:"share"`    // of all accesses of the executable, from 0 to 1
}

// Matching returns how the groups of references of runs of several executables
// correspond: a row for each executable and kind of match that occurs. Of one
// executable's runs, all are paired.
func (r *Runs) Matching() ([]Match, error) {
	c, err := r.Common()
	if err != nil {
		return nil, err
	}
	var rows []Match
	made := r.programs()
	for t, p := range made.list {
		byKind := make(map[access.MatchKind]*Match)
		total := uint64(0)
		for g := range p.Outline().Groups.Refs {
			n := r.accessesBy(made.of, t, trace.GroupID(g))
			if n == 0 {
				continue
			}
			kind := access.Paired
			if c.match != nil {
				kind = c.match.Sets[c.match.Of[t][g]].Kind
			}
			if byKind[kind] == nil {
				byKind[kind] = &Match{Program: c.name, Executable: p.Name, Kind: kind.String()}
			}
			byKind[kind].Groups++
			byKind[kind].Accesses += n
			total += n
		}
		for _, kind := range slices.Sorted(maps.Keys(byKind)) {
			byKind[kind].Share = num.Ratio(float64(byKind[kind].Accesses), float64(total))
			rows = append(rows, *byKind[kind])
		}
	}
	return rows, nil
}

// accessesBy returns how often an executable, in all of its runs, accessed memory
// by the references of a group; madeBy is the executable that made each run.
func (r *Runs) accessesBy(madeBy []int, executable int, group trace.GroupID) uint64 {
	n := uint64(0)
	for i, by := range madeBy {
		if by == executable {
			n += accessesOf(r.Runs[i].Reuse[0], group)
		}
	}
	return n
}

// accessesOf returns how often a run accessed memory by the references of a
// group. It is exact for a sample, too.
func accessesOf(res *reuse.Result, group trace.GroupID) uint64 {
	switch {
	case int(group) >= len(res.Groups): // left out of the plan
		return 0
	case res.Sample != nil:
		return res.Sample.Accesses[group]
	}
	return res.Groups[group].Accesses()
}

// doubted is how many names a warning lists.
const doubted = 3

// doubts returns what of each executable could not be paired.
func (c *SharedGroups) doubts() []string {
	if c.match == nil {
		return nil
	}
	var out []string
	for t := range c.programs {
		for _, d := range []struct {
			what  string
			kinds []access.MatchKind
		}{
			{"have no counterpart in some executable and are modelled by themselves", []access.MatchKind{access.Unmatched}},
			{"correspond to those of other executables only by loop or routine, and are modelled together (sizes that the compiler unrolls alike can be told apart)", []access.MatchKind{access.Merged, access.Folded}},
		} {
			if text := c.doubt(t, d.what, d.kinds); text != "" {
				out = append(out, text)
			}
		}
	}
	return out
}

// doubt says, of the groups of an executable in sets of some kinds, what holds of
// them; it is empty if none was accessed.
func (c *SharedGroups) doubt(executable int, what string, kinds []access.MatchKind) string {
	p, sub := c.programs[executable], &c.match.Subjects[executable]
	total := 0.0
	for _, n := range sub.Accesses {
		total += float64(n)
	}
	groups, accesses := 0, 0.0
	where := make(map[string]float64)
	for i := range c.match.Sets {
		set := &c.match.Sets[i]
		if !slices.Contains(kinds, set.Kind) {
			continue
		}
		for _, g := range set.Groups[executable] {
			if n := float64(sub.Accesses[g]); n > 0 {
				groups++
				accesses += n
				where[p.ScopeOf(subject.ByLoop, subject.Ref(sub.Groups.Refs[g][0]))] += n
			}
		}
	}
	if groups == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %d groups of references with %s of the accesses %s: %s",
		p.Name, groups, num.Percent(accesses/total), what, biggest(where, total))
}

// biggest lists the names with the largest values, and their shares.
func biggest(where map[string]float64, total float64) string {
	names := slices.Sorted(maps.Keys(where))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(where[b], where[a]) })
	var list []string
	for _, name := range names[:min(doubted, len(names))] {
		list = append(list, fmt.Sprintf("%s (%s)", name, num.Percent(where[name]/total)))
	}
	if more := len(names) - doubted; more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, ", ")
}
