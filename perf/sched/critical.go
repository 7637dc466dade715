package sched

import (
	"cmp"
	"slices"
)

// Limit is what keeps an instruction from advancing earlier.
type Limit uint8

// The limits.
const (
	NoLimit      Limit = iota
	Latency            // of a result that is waited for
	Recurrence         // latencies around a cycle of dependences from iteration to iteration
	UnitBusy           // all units that could execute it are occupied
	FetchWidth         // the fetch width is used up
	IssueWidth         // the issue width is used up
	RetireWidth        // the retire width is used up
	ProgramOrder       // an older instruction has not begun
	WriteOrder         // its result would be written before an older one
	WindowFull         // the window is full of instructions that have not retired
	QueueFull          // so is a queue
	NoRegister         // no register is free for its result
	Entering           // the cycle between entering the window and beginning
	Completing         // from beginning to the end of its own latency
)

var limitNames = [...]string{
	"none", "latency", "recurrence", "unit busy", "fetch width", "issue width", "retire width", "program order",
	"write order", "window full", "queue full", "no register", "entering", "completing",
}

func (l Limit) String() string { return limitNames[l] }

// Cause is a part of the time of a path: a wait on the critical chain of events,
// which ends with the last event and in which each could not happen earlier
// because of the one before.
type Cause struct {
	Limit Limit

	// From and To are indices in the path's instructions: To waits for From.
	// They are equal if the cause concerns one instruction, -1 if it concerns all.
	From, To int
	Unit     string  // of UnitBusy: the units, "A|B" if any of them would do
	Cycles   float64 // of an execution's
}

// critical walks back from the last event over half of the executions, and adds up
// the waits. The causes' cycles sum to cycles.
func (s *issuer) critical(cycles float64) (causes []Cause) {
	last := event(s.done-1, begins)
	if !s.core.inOrder {
		last = event(s.done-1, retires)
	}
	sums := make(map[Cause]int32)
	end := s.time(last)
	at := last
	for int(at)/3 >= s.done/2 {
		why := s.why(at)
		if why.event < 0 {
			break
		}
		if d := s.time(at) - s.time(why.event); d > 0 {
			sums[s.cause(int(at)/3, why)] += d
		}
		at = why.event
	}
	walked := end - s.time(at)
	if walked <= 0 {
		return nil
	}
	for c, d := range sums {
		c.Cycles = float64(d) * cycles / float64(walked)
		causes = append(causes, c)
	}
	slices.SortFunc(causes, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.Cycles, a.Cycles), cmp.Compare(a.Limit, b.Limit), cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From))
	})
	return causes
}

// stopped returns the limit that most delayed instructions from entering the
// window; NoLimit if they entered at full rate. If the time exceeds what units,
// widths and recurrences explain there is such a limit: otherwise more would enter
// than leave.
func (s *issuer) stopped() Limit {
	var cost [len(limitNames)]int32
	for i := max(1, s.done/2); i < s.done && i < len(s.d); i++ {
		switch l := s.whyD[i].limit; l {
		case WindowFull, QueueFull, NoRegister:
			cost[l] += s.d[i] - s.d[i-1]
		}
	}
	worst := NoLimit
	for l, n := range cost {
		if n > cost[worst] {
			worst = Limit(l)
		}
	}
	return worst
}

func (s *issuer) time(event int32) int32 {
	switch event % 3 {
	case taken:
		return s.d[event/3]
	case begins:
		return s.x[event/3]
	}
	return s.r[event/3]
}

func (s *issuer) why(event int32) reason {
	switch event % 3 {
	case taken:
		return s.whyD[event/3]
	case begins:
		return s.whyX[event/3]
	}
	return s.whyR[event/3]
}

// cause describes why instruction inst waited, but not for how long.
func (s *issuer) cause(inst int, why reason) Cause {
	i := inst % s.n
	c := Cause{Limit: why.limit, From: -1, To: -1}
	switch why.limit {
	case Latency:
		c.From, c.To = s.g.Edges[why.what].From, i
	case UnitBusy:
		c.To, c.From = i, i
		if why.what >= 0 {
			c.From = int(why.what) % s.n
		}
		c.Unit = s.core.group(s.tm[i].shared(s.tm[c.From]))
	case WriteOrder:
		c.From, c.To = int(why.event)/3%s.n, i
	case Completing:
		c.From, c.To = i, i
	}
	return c
}

// shared returns the kinds of units that an instruction shares with another that
// it waits for, or all kinds that it can use if they share none.
func (t *timing) shared(other *timing) uint64 {
	var mine, theirs uint64
	for _, u := range t.uses {
		mine |= u.kinds
	}
	for _, u := range other.uses {
		theirs |= u.kinds
	}
	if mine&theirs != 0 {
		return mine & theirs
	}
	return mine
}
