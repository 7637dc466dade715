package pipeline

import "math"

const never = math.MaxInt64 / 4

// span is a half-open stretch of cycles.
type span struct{ from, to int64 }

// calendar records when a resource that serves one request at a time is busy.
// Requests come in program order, not in order of time, so one may fit before others
// that were made earlier.
type calendar struct {
	busy []span // ascending, disjoint, not adjacent
}

// earliest returns the first cycle from t on at which a stretch of length free
// cycles begins.
func (c *calendar) earliest(t, length int64) int64 {
	i := len(c.busy)
	if i == 0 || c.busy[i-1].to <= t {
		return t
	}
	for i > 0 && c.busy[i-1].to > t {
		i--
	}
	for ; i < len(c.busy) && c.busy[i].from < t+length; i++ {
		t = max(t, c.busy[i].to)
	}
	return t
}

// reserve makes the calendar busy from t on. The stretch must be free.
func (c *calendar) reserve(t, length, floor int64) {
	if length <= 0 {
		return
	}
	if len(c.busy) >= 32 && c.busy[0].to <= floor {
		c.forget(floor)
	}
	i := len(c.busy)
	for i > 0 && c.busy[i-1].from > t {
		i--
	}
	before := i > 0 && c.busy[i-1].to == t
	after := i < len(c.busy) && c.busy[i].from == t+length
	switch {
	case before && after:
		c.busy[i-1].to = c.busy[i].to
		c.busy = append(c.busy[:i], c.busy[i+1:]...)
	case before:
		c.busy[i-1].to = t + length
	case after:
		c.busy[i].from = t
	default:
		c.busy = append(c.busy, span{})
		copy(c.busy[i+1:], c.busy[i:])
		c.busy[i] = span{t, t + length}
	}
}

// forget drops the stretches that end before floor: no request will be made before
// it.
func (c *calendar) forget(floor int64) {
	n := 0
	for n < len(c.busy) && c.busy[n].to <= floor {
		n++
	}
	c.busy = append(c.busy[:0], c.busy[n:]...)
}

// pool is several identical resources. An empty pool means no limit.
type pool []calendar

// earliest returns the first cycle from t on at which one of the pool is free
// for length cycles, and which.
func (p pool) earliest(t, length int64) (at int64, which int) {
	at = never
	for i := range p {
		if s := p[i].earliest(t, length); s < at {
			at, which = s, i
			if s == t {
				break
			}
		}
	}
	return at, which
}

// busyAt returns how many of the pool are busy in cycle t.
func (p pool) busyAt(t int64) int {
	n := 0
	for i := range p {
		if p[i].earliest(t, 1) != t {
			n++
		}
	}
	return n
}
