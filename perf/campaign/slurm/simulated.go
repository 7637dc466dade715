package slurm

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"strconv"

	"presage/perf/campaign"
)

// forecaster simulates a campaign: the submitting process, which looks now and then, the
// scheduler, the tasks on their cores, and the shared file system, which serves one
// operation after the other.
type forecaster struct {
	load    *Load
	cluster *Cluster
	config  *Config

	now      float64
	events   eventQueue
	jobs     []*job // that are not submitted, in their order
	times    campaign.Times
	ended    []float64 // times of jobs that have ended since the last look
	flight   int       // jobs submitted that have not ended, as the submitter knows
	open     int       // tasks submitted that are not over, as the submitter knows
	over     int       // tasks that ended since the last look
	queue    []*simulatedTask
	slots    int     // tasks for which there are cores on a node
	starting float64 // when Slurm can start the next task
	served   float64 // when the file system is free
	next     int     // of Load.Seconds

	running, most, arrays, tasks int
	operations, work, bytes      float64
}

// simulatedTask is a task whose jobs are done one after the other.
type simulatedTask struct{ left int }

// event is something that happens to a task at a time.
type event struct {
	at      float64
	what    happening
	task    *simulatedTask
	seconds float64 // that the job took
}

type happening int

const (
	starts   happening = iota // the task
	begins                    // the task's first job
	computed                  // a job; its result is to be kept
	kept                      // a job's result
	released                  // the task's cores
)

// eventQueue is a heap of events by time.
type eventQueue []event

func (q eventQueue) Len() int           { return len(q) }
func (q eventQueue) Less(i, j int) bool { return q[i].at < q[j].at }
func (q eventQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *eventQueue) Push(e any)        { *q = append(*q, e.(event)) }
func (q *eventQueue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	*q = (*q)[:last]
	return e
}

// forecastKind is the kind of a forecast's jobs.
const forecastKind = "forecast"

func newForecaster(load *Load, cluster *Cluster, config *Config) *forecaster {
	s := &forecaster{load: load, cluster: cluster, config: config, times: make(campaign.Times)}
	needs := campaign.Needs{Cores: load.Cores}.WithDefaults()
	s.slots = cluster.Nodes * (cluster.Cores / needs.Cores) // no task spreads over nodes
	if load.Measured {
		for _, v := range load.Seconds {
			s.times.Add(forecastKind, v)
		}
	}
	shared := &campaign.Job{Kind: forecastKind}
	s.jobs = make([]*job, load.Jobs)
	for i := range s.jobs {
		s.jobs[i] = &job{Job: shared, mark: strconv.Itoa(i), needs: needs}
	}
	entry := cmp.Or(load.Entry, DefaultEntry)
	// The list of jobs and those of tasks have a line for each, journals two short ones,
	// plans a mark.
	s.bytes = float64(load.Jobs) * (2*entry + journalBytes + cmp.Or(load.Result, DefaultResult))
	s.operations = float64(load.Jobs) // is it there?
	return s
}

// journalBytes is what the two lines of a job in journals and its mark in plans take.
const journalBytes = 450

// run simulates the campaign to its end.
func (s *forecaster) run(ctx context.Context) error {
	poll := cmp.Or(s.cluster.Poll, DefaultPoll.Seconds())
	for look := 0.0; ; look = s.now + poll {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.until(look)
		s.look()
		s.submit()
		if len(s.jobs) == 0 && s.flight == 0 {
			return nil
		}
	}
}

// until simulates what happens up to a time.
func (s *forecaster) until(at float64) {
	for len(s.events) > 0 && s.events[0].at <= at {
		e := heap.Pop(&s.events).(event)
		s.now = e.at
		switch e.what {
		case starts:
			heap.Push(&s.events, event{at: s.serve(s.now, taskOperations), what: begins, task: e.task})
		case begins:
			s.beginJob(e.task)
		case computed:
			heap.Push(&s.events, event{s.serve(s.now, jobOperations-1), kept, e.task, e.seconds})
		case kept:
			s.endJob(&e)
		case released:
			s.slots++
			s.start()
		}
	}
	s.now = at
}

