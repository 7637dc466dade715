package scaling

import (
	"fmt"
	"maps"
	"slices"

	"presage/perf/fit"
	"presage/perf/internal/wire"
)

// A model is kept in a few bytes that are read and written fast, as a program has one
// for each block size and, beyond its runs, for each size that is predicted: groups of
// one loop share functions, and functions their domain and terms, and what is shared is
// written once and shared again when it is read.
//
//	model    = params sizes domain blockBytes groups tails warnings
//	group    = name function(accesses) function(cold) bins warnings
//	bin      = constant function(distance) function(frequency)
//	tail     = from function(count)
//	function = number of an earlier one + 1, or 0 and its fields

// MarshalBinary implements encoding.BinaryMarshaler, which encoding/gob uses.
func (m *Model) MarshalBinary() ([]byte, error) {
	w := modelWriter{known: make(map[*float64][]int)}
	n := len(m.Groups)
	for i := range m.Groups {
		n += len(m.Groups[i].Bins)
	}
	w.Grow(n * bytesEach)
	w.Strings(m.Params)
	w.Len(len(m.Sizes))
	for _, p := range m.Sizes {
		w.point(p)
	}
	w.domain(m.Domain)
	w.Uint(m.BlockBytes)
	w.Len(len(m.Groups))
	for i := range m.Groups {
		w.group(&m.Groups[i])
	}
	w.Len(len(m.Tails))
	for i := range m.Tails {
		w.Float(m.Tails[i].From)
		w.function(&m.Tails[i].Count)
	}
	w.warnings(m.Warnings)
	return w.Bytes(), nil
}

// bytesEach is about what a bin takes, of which many share functions.
const bytesEach = 512

type modelWriter struct {
	wire.Writer
	funcs   []*fit.Func
	known   map[*float64][]int        // by where the residuals lie: indices in funcs
	domains []map[string]fit.Interval // that were written
}

func (w *modelWriter) point(p fit.Point) {
	w.Len(len(p))
	for _, name := range slices.Sorted(maps.Keys(p)) {
		w.String(name)
		w.Float(p[name])
	}
}

// domain writes a domain: its number + 1, or 0 and its intervals.
func (w *modelWriter) domain(d map[string]fit.Interval) {
	for n, known := range w.domains { // few: of all sizes, and of some
		if maps.Equal(known, d) {
			w.Len(n + 1)
			return
		}
	}
	w.domains = append(w.domains, d)
	w.Len(0)
	w.Len(len(d))
	for _, name := range slices.Sorted(maps.Keys(d)) {
		w.String(name)
		w.Float(d[name].Lo)
		w.Float(d[name].Hi)
	}
}

func (w *modelWriter) warnings(list []fit.Warning) {
	w.Len(len(list))
	for _, v := range list {
		w.String(string(v.Doubt))
		w.String(v.Detail)
	}
}

func (w *modelWriter) group(g *GroupModel) {
	w.String(g.Name)
	w.function(&g.Accesses)
	w.function(&g.Cold)
	w.Len(len(g.Bins))
	for i := range g.Bins {
		w.Flags(g.Bins[i].Constant)
		w.function(&g.Bins[i].Distance)
		w.function(&g.Bins[i].Frequency)
	}
	w.warnings(g.Warnings)
}

func (w *modelWriter) function(f *fit.Func) {
	if len(f.Residuals) > 0 { // others are constants
		at := &f.Residuals[0]
		for _, n := range w.known[at] {
			if sharesAll(w.funcs[n], f) {
				w.Len(n + 1)
				return
			}
		}
		w.known[at] = append(w.known[at], len(w.funcs))
	}
	w.funcs = append(w.funcs, f)
	w.Len(0)
	w.terms(f.Terms)
	w.Floats(f.Coefficients)
	w.Floats(f.Residuals)
	for _, v := range []float64{f.RMS, f.LOO, f.R2, f.Condition} {
		w.Float(v)
	}
	w.domain(f.Domain)
	w.terms(f.Spread.Terms)
	w.Len(len(f.Spread.Rivals))
	for i := range f.Spread.Rivals {
		r := &f.Spread.Rivals[i]
		w.Float(r.Probability)
		w.Floats(r.Coefficients)
		w.Floats(r.Influence)
		w.Floats(r.Errors)
		w.Float(r.Freedom)
	}
	w.Float(f.Spread.Heaviest)
	w.warnings(f.Warnings)
}

// sharesAll reports whether b is a copy of a, all slices being the same memory.
func sharesAll(a, b *fit.Func) bool {
	return same(a.Terms, b.Terms) && same(a.Coefficients, b.Coefficients) && same(a.Residuals, b.Residuals) &&
		same(a.Spread.Terms, b.Spread.Terms) && same(a.Spread.Rivals, b.Spread.Rivals) && same(a.Warnings, b.Warnings) &&
		a.RMS == b.RMS && a.LOO == b.LOO && a.R2 == b.R2 && a.Condition == b.Condition && a.Spread.Heaviest == b.Spread.Heaviest &&
		maps.Equal(a.Domain, b.Domain)
}

