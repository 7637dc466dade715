package infer

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
)

// SearchOptions configures a search. The zero value has the documented
// defaults.
type SearchOptions struct {
	Population  int     // candidates of a generation; 0: 100
	Generations int     // 0: 20, as in 2012, section 4.2
	Elite       float64 // share of a generation that survives unchanged, the N% of 2012; 0: 0.1

	// Folds is the number of parts into which each application's rows are
	// divided. Each part judges fits to the others, so all rows are used; the
	// split of 2012, section 3.3, is one of these, drawn anew every time. 0: 3.
	Folds int

	// OwnWeight is the weight of the training rows of the application under
	// evaluation, relative to those of the others; 0: 1.
	OwnWeight float64

	// Joint fits once for each fold, to the other folds of all applications, in place
	// of once for each fold of each application. With many terms, of which a fit takes
	// the time of the third power, that is what a search can afford. Models are fitted
	// by Ridge, which must be positive; OwnWeight has no use.
	Joint bool

	// Powers is the largest power of variables that interact; 0: 1.
	Powers int

	// Hierarchical lets only variables interact that are in the model by themselves
	// (strong heredity: Chipman, Canadian Journal of Statistics 24, 1996); others lose
	// their interactions when they leave it.
	Hierarchical bool

	Scaling Scaling // as in FitOptions
	Ridge   float64 // as in FitOptions
	Basis   *Basis  // as in FitOptions

	Seed    uint64
	Workers int // goroutines; 0: as many as there are processors

	// Start lists specs for the first generation, beside random ones: the best
	// of an earlier search, for an update.
	Start []Spec

	// Progress is called after each generation, Save with its State, from which
	// Resume continues with the same result as without interruption. An error
	// of Save ends the search. Resume needs the same table and options.
	Progress func(Generation)
	Save     func(*State) error
	Resume   *State
}

// Candidate is a spec with its fitness.
type Candidate struct {
	Spec   Spec
	Error  float64   // mean of Errors; less is fitter
	Errors []float64 // median relative error on each application's rows, in the order of State.Groups
}

// Generation reports the progress of a search.
type Generation struct {
	Number int     // from 0, the random ones
	Best   float64 // sum of the median errors of the fittest, as in Figure 5 of 2012
	Median float64 // the same for the median candidate
	Terms  int     // of the fittest, the constant among them
}

// State is a search between two generations. It is plain data and can be stored
// as JSON.
type State struct {
	Groups     []string
	Population []Candidate // the fittest first
	History    []Generation
}

// Best returns the fittest candidate.
func (s *State) Best() Candidate { return s.Population[0] }

// Streams of random numbers derived from one seed.
const (
	splitStream = iota
	breedStream

	// thinStream is far from those of generations, which follow breedStream.
	thinStream = 1 << 32
)

func (o SearchOptions) withDefaults() (SearchOptions, error) {
	o.Population = cmp.Or(o.Population, 100)
	o.Generations = cmp.Or(o.Generations, 20)
	o.Elite = cmp.Or(o.Elite, 0.1)
	o.Folds = cmp.Or(o.Folds, 3)
	o.OwnWeight = cmp.Or(o.OwnWeight, 1)
	o.Powers = cmp.Or(o.Powers, 1)
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	switch {
	case o.Population < 2 || o.Generations < 0 || o.Workers < 1:
		return o, fmt.Errorf("infer: a search of %d generations of %d candidates by %d workers; at least two candidates are needed and one worker", o.Generations, o.Population, o.Workers)
	case !(o.Elite > 0 && o.Elite < 1):
		return o, fmt.Errorf("infer: the elite is %g of a generation; it is a share between 0 and 1", o.Elite)
	case o.Folds < 2:
		return o, fmt.Errorf("infer: %d folds; two at least are needed, to fit and to check", o.Folds)
	case !(o.OwnWeight > 0) || !finite(o.OwnWeight):
		return o, fmt.Errorf("infer: the weight of an application's own rows is %g, not positive", o.OwnWeight)
	case o.Joint && (o.OwnWeight != 1 || o.Ridge == 0):
		return o, fmt.Errorf("infer: a joint search with own rows of weight %g and a ridge of %g; the weight is 1, and the ridge is positive", o.OwnWeight, o.Ridge)
	case !(o.Ridge >= 0) || !finite(o.Ridge):
		return o, fmt.Errorf("infer: the ridge is %g; it is not negative", o.Ridge)
	case o.Powers < 1 || o.Powers > MaxInteractionPower:
		return o, fmt.Errorf("infer: the power of interactions is %d; it is 1 to %d", o.Powers, MaxInteractionPower)
	}
	return o, nil
}

