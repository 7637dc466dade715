package slurm

import (
	"cmp"
	"math/bits"
	"slices"

	"presage/perf/campaign"
)

// probes is how many jobs of a kind are done first, a task for each, if it is not known
// how long they take.
const probes = 8

// chunks packs waiting jobs into tasks of about target seconds, and these into arrays of
// at most largest tasks with the same needs. Jobs of a kind that none has been measured
// of are tasks of their own, and all but the first probes of them go on waiting; none of
// them is taken while others are on their way. Jobs that a process died of are tasks of
// their own. No more than room tasks are packed.
func chunks(waiting []*job, times campaign.Times, underWay map[string]bool, target float64, largest, room int) []plan {
	groups := make(map[campaign.Needs]*packer)
	probed := make(map[string]int)
	var order []*packer
	for _, j := range waiting {
		if room <= 0 {
			break
		}
		seconds, known := times.Mean(j.Kind)
		if !known {
			if underWay[j.Kind] || probed[j.Kind] == probes {
				continue
			}
			probed[j.Kind]++
			seconds = target
		}
		if j.deaths > 0 {
			seconds = target
		}
		needs := rounded(j.needs)
		p := groups[needs]
		if p == nil {
			p = &packer{needs: needs, target: target}
			groups[needs] = p
			order = append(order, p)
		}
		if p.add(j.mark, seconds) {
			room--
		}
	}
	var out []plan
	for _, p := range order {
		for part := range slices.Chunk(p.tasks, largest) {
			out = append(out, plan{p.needs, part})
		}
	}
	return out
}

// packer packs jobs of the same needs.
type packer struct {
	needs  campaign.Needs
	target float64
	tasks  [][]string
	filled float64 // seconds of the last task
}

// add adds a job to the last task, or to a new one, and reports which.
func (p *packer) add(mark string, seconds float64) (fresh bool) {
	if len(p.tasks) == 0 || p.filled+seconds > p.target {
		p.tasks, p.filled, fresh = append(p.tasks, nil), 0, true
	}
	last := len(p.tasks) - 1
	p.tasks[last], p.filled = append(p.tasks[last], mark), p.filled+seconds
	return fresh
}

// rounded returns needs with the memory rounded up to a power of two, so that few
// arrays hold many jobs.
func rounded(n campaign.Needs) campaign.Needs {
	n = n.WithDefaults()
	n.Memory = max(1<<28, uint64(1)<<bits.Len64(n.Memory-1))
	n.Cores = cmp.Or(n.Cores, 1)
	return n
}
