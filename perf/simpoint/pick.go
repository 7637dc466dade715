package simpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"presage/perf/bbv"
)

// Result is a choice of simulation points.
type Result struct {
	K      int     // clusters
	Labels []int   // cluster of each interval; clusters count from 0, by their first interval (by the published program: in the order of their initial centres)
	Points []Point // by cluster, those that Options.Coverage leaves

	// Distances[i] is the distance of interval i from the centre of its
	// cluster, in the projected space.
	Distances []float64

	// Mismatch is half the sum of absolute differences between the blocks'
	// shares of instructions in the run and in the weighted points: 0 if the
	// points execute the same mix of code, 1 if they have none in common.
	Mismatch float64

	Trials   []Trial // by ascending K
	Starts   []Start // likewise
	Warnings []error
}

// Point is an interval that represents a cluster.
type Point struct {
	Interval int     // index
	Cluster  int     // that it stands for
	Weight   float64 // share of the run, from 0 to 1
	Distance float64 // from the centre of the cluster, in the projected space
}

// Trial is the result for one number of clusters.
type Trial struct {
	K         int     // asked for
	Found     int     // that k-means found: fewer if there are fewer different vectors
	Score     float64 // BIC of the best of the starts
	Variance  float64 // weighted mean of squared distances from centres
	Converged bool
}

// Start is one run of k-means.
type Start struct {
	K          int     // asked for
	Start      int     // which of the runs for K, from 0
	Score      float64 // BIC
	Distortion float64 // sum of squared distances from centres, weighted by weights of 1 on average
	Passes     int     // assignments of all intervals to the nearest centre; the last changed nothing if k-means has ended
}

// ErrIntervals is wrapped by the error for a run without intervals.
var ErrIntervals = errors.New("no intervals")

// Pick chooses simulation points for a run.
func Pick(ctx context.Context, v *bbv.Vectors, opt Options) (*Result, error) {
	if err := opt.fill(); err != nil {
		return nil, err
	}
	if v.Len() == 0 {
		return nil, fmt.Errorf("simpoint: %w", ErrIntervals)
	}
	if err := v.Check(); err != nil {
		return nil, fmt.Errorf("simpoint: %w", err)
	}
	for i := range v.Len() {
		if v.First[i] == v.First[i+1] {
			return nil, fmt.Errorf("simpoint: interval %d executes none of the blocks: its vector is empty", i)
		}
	}
	p, err := project(v, &opt)
	if err != nil {
		return nil, err
	}
	s := &search{ctx: ctx, p: p, opt: &opt, tried: make(map[int]*clustering), first: make(map[int]int)}
	best, err := s.run()
	if err != nil {
		return nil, fmt.Errorf("simpoint: %w", err)
	}
	r := s.result(best)
	r.Mismatch = mismatch(v, r.Points)
	return r, nil
}

// search tries numbers of clusters.
type search struct {
	ctx   context.Context
	p     *points
	opt   *Options
	tried map[int]*clustering
	first map[int]int // the number of starts before those of k, for the published program
	all   []Start
}

