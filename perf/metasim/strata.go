package metasim

import (
	"fmt"

	"presage/perf/bbv"
	"presage/perf/simpoint"
	"presage/perf/trace"
)

// Stratum is a part of a history that is like a stretch: intervals of its cluster.
type Stratum struct {
	trace.Window
	Like int // index in Sample.Stretches
}

// Stratify returns the sample with those parts of its histories whose misses count,
// under WarmHistory with a given length: the intervals that are whole in the second
// half of a history, or anywhere in one that begins where the stretch before ends. The
// first half brings caches to what they would hold. labels are the clusters of the
// intervals, points those that the sample is of (simpoint.Result); intervals of
// clusters without a point do not count.
//
// A stretch is one interval of its cluster, and basic-block vectors, by which intervals
// are clustered, do not see data: misses of a cache of megabytes may come in bursts that
// it has no part in, or all of. A history is tens to hundreds of times as long, and
// simulated anyway.
func (s Sample) Stratify(v *bbv.Vectors, labels []int, points []simpoint.Point, length uint64) (Sample, error) {
	if len(labels) != v.Len() {
		return s, fmt.Errorf("metasim: clusters of %d intervals, and there are %d", len(labels), v.Len())
	}
	at := make(map[trace.Window]int, len(s.Stretches))
	for i := range s.Stretches {
		at[s.Stretches[i].Window] = i
	}
	like := make(map[int]int, len(points)) // by cluster
	for _, p := range points {
		if p.Interval < 0 || p.Interval >= v.Len() {
			return s, fmt.Errorf("metasim: a point at interval %d of %d: are the points of other vectors?", p.Interval, v.Len())
		}
		i, ok := at[interval(v, p.Interval)]
		if !ok {
			return s, fmt.Errorf("metasim: sample %q has no stretch at interval %d, which is a point", s.Name, p.Interval)
		}
		like[p.Cluster] = i
	}
	s.Strata = nil
	j := 0 // the next interval
	for _, h := range s.histories(length) {
		for ; j < v.Len() && v.Starts[j] < h.From; j++ {
		}
		for ; j < v.Len() && v.Starts[j]+v.Lengths[j] <= h.To; j++ {
			i, ok := like[labels[j]]
			if !ok {
				continue
			}
			w := interval(v, j)
			if n := len(s.Strata); n > 0 && s.Strata[n-1].To == w.From && s.Strata[n-1].Like == i {
				s.Strata[n-1].To = w.To
			} else {
				s.Strata = append(s.Strata, Stratum{w, i})
			}
		}
	}
	return s, s.check()
}

func interval(v *bbv.Vectors, i int) trace.Window {
	return trace.Window{From: v.Starts[i], To: v.Starts[i] + v.Lengths[i]}
}

// histories returns the parts of histories that count.
func (s *Sample) histories(length uint64) (list []trace.Window) {
	for _, g := range segmentsOf(&Sample{Stretches: s.Stretches}, &SimulateOptions{Warmup: WarmHistory, WarmLength: length}) {
		if !g.quick {
			continue
		}
		if g.fresh {
			g.From += (g.To - g.From) / 2
		}
		list = append(list, g.Window)
	}
	return list
}
