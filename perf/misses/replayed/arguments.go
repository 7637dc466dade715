package replayed

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"presage/perf/locality"
	"presage/perf/subject"
)

// sweep is how the runs of profiles differ: in one parameter, whose value stands in
// their arguments.
type sweep struct {
	name  string
	sizes []int64 // ascending
	runs  []*locality.Run
	index []int  // of each, in locality.Runs
	parts []part // the arguments

	// apart says that each size has an executable of its own, so that there is none
	// to be run at another size.
	apart bool
}

// part is an argument: a constant, or the value between a prefix and a suffix.
type part struct {
	prefix, suffix string
	varies         bool
}

// errSizes means that the runs are not a sweep of one whole number.
var errSizes = errors.New("replays need runs that differ in one parameter, a whole number")

// sweepOf returns how runs differ, or why they cannot be replayed.
func sweepOf(runs *locality.Runs) (*sweep, error) {
	s := &sweep{apart: runs.Matched()}
	at := make(map[int64]int)
	for i := range runs.Runs {
		run := &runs.Runs[i]
		names := run.Point.Names()
		if len(names) != 1 || s.name != "" && names[0] != s.name {
			return nil, errSizes
		}
		s.name = names[0]
		n, ok := whole(run.Point[s.name])
		if !ok {
			return nil, errSizes
		}
		if _, twice := at[n]; twice {
			return nil, errSizes
		}
		s.sizes = append(s.sizes, n)
		at[n] = i
	}
	slices.Sort(s.sizes)
	for _, n := range s.sizes {
		s.runs, s.index = append(s.runs, &runs.Runs[at[n]]), append(s.index, at[n])
	}
	if s.apart && !s.sized() {
		return s, nil
	}
	return s, s.findParts()
}

// whole returns v if it is a whole number that a loop can count to.
func whole(v float64) (int64, bool) {
	return int64(v), v == math.Trunc(v) && math.Abs(v) < 1<<31
}

// sized reports whether the arguments of runs differ; otherwise they are the same at all
// sizes.
func (s *sweep) sized() bool {
	for _, r := range s.runs {
		if !slices.Equal(r.Args, s.runs[0].Args) {
			return true
		}
	}
	for _, a := range s.runs[0].Args {
		s.parts = append(s.parts, part{prefix: a})
	}
	return false
}

// findParts finds where in the arguments the size stands.
func (s *sweep) findParts() error {
	for i := range s.runs[0].Args {
		p, ok := s.part(i)
		if !ok {
			return fmt.Errorf("argument %d of the runs does not hold the value of %s alone", i+1, s.name)
		}
		s.parts = append(s.parts, p)
	}
	if !slices.ContainsFunc(s.parts, func(p part) bool { return p.varies }) {
		return fmt.Errorf("no argument of the runs holds the value of %s", s.name)
	}
	return nil
}

// part returns argument i of all runs.
func (s *sweep) part(i int) (part, bool) {
	same := true
	for _, r := range s.runs {
		if len(r.Args) != len(s.runs[0].Args) {
			return part{}, false
		}
		same = same && r.Args[i] == s.runs[0].Args[i]
	}
	if same {
		return part{prefix: s.runs[0].Args[i]}, true
	}
	first, value := s.runs[0].Args[i], strconv.FormatInt(s.sizes[0], 10)
	for at := 0; at+len(value) <= len(first); at++ {
		if first[at:at+len(value)] != value {
			continue
		}
		p := part{prefix: first[:at], suffix: first[at+len(value):], varies: true}
		if s.fits(i, p) {
			return p, true
		}
	}
	return part{}, false
}

func (s *sweep) fits(i int, p part) bool {
	for k, r := range s.runs {
		if r.Args[i] != p.at(s.sizes[k]) {
			return false
		}
	}
	return true
}

func (p part) at(n int64) string {
	if !p.varies {
		return p.prefix
	}
	return p.prefix + strconv.FormatInt(n, 10) + p.suffix
}

// inputs returns those of a run of an executable at size n: as of the others, except for
// the arguments.
func (s *sweep) inputs(prog *subject.Program, n int64) (subject.Inputs, error) {
	args := make([]string, len(s.parts))
	for i, p := range s.parts {
		args[i] = p.at(n)
	}
	return prog.InputsOf(args, optionsOf(s.runs[len(s.runs)-1]))
}

// optionsOf returns the options that give a run's inputs back.
func optionsOf(r *locality.Run) subject.RunOptions {
	return r.Recorded.Inputs.Options()
}

// staleError says that files that a command reads are not those that were profiled.
type staleError struct{ command string }

func (e *staleError) Error() string {
	return fmt.Sprintf("files that %s reads have changed since it was profiled; profile again", e.command)
}

// stale returns an error if files that the runs read have changed since.
func (s *sweep) stale() error {
	for _, r := range s.runs {
		in, err := r.Program.InputsOf(r.Args, optionsOf(r))
		if err != nil {
			return err
		}
		if !slices.Equal(in.Files, r.Recorded.Inputs.Files) {
			return &staleError{strings.Join(append([]string{r.Program.Name}, r.Args...), " ")}
		}
	}
	return nil
}