// same reports whether two slices are the same memory.
func same[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func (w *modelWriter) terms(list []fit.Term) {
	w.Len(len(list))
	for _, t := range list {
		w.String(t.String())
	}
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler, which encoding/gob uses.
// Functions, domains and terms that are the same share memory.
func (m *Model) UnmarshalBinary(data []byte) error {
	r := modelReader{Reader: wire.NewReader(data), known: make(map[string]fit.Term)}
	out := Model{Params: r.Strings()}
	for range r.Len() {
		out.Sizes = append(out.Sizes, r.point())
	}
	out.Domain = r.domain()
	out.BlockBytes = r.Uint()
	if n := r.Len(); n > 0 {
		out.Groups = make([]GroupModel, 0, min(n, mostAtOnce))
		for i := 0; i < n && r.Err() == nil; i++ {
			out.Groups = append(out.Groups, r.group())
		}
	}
	for n := r.Len(); len(out.Tails) < n && r.Err() == nil; {
		out.Tails = append(out.Tails, Tail{From: r.Float(), Count: r.function()})
	}
	out.Warnings = r.warnings()
	if err := r.End(); err != nil {
		return fmt.Errorf("scaling: stored model: %w", err)
	}
	*m = out
	return nil
}

// mostAtOnce bounds what is set aside for elements that damaged bytes announce.
const mostAtOnce = 1 << 16

type modelReader struct {
	*wire.Reader
	funcs   []fit.Func
	domains []map[string]fit.Interval
	known   map[string]fit.Term // by text
	spare   []float64           // for floats
}

func (r *modelReader) point() fit.Point {
	p := fit.Point{}
	for range r.Len() {
		name := r.String()
		p[name] = r.Float()
	}
	return p
}

func (r *modelReader) domain() map[string]fit.Interval {
	if n := r.Index(len(r.domains) + 1); n > 0 {
		return r.domains[n-1]
	}
	var d map[string]fit.Interval
	for range r.Len() {
		if d == nil {
			d = make(map[string]fit.Interval)
		}
		name := r.String()
		lo := r.Float()
		d[name] = fit.Interval{Lo: lo, Hi: r.Float()}
	}
	r.domains = append(r.domains, d)
	return d
}

func (r *modelReader) warnings() (list []fit.Warning) {
	for range r.Len() {
		doubt := fit.Doubt(r.String())
		list = append(list, fit.Warning{Doubt: doubt, Detail: r.String()})
	}
	return list
}

func (r *modelReader) group() GroupModel {
	g := GroupModel{Name: r.String(), Accesses: r.function(), Cold: r.function()}
	if n := r.Len(); n > 0 {
		g.Bins = make([]BinModel, 0, min(n, 1<<maxDepth))
		for i := 0; i < n && r.Err() == nil; i++ {
			g.Bins = append(g.Bins, BinModel{Constant: r.Flags().Has(0), Distance: r.function(), Frequency: r.function()})
		}
	}
	g.Warnings = r.warnings()
	return g
}

func (r *modelReader) function() fit.Func {
	if n := r.Index(len(r.funcs) + 1); n > 0 {
		return r.funcs[n-1]
	}
	f := fit.Func{
		Terms: r.terms(), Coefficients: r.floats(), Residuals: r.floats(),
		RMS: r.Float(), LOO: r.Float(), R2: r.Float(), Condition: r.Float(), Domain: r.domain(),
	}
	f.Spread.Terms = r.terms()
	if n := r.Len(); n > 0 {
		f.Spread.Rivals = make([]fit.Rival, 0, min(n, 64))
		for i := 0; i < n && r.Err() == nil; i++ {
			f.Spread.Rivals = append(f.Spread.Rivals, fit.Rival{
				Probability: r.Float(), Coefficients: r.floats(), Influence: r.floats(), Errors: r.floats(), Freedom: r.Float(),
			})
		}
	}
	f.Spread.Heaviest = r.Float()
	f.Warnings = r.warnings()
	r.funcs = append(r.funcs, f)
	return f
}

func (r *modelReader) terms() []fit.Term {
	n := r.Len()
	if n == 0 {
		return nil
	}
	list := make([]fit.Term, 0, min(n, fit.MaxTerms))
	for i := 0; i < n && r.Err() == nil; i++ {
		text := r.String()
		t, ok := r.known[text]
		if !ok {
			var err error
			if t, err = fit.ParseTerm(text); err != nil {
				r.Fail()
				return nil
			}
			r.known[text] = t
		}
		list = append(list, t)
	}
	return list
}

// floats reads a list, nil if it is empty. Lists lie one after the other in memory.
func (r *modelReader) floats() []float64 {
	n := r.FloatsLen()
	if n == 0 {
		return nil
	}
	if n > len(r.spare) {
		r.spare = make([]float64, max(n, mostAtOnce/16))
	}
	list := r.spare[:n:n]
	r.spare = r.spare[n:]
	r.FloatsTo(list)
	return list
}
