package main

import (
	"fmt"
	"io"
	"math/bits"
)

// event is the end of a service.
type event struct {
	time    int64
	station int32
}

// station is a server with its line, a linked list of jobs.
type station struct {
	head, tail int32 // jobs, none if there are none; the head is served
	jobs       int64
	mean       int64 // of a service
	visits     int64

	area  int64 // jobs added up over time, until last
	stays int64 // time that jobs stayed, of those that went
	last  int64
}

// job is who waits.
type job struct {
	next    int32 // in line
	arrived int64
}

const none = -1

type simulation struct {
	network  string
	stations []station
	jobs     []job
	events   []event // a heap
	random   uint64
	now      int64
	done     int
	backward bool
}

func newSimulation(stations, jobs int, network string) *simulation {
	s := &simulation{
		network: network, random: 0x9e3779b97f4a7c15,
		stations: make([]station, stations), jobs: make([]job, jobs), events: make([]event, 0, stations+1),
	}
	for i := range s.stations {
		s.stations[i] = station{head: none, tail: none, mean: 500 + int64(s.next()>>54)}
	}
	if network == "star" {
		s.stations[0].mean = 500 / int64(min(stations, 64))
	}
	for j := range s.jobs {
		s.arrive(int32(j), int32(s.below(stations)))
	}
	return s
}

// next returns a random number (xorshift64*).
func (s *simulation) next() uint64 {
	s.random ^= s.random >> 12
	s.random ^= s.random << 25
	s.random ^= s.random >> 27
	return s.random * 0x2545f4914f6cdd1d
}

func (s *simulation) below(n int) int { return int((s.next() >> 33) * uint64(n) >> 31) }

// service returns a random time: exponentially distributed, but straight between
// the halvings. The number of leading zeros says which halving, other bits where.
func (s *simulation) service(mean int64) int64 {
	r := s.next()
	halvings := int64(bits.LeadingZeros64(r | 1<<20))
	part := int64(r & (1<<16 - 1))
	return 1 + mean*(halvings<<16+part)*3>>17
}

// simulate lets n events happen.
func (s *simulation) simulate(n int) {
	for range n {
		e := s.take()
		s.backward = s.backward || e.time < s.now
		s.now = e.time
		s.depart(e.station)
		s.done++
	}
}

// arrive brings a job to a station.
func (s *simulation) arrive(j, at int32) {
	t := &s.stations[at]
	t.area += t.jobs * (s.now - t.last)
	t.last = s.now
	t.jobs++
	t.visits++
	s.jobs[j] = job{none, s.now}
	if t.head == none {
		t.head, t.tail = j, j
		s.schedule(event{s.now + s.service(t.mean), at})
		return
	}
	s.jobs[t.tail].next = j
	t.tail = j
}

// depart lets the job that is served go on to another station.
func (s *simulation) depart(at int32) {
	t := &s.stations[at]
	t.area += t.jobs * (s.now - t.last)
	t.last = s.now
	t.jobs--
	j := t.head
	t.stays += s.now - s.jobs[j].arrived
	t.head = s.jobs[j].next
	if t.head == none {
		t.tail = none
	} else {
		s.schedule(event{s.now + s.service(t.mean), at})
	}
	s.arrive(j, s.route(at))
}

// route returns the station after one.
func (s *simulation) route(at int32) int32 {
	n := len(s.stations)
	switch {
	case s.network == "ring":
		return int32((int(at) + 1) % n)
	case s.network == "star" && at != 0:
		return 0
	}
	return int32(s.below(n))
}

// schedule adds an event to the heap.
func (s *simulation) schedule(e event) {
	s.events = append(s.events, e)
	h, i := s.events, len(s.events)-1
	for i > 0 {
		up := (i - 1) / 2
		if before(h[up], e) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = e
}

// take takes the next event from the heap.
func (s *simulation) take() event {
	h := s.events
	top, e := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	s.events = h
	i := 0
	for {
		down := 2*i + 1
		if down >= len(h) {
			break
		}
		if down+1 < len(h) && before(h[down+1], h[down]) {
			down++
		}
		if !before(h[down], e) {
			break
		}
		h[i] = h[down]
		i = down
	}
	if len(h) > 0 {
		h[i] = e
	}
	return top
}

// before orders events by time, those of one time by station.
func before(a, b event) bool {
	if a.time != b.time {
		return a.time < b.time
	}
	return a.station < b.station
}

func (s *simulation) report(w io.Writer) {
	fmt.Fprintf(w, "events: network %s, %d stations, %d jobs, %d events\n", s.network, len(s.stations), len(s.jobs), s.done)
	longest, visits := int64(0), int64(0)
	for i := range s.stations {
		longest, visits = max(longest, s.stations[i].jobs), visits+s.stations[i].visits
	}
	fmt.Fprintf(w, "time %d, visits %d, longest line %d\n", s.now, visits, longest)
}

// verify counts jobs, and compares what was added up over time with what was
// added up over jobs.
func (s *simulation) verify() error {
	if s.backward {
		return fmt.Errorf("time went back")
	}
	seen := make([]bool, len(s.jobs))
	count := 0
	for i := range s.stations {
		t := &s.stations[i]
		area := t.area + t.jobs*(s.now-t.last)
		stays, line := t.stays, int64(0)
		for j := t.head; j != none; j = s.jobs[j].next {
			if seen[j] {
				return fmt.Errorf("job %d is in two places", j)
			}
			seen[j] = true
			stays += s.now - s.jobs[j].arrived
			line++
		}
		if line != t.jobs || area != stays {
			return fmt.Errorf("station %d has %d jobs, %d in line, and %d over time, %d over jobs", i, t.jobs, line, area, stays)
		}
		count += int(line)
	}
	if count != len(s.jobs) {
		return fmt.Errorf("%d jobs are left of %d", count, len(s.jobs))
	}
	return nil
}