// Search finds the spec whose fits are most accurate on average over the
// applications (groups) of a table, by the genetic algorithm of 2012, sections
// 3.3 and 3.4: each candidate is fitted once for each application, to the rows
// of the others and most of its own, and judged by the median relative error on
// the rest. The best survive; the others are bred from them.
//
// The same table, options and seed give the same result, whatever the number of
// workers.
func Search(ctx context.Context, t *Table, opt SearchOptions) (*State, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	e, err := newEvaluator(t, opt)
	if err != nil {
		return nil, err
	}
	s := &search{evaluator: e, opt: opt, breeder: breeder{len(t.Names), opt.Powers, opt.Hierarchical}}
	return s.run(ctx)
}

type search struct {
	*evaluator
	opt     SearchOptions
	breeder breeder
}

func (s *search) run(ctx context.Context) (*State, error) {
	state := s.opt.Resume
	if state == nil {
		state = new(State)
		state.Groups = s.groups
	} else if err := s.resumable(state); err != nil {
		return nil, err
	}
	for number := len(state.History); number <= s.opt.Generations; number++ {
		rng := rand.New(rand.NewPCG(s.opt.Seed, breedStream+uint64(number)))
		next := s.next(rng, state.Population)
		if err := s.evaluate(ctx, next); err != nil {
			return nil, err
		}
		slices.SortStableFunc(next, func(a, b Candidate) int { return cmp.Compare(a.Error, b.Error) })
		g := s.generation(number, next)
		state = &State{Groups: state.Groups, Population: next, History: append(slices.Clone(state.History), g)}
		if s.opt.Progress != nil {
			s.opt.Progress(g)
		}
		if s.opt.Save != nil {
			if err := s.opt.Save(state); err != nil {
				return nil, fmt.Errorf("infer: search: %w", err)
			}
		}
	}
	return state, nil
}

func (s *search) resumable(state *State) error {
	if !slices.Equal(s.groups, state.Groups) || len(state.Population) != s.opt.Population {
		return fmt.Errorf("infer: a search of %d candidates over the groups %v cannot go on with the %d over %v of another", s.opt.Population, s.groups, len(state.Population), state.Groups)
	}
	for _, c := range state.Population {
		if err := c.Spec.Check(s.breeder.variables); err != nil {
			return err
		}
	}
	return nil
}

// next returns a generation: the first is random, later ones are bred from the
// one before, whose elite survives with its fitness.
func (s *search) next(rng *rand.Rand, before []Candidate) []Candidate {
	var list []Candidate
	if before == nil {
		for _, spec := range s.opt.Start {
			if len(list) < s.opt.Population {
				spec = spec.Clone()
				s.breeder.normal(&spec)
				list = append(list, Candidate{Spec: spec})
			}
		}
		for len(list) < s.opt.Population {
			list = append(list, Candidate{Spec: s.breeder.random(rng)})
		}
		return list
	}
	elite := max(1, int(math.Round(s.opt.Elite*float64(len(before)))))
	list = append(list, before[:elite]...)
	for len(list) < s.opt.Population {
		a, b := tournament(rng, before), tournament(rng, before)
		list = append(list, Candidate{Spec: s.breeder.child(rng, a, b)})
	}
	return list
}

// tournament returns the fitter of two candidates drawn at random; before is
// sorted by fitness.
func tournament(rng *rand.Rand, before []Candidate) Spec {
	return before[min(rng.IntN(len(before)), rng.IntN(len(before)))].Spec
}

// evaluate computes the fitness of the candidates without one, in parallel.
func (s *search) evaluate(ctx context.Context, list []Candidate) error {
	work := make(chan *Candidate)
	var wg sync.WaitGroup
	for range s.opt.Workers {
		wg.Go(func() {
			var m scratch
			for c := range work {
				c.Errors = s.errorsOf(c.Spec, &m)
				for _, e := range c.Errors {
					c.Error += e / float64(len(c.Errors))
				}
			}
		})
	}
	for i := range list {
		if list[i].Errors == nil && ctx.Err() == nil {
			work <- &list[i]
		}
	}
	close(work)
	wg.Wait()
	return ctx.Err()
}

func (s *search) generation(number int, list []Candidate) Generation {
	groups := float64(len(s.groups))
	return Generation{
		Number: number, Best: list[0].Error * groups, Median: list[len(list)/2].Error * groups,
		Terms: len(s.basis.Terms(list[0].Spec)),
	}
}