// beginJob begins a task's next job.
func (s *forecaster) beginJob(t *simulatedTask) {
	seconds := s.load.Seconds[s.next%len(s.load.Seconds)]
	s.next++
	s.work += seconds
	heap.Push(&s.events, event{s.now + seconds, computed, t, seconds})
}

// endJob notes that a job has ended. The next one of its task begins, or one of another.
func (s *forecaster) endJob(e *event) {
	s.ended = append(s.ended, e.seconds)
	if e.task.left--; e.task.left > 0 {
		s.beginJob(e.task)
		return
	}
	s.running--
	s.over++
	heap.Push(&s.events, event{at: s.now + s.cluster.Release, what: released})
}

// serve returns when operations on files are done that are asked for at a time.
func (s *forecaster) serve(at, operations float64) float64 {
	s.operations += operations
	if s.cluster.Operations == 0 {
		return at
	}
	s.served = math.Max(at, s.served) + operations/s.cluster.Operations
	return s.served
}

// look is the submitting process learning what has ended.
func (s *forecaster) look() {
	s.now = s.serve(s.now+s.cluster.Submit, lookOperations*float64(s.open))
	for _, seconds := range s.ended {
		s.times.Add(forecastKind, seconds)
	}
	s.flight -= len(s.ended)
	s.open -= s.over
	s.ended, s.over = s.ended[:0], 0
}

// submit has tasks queued that the executor would submit now.
func (s *forecaster) submit() {
	underWay := map[string]bool{forecastKind: s.flight > 0}
	room := cmp.Or(s.config.Tasks, DefaultTasks) - s.open
	target := cmp.Or(s.config.Target, DefaultTarget)
	for _, p := range chunks(s.jobs, s.times, underWay, target, cmp.Or(s.cluster.ArraySize, 1000), room) {
		s.arrays++
		s.now += s.cluster.Submit
		for _, marks := range p.Tasks {
			s.queue = append(s.queue, &simulatedTask{len(marks)})
			s.jobs = s.jobs[len(marks):] // of one kind and with the same needs: in their order
			s.flight += len(marks)
			s.open++
			s.tasks++
		}
	}
	s.start()
}

// start has Slurm start tasks for which there is room on a node.
func (s *forecaster) start() {
	for len(s.queue) > 0 && s.slots > 0 {
		if s.config.Running > 0 && s.running >= s.config.Running {
			return
		}
		t := s.queue[0]
		s.queue = s.queue[1:]
		s.slots--
		s.running++
		s.most = max(s.most, s.running)
		begin := math.Max(s.now, s.starting)
		if s.cluster.Rate > 0 {
			s.starting = begin + 1/s.cluster.Rate
		}
		heap.Push(&s.events, event{at: begin + s.cluster.Begin, what: starts, task: t})
	}
}

// prediction returns what was simulated.
func (s *forecaster) prediction() Prediction {
	cores := float64(s.cluster.Nodes * s.cluster.Cores)
	p := Prediction{
		Jobs: s.load.Jobs, Nodes: s.cluster.Nodes, Seconds: s.now,
		Running: s.most, Arrays: s.arrays, Tasks: s.tasks,
		// Of a job its results; of a task its jobs, journal and output; of an array its
		// plan and ID; of the campaign its jobs, manifest, times and executable.
		Files: s.load.Jobs + 3*s.tasks + 2*s.arrays + 4,
		Bytes: s.bytes, Operations: s.operations,
	}
	if s.now > 0 {
		p.Busy = s.work * float64(max(1, s.load.Cores)) / (cores * s.now)
		p.OperationsPS = s.operations / s.now
	}
	return p
}
