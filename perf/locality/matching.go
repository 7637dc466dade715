package locality

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/access"
	"presage/perf/frame"
	"presage/perf/internal/num"
	"presage/perf/reuse"
	"presage/perf/subject"
)

// Matching returns how the groups of references of runs of several executables
// correspond: a row for each executable and kind of match that occurs. Of one
// executable's runs, all are paired.
//
//   - executable: its file
//   - match: paired (one group of each executable), merged (groups of one loop
//     that move alike, not as many in each), folded (groups of one loop or
//     routine that could not be told apart any further), unmatched (some
//     executable has no such); see access.Matching
//   - groups: that were accessed
//   - accesses: of them, in all its runs
//   - share: of all its accesses, from 0 to 1
func (r *Runs) Matching() (dataframe.DataFrame, error) {
	c, err := r.Common()
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	type row struct {
		Program    string  `frame:"program"`
		Executable string  `frame:"executable"`
		Match      string  `frame:"match"`
		Groups     int     `frame:"groups"`
		Accesses   uint64  `frame:"accesses"`
		Share      float64 `frame:"share"`
	}
	var rows []row
	programs, of := r.Programs()
	for t, p := range programs {
		byKind := make(map[access.MatchKind]*row)
		total := uint64(0)
		for g := range p.Structure().Groups.Refs {
			n := uint64(0)
			for i := range r.Runs {
				if of[i] == t {
					n += accessesOf(r.Runs[i].Reuse[0], g)
				}
			}
			if n == 0 {
				continue
			}
			kind := access.Paired
			if c.Match != nil {
				kind = c.Match.Sets[c.Match.Of[t][g]].Kind
			}
			if byKind[kind] == nil {
				byKind[kind] = &row{Program: c.name, Executable: p.Name, Match: kind.String()}
			}
			byKind[kind].Groups++
			byKind[kind].Accesses += n
			total += n
		}
		for _, kind := range num.Keys(byKind) {
			byKind[kind].Share = num.Ratio(float64(byKind[kind].Accesses), float64(total))
			rows = append(rows, *byKind[kind])
		}
	}
	return frame.Of(rows), nil
}

// accessesOf returns how often a run accessed memory by the references of a
// group. It is exact for a sample, too.
func accessesOf(res *reuse.Result, group int) uint64 {
	switch {
	case group >= len(res.Groups): // left out of the plan
		return 0
	case res.Sample != nil:
		return res.Sample.Accesses[group]
	}
	return res.Groups[group].Accesses()
}

// doubted is how many names a warning lists.
const doubted = 3

// doubts say what of each executable could not be paired.
func (c *SharedGroups) doubts() []string {
	if c.Match == nil {
		return nil
	}
	var out []string
	for t, p := range c.programs {
		sub := &c.Match.Subjects[t]
		total := 0.0
		for _, n := range sub.Accesses {
			total += float64(n)
		}
		for _, d := range []struct {
			what  string
			kinds []access.MatchKind
		}{
			{"have no counterpart in some executable and are modelled by themselves", []access.MatchKind{access.Unmatched}},
			{"correspond to those of other executables only by loop or routine, and are modelled together (sizes that the compiler unrolls alike can be told apart)", []access.MatchKind{access.Merged, access.Folded}},
		} {
			groups, accesses := 0, 0.0
			where := make(map[string]float64)
			for i := range c.Match.Sets {
				set := &c.Match.Sets[i]
				if !slices.Contains(d.kinds, set.Kind) {
					continue
				}
				for _, g := range set.Groups[t] {
					if n := float64(sub.Accesses[g]); n > 0 {
						groups++
						accesses += n
						where[p.ScopeOf(subject.ByLoop, sub.Groups.Refs[g][0])] += n
					}
				}
			}
			if groups > 0 {
				out = append(out, fmt.Sprintf("%s: %d groups of references with %s of the accesses %s: %s",
					p.Name, groups, num.Percent(accesses/total), d.what, biggest(where, total)))
			}
		}
	}
	return out
}

// biggest lists the names with the largest values, and their shares.
func biggest(where map[string]float64, total float64) string {
	names := num.Keys(where)
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
