package locality

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"presage/perf/reuse"
	"presage/perf/trace"
)

// ErrNotConserved is wrapped by errors about runs whose accesses are not all in
// the groups that the runs have in common, each once.
var ErrNotConserved = errors.New("accesses are not conserved")

// Conserved returns an error that wraps ErrNotConserved unless, for each run and
// block size, every group of the run's histograms that was accessed is in exactly
// one of the groups that the runs have in common, so that their accesses add up to
// the run's. The error names the run, the routines and the accesses.
func (r *Runs) Conserved() error {
	c, err := r.Common()
	if err != nil {
		return err
	}
	return c.conserved(r)
}

func (c *SharedGroups) conserved(r *Runs) error {
	for i := range r.Runs {
		times := c.times(i, r.Runs[i].Reuse)
		for _, res := range r.Runs[i].Reuse {
			if err := r.Runs[i].conserves(res, times); err != nil {
				return err
			}
		}
	}
	return nil
}

// times returns how many of the common groups each group of a run's histograms is in.
func (c *SharedGroups) times(run int, results []*reuse.Result) []int {
	most := 0
	for _, res := range results {
		most = max(most, len(res.Groups))
	}
	times := make([]int, most)
	for g := range c.All() {
		for _, own := range c.OfRun(run, g) {
			if int(own) < most { // others were left out of the plan
				times[own]++
			}
		}
	}
	return times
}

// conserves returns an error unless the groups, each counted so many times, have
// the accesses of the result, and these are at least those that the engine
// counted: an access that straddles blocks is one to each.
func (run *Run) conserves(res *reuse.Result, times []int) error {
	got, all := uint64(0), uint64(0)
	wrong := make(map[string]uint64)
	for g := range res.Groups {
		id := trace.GroupID(g)
		n := AccessesOf(res, id)
		all += n
		got += n * uint64(times[id])
		if times[id] != 1 && n > 0 {
			wrong[run.routineOf(id)] += n
		}
	}
	where := fmt.Sprintf("perf: %s at %s, blocks of %d bytes", run.Program.Name, run.Point, res.BlockBytes)
	switch {
	case len(wrong) > 0:
		return fmt.Errorf("%s: %w: the run made %d and the groups of all runs have %d; %s. This is a defect: profile each executable by itself, and report it",
			where, ErrNotConserved, all, got, counts(wrong))
	case all != res.Accesses || all < run.Accesses:
		return fmt.Errorf("%s: %w: the histograms hold %d of %d accesses, and the run made %d. The profile is damaged: profile again into another folder, or with another store",
			where, ErrNotConserved, all, res.Accesses, run.Accesses)
	}
	return nil
}

// routineOf names the routine of a group's first reference.
func (run *Run) routineOf(id trace.GroupID) string {
	s := run.Program.Structure()
	if int(id) >= len(s.Groups.Refs) || len(s.Groups.Refs[id]) == 0 {
		return fmt.Sprintf("group %d, which the executable does not have", id)
	}
	return s.Access.All[s.Groups.Refs[id][0]].Routine
}

// counts lists the routines with the most accesses.
func counts(of map[string]uint64) string {
	names := slices.Sorted(maps.Keys(of))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(of[b], of[a]) })
	var list []string
	for _, name := range names[:min(doubted, len(names))] {
		list = append(list, fmt.Sprintf("%s (%d accesses)", name, of[name]))
	}
	if more := len(names) - doubted; more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return "in no group, or in several: " + strings.Join(list, ", ")
}
