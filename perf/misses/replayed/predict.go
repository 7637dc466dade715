package replayed

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/store"
	"presage/perf/subject"
)

// rowsKind is the kind of stored predictions.
const rowsKind = "predictions"

// rowsVersion is part of the key of stored predictions: raise it when the same models,
// replays and simulations are made other rows of.
const rowsVersion = 33

// Predict is misses.Predict with the corrector of Correctors, unless the options have one
// or choose the papers' formula. It keeps the rows of each point in the store of the
// model: a curve that was predicted before, drawn again with a few points more, takes
// these alone. What is not kept is predictions of a draft, of a program that cannot be
// replayed or by a corrector of the caller's, and those that had to do without something
// that another time may be there.
func Predict(ctx context.Context, model *misses.Model, m *machine.Machine, points []subject.Point, opt misses.PredictOptions) ([]misses.Row, error) {
	for _, point := range points {
		if err := model.Check(point); err != nil {
			return nil, err
		}
	}
	p := &predictor{model: model, machine: m, opt: opt}
	of, err := p.origin()
	if err != nil {
		return nil, err
	}
	if of == nil {
		return p.predict(ctx, points)
	}
	return p.kept(ctx, points, of)
}

// predictor predicts misses on a machine.
type predictor struct {
	model   *misses.Model
	machine *machine.Machine
	opt     misses.PredictOptions
	replays *Corrector // that predict used; nil: none
}

// rowsOrigin is what the rows of a point follow from.
type rowsOrigin struct {
	Model       misses.Origin
	From        *dependence // of replays; nil: nothing is replayed
	Versions    []int       // of what is learned, and of replays
	Machine     machine.Machine
	By          subject.Scope
	Listing     subject.Listing
	Method      predict.Method
	Coverage    float64
	TrainedOnly bool
	Point       subject.Point
	Executable  *executable // of the point
}

// executable identifies one.
type executable struct {
	SHA256   string
	Analysis analysis
}

// origin returns what predictions follow from, but for their points; nil if they are not
// to be kept.
func (p *predictor) origin() (*rowsOrigin, error) {
	of := &rowsOrigin{Listing: p.opt.Listing, Coverage: p.opt.Coverage, TrainedOnly: p.opt.TrainedSizesOnly, Machine: *p.machine}
	var ok bool
	if of.Model, ok = p.model.Origin(); !ok {
		return nil, nil
	}
	var err error
	if of.By, err = p.opt.By.Check(); err != nil {
		return nil, err
	}
	if of.Method, err = p.opt.Method.Check(); err != nil {
		return nil, err
	}
	if of.Coverage == 0 {
		of.Coverage = predict.DefaultLevel
	}
	of.Machine.Path, of.Machine.Notes, of.Machine.Sources = "", "", nil
	switch _, none := p.opt.Corrector.(misses.NoCorrection); {
	case none:
		return of, nil
	case p.opt.Corrector != nil:
		return nil, nil
	case of.Method == predict.MethodBinomial:
		return of, nil
	}
	program, err := programOf(p.model.Runs(), nil)
	if err != nil {
		return nil, nil // the rows say why
	}
	of.From, of.Versions = &program.depend, []int{learnedVersion, replayVersion}
	return of, nil
}

// key returns the key of the rows of a point.
func (p *predictor) key(of *rowsOrigin, point subject.Point) (store.Key, error) {
	at := *of
	at.Point, at.Executable = point, nil
	for _, b := range p.opt.Binaries {
		if b.Point.String() != point.String() {
			continue
		}
		a, err := analysisOf(b.Program)
		if err != nil {
			return store.Key{}, err
		}
		at.Executable = &executable{b.Program.File.SHA256, a}
	}
	return store.NewKey(rowsKind, rowsVersion, &at)
}

// kept returns the rows of the points, of which those that the store lacks are predicted.
func (p *predictor) kept(ctx context.Context, points []subject.Point, of *rowsOrigin) ([]misses.Row, error) {
	st := p.model.Store()
	known, keys := make(map[string][]misses.Row), make(map[string]store.Key)
	var missing []subject.Point
	var trouble error // with the store
	for _, point := range points {
		name := point.String()
		if _, ok := keys[name]; ok {
			continue
		}
		key, err := p.key(of, point)
		if err != nil {
			return nil, err
		}
		keys[name] = key
		var rows []misses.Row
		switch err := st.Load(key, &rows); {
		case err == nil:
			known[name] = rows
			continue
		case !errors.Is(err, store.ErrMissing):
			trouble = fmt.Errorf("%w; predicted again", err)
		}
		missing = append(missing, point)
	}
	if missing != nil {
		rows, err := p.predict(ctx, missing)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			name := subject.Point(r.Point).String()
			known[name] = append(known[name], r)
		}
		if err := p.keep(st, missing, keys, known); err != nil {
			trouble = errors.Join(trouble, fmt.Errorf("%w; the predictions were not kept", err))
		}
	}
	var all []misses.Row
	for _, point := range points {
		all = append(all, known[point.String()]...)
	}
	if trouble != nil && len(all) > 0 {
		all[0].Warning = strings.Join(notEmpty(all[0].Warning, trouble.Error()), "; ")
	}
	return all, nil
}

// predict returns the rows of points, computed.
func (p *predictor) predict(ctx context.Context, points []subject.Point) ([]misses.Row, error) {
	opt := p.opt
	if opt.Corrector == nil && opt.Method != predict.MethodBinomial {
		c, err := Correctors(nil, Options{Executables: opt.Binaries, TrainedSizesOnly: opt.TrainedSizesOnly, Progress: opt.Progress})(ctx, p.model, p.machine)
		if err != nil {
			return nil, err
		}
		opt.Corrector = c
		p.replays, _ = c.(*Corrector)
	}
	return misses.Predict(ctx, p.model, p.machine, points, opt)
}

// keep stores the rows of points, unless another time they may be others.
func (p *predictor) keep(st *store.Store, points []subject.Point, keys map[string]store.Key, rows map[string][]misses.Row) error {
	if p.model.Lacking() || p.replays != nil && p.replays.lacking() {
		return nil
	}
	for _, point := range points {
		name := point.String()
		if err := st.Save(keys[name], rows[name]); err != nil {
			return err
		}
	}
	return nil
}

// lacking reports whether a replay is lacking that another time may be there, or the
// store could not be used.
func (c *Corrector) lacking() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.known {
		if r.Why != "" && !r.Final || len(r.warnings) > 0 {
			return true
		}
	}
	for _, s := range c.others {
		if s != nil && s.Lacking != "" {
			return true
		}
	}
	return false
}
