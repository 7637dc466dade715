package main

import (
	"fmt"
	"runtime"
	"sync"
)

// perRow is the number of particles, and of elements of a layer, for each row of the
// matrix.
const perRow = 8

// newField returns an n x n matrix by rows whose element (i, j) is i + j.
func newField(n int) []float64 {
	field := make([]float64, n*n)
	for i := range n {
		for j := range n {
			field[i*n+j] = float64(i + j)
		}
	}
	return field
}

// sumField sums a matrix: by columns, or mended, by rows.
func sumField(field []float64, n int, mended bool) float64 {
	if mended {
		return sumRows(field, n)
	}
	return sumColumns(field, n)
}

//go:noinline
func sumColumns(field []float64, n int) (sum float64) {
	for j := 0; j < n; j++ {
		for i := 0; i < n; i++ {
			sum += field[i*n+j]
		}
	}
	return sum
}

//go:noinline
func sumRows(field []float64, n int) (sum float64) {
	for i := 0; i < n; i++ {
		for j := 0; j < n; j++ {
			sum += field[i*n+j]
		}
	}
	return sum
}

// particle is a record of a cache line.
type particle struct {
	x, v float64
	//lint:ignore U1000 the size of the record is what counts
	mass, charge, spin, e float64
	//lint:ignore U1000 as above
	id, kind int64
}

// particles are records, or mended, the two fields that moving takes, and the rest.
type particles struct {
	records []particle
	x, v    []float64
	rest    []rest
}

// rest are the fields that moving does not take.
type rest struct {
	//lint:ignore U1000 the size of the record is what counts
	mass, charge, spin, e float64
	//lint:ignore U1000 as above
	id, kind int64
}

// steps is the number of times that particles move.
const steps = 4

func newParticles(n int, mended bool) *particles {
	if mended {
		p := &particles{x: make([]float64, n), v: make([]float64, n), rest: make([]rest, n)}
		for i := range n {
			p.x[i], p.v[i] = float64(i), 1
			p.rest[i] = rest{mass: 1, id: int64(i)}
		}
		return p
	}
	p := &particles{records: make([]particle, n)}
	for i := range n {
		p.records[i] = particle{x: float64(i), v: 1, mass: 1, id: int64(i)}
	}
	return p
}

// move moves the particles by some steps and returns the sum of their places.
func (p *particles) move() (sum float64) {
	for range steps {
		if p.records != nil {
			sum = moveRecords(p.records)
		} else {
			sum = moveArrays(p.x, p.v)
		}
	}
	return sum
}

//go:noinline
func moveRecords(records []particle) (sum float64) {
	for i := range records {
		records[i].x += records[i].v
		sum += records[i].x
	}
	return sum
}

//go:noinline
func moveArrays(x, v []float64) (sum float64) {
	for i := range x {
		x[i] += v[i]
		sum += x[i]
	}
	return sum
}

// layers are arrays side by side in one slice.
type layers struct {
	all       []float64
	n, stride int
}

const (
	numLayers = 12
	// wayElements is 4096 bytes, the size of a way of most first-level caches, and
	// apart the elements by which layers are moved apart: 5 lines.
	wayElements = 512
	apart       = 40
)

func newLayers(n int, mended bool) *layers {
	stride := (n + wayElements - 1) / wayElements * wayElements
	if mended {
		stride += apart
	}
	l := &layers{make([]float64, numLayers*stride), n, stride}
	for k := range numLayers {
		for i := range n {
			l.all[k*stride+i] = float64(k)
		}
	}
	return l
}

// blend sums all layers, element by element.
//
//go:noinline
func (l *layers) blend() (sum float64) {
	for i := 0; i < l.n; i++ {
		for k := 0; k < numLayers; k++ {
			sum += l.all[k*l.stride+i]
		}
	}
	return sum
}

// workers is the number of threads that count.
const workers = 4

// hits are the counters, at multiples of a distance.
var hits [workers * 8]int64

// countHits lets each worker count n rounds, of some hits each; they take
// turns. Counters are neighbours, or mended, a cache line apart.
func countHits(n int, mended bool) (sum int64) {
	distance := 1
	if mended {
		distance = len(hits) / workers
	}
	clear(hits[:])
	turns := make([]chan struct{}, workers+1) // of each worker, and of who began
	for w := range turns {
		turns[w] = make(chan struct{})
	}
	var done sync.WaitGroup
	for w := range workers {
		done.Go(func() {
			runtime.LockOSThread() // a thread of its own
			for range n {
				<-turns[w]
				count(&hits[w*distance])
				turns[w+1] <- struct{}{}
			}
		})
	}
	for range n {
		turns[0] <- struct{}{}
		<-turns[workers]
	}
	done.Wait()
	for w := range workers {
		sum += hits[w*distance]
	}
	return sum
}

// perRound is the number of hits in a round.
const perRound = 16

//go:noinline
func count(counter *int64) {
	for range perRound {
		*counter++
	}
}

// results are what the parts found.
type results struct {
	field, particles, layers float64
	hits                     int64
}

func (r results) String() string {
	return fmt.Sprintf("field %.0f, particles %.0f, layers %.0f, hits %d", r.field, r.particles, r.layers, r.hits)
}

// verify compares the results with formulas.
func (r results) verify(n int) error {
	m := n * perRow
	for _, c := range []struct {
		part      string
		got, want float64
	}{
		{"field", r.field, float64(n) * float64(n) * float64(n-1)},
		{"particles", r.particles, float64(m)*float64(m-1)/2 + float64(steps*m)},
		{"layers", r.layers, float64(m) * numLayers * (numLayers - 1) / 2},
		{"hits", float64(r.hits), float64(workers * perRound * n)},
	} {
		if c.got != c.want {
			return fmt.Errorf("%s: %g, want %g", c.part, c.got, c.want)
		}
	}
	return nil
}
