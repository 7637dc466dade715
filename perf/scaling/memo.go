package scaling

import (
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"presage/perf/fit"
)

// memo caches the function fitted to each vector of data: references of one
// loop have the same counts at every size, and a part of a split is fitted when
// it is judged and again when it becomes a bin. A function depends only on its
// data, so the order of the groups does not matter. Results are shared and must
// not be modified.
type memo struct {
	mu      sync.Mutex
	designs map[string]*fit.Design // by kind and the sizes that are present
	fitted  map[string]*fitted     // by kind of function and data
}

type fitted struct {
	f   fit.Func
	loo float64
	err error
}

// kind is the kind of a cached function.
type kind byte

const (
	ofFrequency kind = iota
	ofDistance
	ofDraft     // a distance, without its spread
	ofRoughness // loo alone
	ofAccesses
	ofSizes  // a design
	ofPowers // designs of powers up to a degree, which is added
)

// absent marks a missing value at a size.
var absent = math.NaN()

// key returns the cache key of data, in buf if it is large enough.
func (k kind) key(buf []byte, data []float64) []byte {
	buf = append(buf, byte(k))
	for _, v := range data {
		buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(v))
	}
	return buf
}

// recall returns the cached result for data, or computes and caches it. Of two workers
// that compute it at the same time both get the first one's.
func (m *memo) recall(k kind, data []float64, compute func() fitted) *fitted {
	var buf [256]byte
	key := k.key(buf[:0], data)
	m.mu.Lock()
	known, ok := m.fitted[string(key)]
	m.mu.Unlock()
	if ok {
		return known
	}
	fresh := compute()
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.fitted[string(key)]; ok {
		return known
	}
	m.fitted[string(key)] = &fresh
	return &fresh
}

// designFor returns the design of distances over the sizes at which values is not absent.
func (f *fitter) designFor(values []float64) (*fit.Design, error) {
	basis, all := f.basis, f.design
	if f.bounded != nil {
		basis, all = f.bounded, f.boundedTo
	}
	if !slices.ContainsFunc(values, math.IsNaN) {
		return all, nil
	}
	return f.memo.design(ofSizes, values, func(at []fit.Point) (*fit.Design, error) {
		return fit.NewDesign(basis, at, f.reach)
	}, f.sizes)
}

// design returns the design of a kind over those of all sizes at which values is not
// absent, which is made once.
func (m *memo) design(k kind, values []float64, make func(at []fit.Point) (*fit.Design, error), all []fit.Point) (*fit.Design, error) {
	var buf [64]byte
	key := append(buf[:0], byte(k))
	for _, v := range values {
		if math.IsNaN(v) {
			key = append(key, 0)
		} else {
			key = append(key, 1)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if d, ok := m.designs[string(key)]; ok {
		return d, nil
	}
	var at []fit.Point
	for i, v := range values {
		if !math.IsNaN(v) {
			at = append(at, all[i])
		}
	}
	d, err := make(at)
	if err == nil {
		m.designs[string(key)] = d
	}
	return d, err
}
