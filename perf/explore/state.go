package explore

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"presage/perf/fit"
	"presage/perf/machine"
	"presage/perf/predict"
	"presage/perf/subject"
)

// State is what the controls of the page say.
type State struct {
	Basis   string   // of misses.FitOptions; empty: its default
	Shape   string   // likewise
	Without []string // points that are held out, such as "n=20"

	Machine  string
	Level    string         // of the machine
	Capacity uint64         // bytes
	Ways     uint64         // 0: fully associative
	Block    uint64         // bytes
	Method   predict.Method // by which misses follow from distances

	By    subject.Scope
	Scope string // one of them

	Param string  // the parameter on the axis; others are as in the last run
	At    float64 // its value to predict
}

// The names of the parameters of a query.
const (
	keyBasis, keyShape, keyTrain        = "basis", "shape", "train"
	keyMachine, keyLevel                = "machine", "level"
	keyCapacity, keyWays, keyBlock      = "capacity", "ways", "block"
	keyMethod, keyBy, keyScope          = "method", "by", "scope"
	keyParam, keyAt                     = "param", "at"
	keyCapacityStep, keyWaysStep        = "capacity-step", "ways-step"
	keyShown, keyShownBlock, keyShownBy = "shown", "shown-block", "shown-by" // in the form when it was sent
)

// maxText bounds what is taken from a query, in bytes.
const maxText = 4096

// reach is how far beyond the largest run sizes may be asked for.
const reach = fit.ReachLimit

// Query returns the state as the query of an address.
func (s *Session) Query(st State) string {
	q := url.Values{}
	set := func(key, value string) {
		if value != "" {
			q.Set(key, value)
		}
	}
	set(keyBasis, st.Basis)
	set(keyShape, st.Shape)
	if len(st.Without) > 0 {
		for _, p := range s.points {
			if !slices.Contains(st.Without, p) {
				q.Add(keyTrain, p)
			}
		}
	}
	q.Set(keyMachine, st.Machine)
	q.Set(keyLevel, st.Level)
	q.Set(keyCapacity, strconv.FormatUint(st.Capacity, 10))
	q.Set(keyWays, strconv.FormatUint(st.Ways, 10))
	q.Set(keyBlock, strconv.FormatUint(st.Block, 10))
	q.Set(keyMethod, string(st.Method))
	q.Set(keyBy, string(st.By))
	set(keyScope, st.Scope)
	q.Set(keyParam, st.Param)
	q.Set(keyAt, strconv.FormatFloat(st.At, 'g', -1, 64))
	return q.Encode()
}

// Initial returns the state that a page without a query shows: the first level of
// the first machine, the whole program, at twice the largest size.
func (s *Session) Initial() State {
	st := State{Basis: s.opt.Fit.Basis, Shape: s.opt.Fit.Shape, Method: predict.MethodFullyAssociative, By: subject.ByProgram}
	st.Param = s.params()[0]
	_, hi := s.span(st.Param)
	st.At = subject.Round(2 * hi)
	st.Machine = s.machines[0].Name
	st.setLevel(s.levels(s.machines[0])[0])
	return st
}

// setLevel takes a level's name and geometry over.
func (st *State) setLevel(l predict.Level) {
	st.Level, st.Capacity, st.Ways, st.Block = l.Name, l.Blocks()*l.BlockBytes, l.Ways, l.BlockBytes
	if l.Sets == 1 {
		st.Ways = 0
	}
}

// Parse reads the state from a query. What is left out is as in Initial, or as the
// machine and level have it. It returns an error for a value that cannot be, with the
// state as far as it is known.
func (s *Session) Parse(q url.Values) (State, error) {
	st := s.Initial()
	for key, values := range q {
		for _, v := range values {
			if len(v) > maxText {
				return st, fmt.Errorf("%s: %d bytes are more than %d", key, len(v), maxText)
			}
		}
	}
	errs := []error{
		s.parseModel(&st, q),
		s.parsePlace(&st, q),
		s.parseCache(&st, q),
	}
	return st, errors.Join(errs...)
}

func (s *Session) parseModel(st *State, q url.Values) error {
	if q.Has(keyBasis) {
		st.Basis = strings.TrimSpace(q.Get(keyBasis))
	}
	if q.Has(keyShape) {
		st.Shape = q.Get(keyShape)
	}
	train := q[keyTrain]
	for _, p := range train {
		if !slices.Contains(s.points, p) {
			return fmt.Errorf("no run at %q; there are %s", p, strings.Join(s.points, ", "))
		}
	}
	if len(train) > 0 || q.Has(keyShown) { // the form sends the ticked ones only
		for _, p := range s.points {
			if !slices.Contains(train, p) {
				st.Without = append(st.Without, p)
			}
		}
	}
	return nil
}