// run returns the clustering chosen.
func (s *search) run() (*clustering, error) {
	if k := s.opt.K; k > 0 {
		if err := s.try(k); err != nil {
			return nil, err
		}
		return s.tried[k], nil
	}
	if s.opt.Rules.published() {
		if err := s.runPublished(); err != nil {
			return nil, err
		}
		return s.tried[s.chosen()], nil
	}
	most := s.most()
	if s.opt.Search == All {
		all := make([]int, most)
		for i := range all {
			all[i] = i + 1
		}
		if err := s.try(all...); err != nil {
			return nil, err
		}
		return s.tried[s.chosen()], nil
	}
	if err := s.try(1, most); err != nil {
		return nil, err
	}
	for lo, hi := 1, most; hi-lo > 1; {
		mid := (lo + hi) / 2
		if err := s.try(mid); err != nil {
			return nil, err
		}
		if s.good(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return s.tried[s.chosen()], nil
}

// most returns the largest number of clusters that is tried by score: such that a
// cluster has two intervals on average. The score estimates the variance within
// clusters from n-k degrees of freedom; as these run out it grows without bound,
// whatever the intervals are, and with k = n the whole run would be chosen.
func (s *search) most() int { return min(s.opt.MaxK, max(1, s.p.n/2)) }

// good reports whether a number of clusters reaches the threshold.
func (s *search) good(k int) bool {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, c := range s.tried {
		lo, hi = min(lo, c.score), max(hi, c.score)
	}
	if math.IsInf(hi, 1) {
		return math.IsInf(s.tried[k].score, 1)
	}
	return s.tried[k].score >= lo+s.opt.Threshold*(hi-lo)
}

// chosen returns the smallest number of clusters that reaches the threshold.
func (s *search) chosen() int {
	best := 0
	for k := range s.tried {
		if s.good(k) && (best == 0 || k < best) {
			best = k
		}
	}
	return best
}

// try runs k-means from all starts for each of the numbers of clusters and
// keeps the best score of each, the first of equals.
func (s *search) try(numbers ...int) error {
	numbers = slices.DeleteFunc(slices.Compact(numbers), func(k int) bool { return s.tried[k] != nil })
	// Longest first, so that processors finish together.
	slices.SortFunc(numbers, func(a, b int) int { return b - a })
	starts := s.opt.Starts
	all, errs := make([]*clustering, len(numbers)*starts), make([]error, len(numbers)*starts)
	workers := s.opt.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	tasks := make(chan int)
	var wg sync.WaitGroup
	for range min(workers, len(all)) {
		wg.Go(func() {
			for i := range tasks {
				all[i], errs[i] = s.one(numbers[i/starts], i%starts)
			}
		})
	}
	for i := range all {
		tasks <- i
	}
	close(tasks)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return s.ctx.Err()
	}
	for i, c := range all {
		k := numbers[i/starts]
		s.all = append(s.all, Start{K: k, Start: i % starts, Score: c.score, Distortion: c.sse, Passes: c.iterations + 1})
		if s.tried[k] == nil || c.score > s.tried[k].score {
			s.tried[k] = c
		}
	}
	return nil
}

// one runs k-means once.
func (s *search) one(k, start int) (*clustering, error) {
	c, err := cluster(s.ctx, s.p, s.starts(k, start), s.opt.Iterations, s.opt.Rules)
	if err != nil {
		return nil, err
	}
	if s.opt.Rules.published() {
		c.score = c.bicPublished(s.p, k)
	} else {
		c.score = c.bic(s.p)
	}
	return c, nil
}

func (s *search) result(c *clustering) *Result {
	r := &Result{K: c.k, Labels: make([]int, s.p.n), Distances: make([]float64, s.p.n)}
	number := make([]int, c.k)
	next := 0
	for i, l := range c.label {
		if number[l] == 0 {
			next++
			number[l] = next
		}
		r.Labels[i] = number[l] - 1
		if s.opt.Rules.published() {
			r.Labels[i] = int(l)
		}
		r.Distances[i] = math.Sqrt(squared(s.p.row(i), c.centres[int(l)*s.p.stride:(int(l)+1)*s.p.stride]))
	}
	r.Points = represent(r, s.p.weight, s.opt)
	for k, t := range s.tried {
		r.Trials = append(r.Trials, Trial{K: k, Found: t.k, Score: t.score, Variance: t.sse / float64(s.p.n), Converged: t.converged})
	}
	slices.SortFunc(r.Trials, func(a, b Trial) int { return a.K - b.K })
	r.Starts = s.all
	slices.SortFunc(r.Starts, func(a, b Start) int { return cmp.Or(a.K-b.K, a.Start-b.Start) })
	r.Warnings = s.doubts(c)
	return r
}

// doubts returns warnings about the chosen clustering.
func (s *search) doubts(c *clustering) (list []error) {
	if !c.converged {
		list = append(list, fmt.Errorf("simpoint: k-means of %d clusters had not ended after %d iterations", c.k, c.iterations))
	}
	if s.opt.K > c.k {
		list = append(list, fmt.Errorf("simpoint: %d clusters asked for, and only %d intervals differ", s.opt.K, c.k))
	}
	if most := s.most(); s.opt.K == 0 && s.p.n > 1 && s.tried[most] == c {
		if most == s.opt.MaxK {
			list = append(list, fmt.Errorf("simpoint: the largest number of clusters tried, %d, was chosen: more may be better", most))
		} else {
			list = append(list, fmt.Errorf("simpoint: the largest number of clusters that %d intervals allow, %d, was chosen: take shorter intervals, or ask for a number of clusters", s.p.n, most))
		}
	}
	return list
}
