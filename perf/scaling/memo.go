package scaling

import (
	"encoding/binary"
	"math"
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
	designs map[string]*fit.Design // by the sizes that are present
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
	ofSizes // a design
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

// recall returns the cached result for data, or computes and caches it.
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
	known = &fresh
	m.mu.Lock()
	m.fitted[string(key)] = known
	m.mu.Unlock()
	return known
}

// designFor returns the design over the sizes at which values is not absent.
func (f *fitter) designFor(values []float64) (*fit.Design, error) {
	at := make([]fit.Point, 0, len(values))
	mask := make([]float64, len(values))
	for i, v := range values {
		if !math.IsNaN(v) {
			at = append(at, f.sizes[i])
			mask[i] = 1
		}
	}
	if len(at) == len(f.sizes) {
		return f.design, nil
	}
	key := string(ofSizes.key(nil, mask))
	f.memo.mu.Lock()
	defer f.memo.mu.Unlock()
	d, ok := f.memo.designs[key]
	if !ok {
		var err error
		if d, err = fit.NewDesign(f.basis, at, f.reach); err != nil {
			return nil, err
		}
		f.memo.designs[key] = d
	}
	return d, nil
}