func (s *Session) parsePlace(st *State, q url.Values) error {
	if q.Has(keyBy) {
		st.By = subject.Scope(q.Get(keyBy))
	}
	by, err := st.By.Check()
	if err != nil {
		st.By = subject.ByProgram
		return err
	}
	if st.By = by; !q.Has(keyShownBy) || q.Get(keyShownBy) == string(by) { // else it is one of another kind
		st.Scope = q.Get(keyScope)
	}
	if q.Has(keyParam) {
		if !slices.Contains(s.params(), q.Get(keyParam)) {
			return fmt.Errorf("no parameter %q; there are %s", q.Get(keyParam), strings.Join(s.params(), ", "))
		}
		st.Param = q.Get(keyParam)
		_, hi := s.span(st.Param)
		st.At = subject.Round(2 * hi)
	}
	if text := q.Get(keyAt); text != "" {
		v, err := strconv.ParseFloat(text, 64)
		_, hi := s.span(st.Param)
		if err != nil || !(v > 0) || math.IsInf(v, 0) || v > reach*hi {
			return fmt.Errorf("size %q: want a number above 0 and at most %g, %g times the largest run", text, reach*hi, float64(reach))
		}
		st.At = v
	}
	return nil
}

func (s *Session) parseCache(st *State, q url.Values) error {
	m := s.machines[0]
	if name := q.Get(keyMachine); name != "" {
		i := slices.IndexFunc(s.machines, func(m *machine.Machine) bool { return m.Name == name })
		if i < 0 {
			return fmt.Errorf("no machine %q whose blocks were profiled; there are %s", name, strings.Join(s.MachineNames(), ", "))
		}
		m = s.machines[i]
	}
	st.Machine = m.Name
	levels := s.levels(m)
	at := slices.IndexFunc(levels, func(l predict.Level) bool { return l.Name == q.Get(keyLevel) })
	if at < 0 {
		at = 0
	}
	st.setLevel(levels[at])
	var err error
	if st.Method, err = predict.Method(q.Get(keyMethod)).Check(); err != nil {
		return err
	}
	// What the sliders said belongs to the level that they were shown for.
	if q.Has(keyShown) && q.Get(keyShown) != st.shownLevel() {
		return nil
	}
	if err := st.parseGeometry(q); err != nil {
		return err
	}
	if !slices.Contains(s.blocks, st.Block) {
		return fmt.Errorf("blocks of %d bytes were not profiled; there are %v", st.Block, s.blocks)
	}
	return st.parseSteps(q)
}

// shownLevel is what tells the form's sliders from those of another level.
func (st *State) shownLevel() string { return st.Machine + "/" + st.Level }

// parseGeometry reads the numbers that a link holds.
func (st *State) parseGeometry(q url.Values) error {
	for key, to := range map[string]*uint64{keyCapacity: &st.Capacity, keyWays: &st.Ways, keyBlock: &st.Block} {
		text := q.Get(key)
		if text == "" {
			continue
		}
		v, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return fmt.Errorf("%s %q: want a whole number", key, text)
		}
		*to = v
	}
	return nil
}

// parseSteps reads where sliders stand: an index of a ladder, which the numbers of
// the link that the form holds, too, make again.
func (st *State) parseSteps(q url.Values) error {
	if q.Has(keyCapacityStep) {
		was := *st // the ladder that was shown
		if b, err := strconv.ParseUint(q.Get(keyShownBlock), 10, 64); err == nil && b > 0 && b <= maxCapacity {
			was.Block = b
		}
		v, err := rung(with(was.capacities(), st.Capacity), q.Get(keyCapacityStep))
		if err != nil {
			return fmt.Errorf("capacity: %w", err)
		}
		st.Capacity = v
	}
	st.Capacity = max(st.Block, st.Capacity-st.Capacity%st.Block)
	if q.Has(keyWaysStep) {
		v, err := rung(with(waysLadder, st.Ways), q.Get(keyWaysStep))
		if err != nil {
			return fmt.Errorf("ways: %w", err)
		}
		st.Ways = v
	}
	return st.check()
}

// check returns an error if there is no such cache. It takes the largest number of
// ways, up to the one asked for, that divides the blocks.
func (st *State) check() error {
	if st.Capacity == 0 || st.Capacity > maxCapacity || st.Capacity%st.Block != 0 {
		return fmt.Errorf("capacity %d: want a multiple of the block of %d bytes, up to %d", st.Capacity, st.Block, uint64(maxCapacity))
	}
	blocks := st.Capacity / st.Block
	if st.Ways > blocks {
		st.Ways = 0
	}
	for st.Ways > 0 && blocks%st.Ways != 0 {
		st.Ways--
	}
	return nil
}

// cache returns the geometry in blocks.
func (st *State) cache() predict.Cache {
	blocks := st.Capacity / st.Block
	if st.Ways == 0 || st.Ways == blocks {
		return predict.FullyAssociative(blocks)
	}
	return predict.Cache{Sets: blocks / st.Ways, Ways: st.Ways}
}
