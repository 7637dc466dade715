package tracetest

import "presage/perf/trace"

// Nest is the trace of a loop nest whose innermost loops are runs.
type Nest struct {
	Name    string
	Plan    *trace.Plan    // a group for each reference
	Batches []*trace.Batch // as an engine records them
	Plain   []*trace.Batch // the same events without runs, in batches of as many accesses as engines fill

	Accesses uint64
}

// Nests returns loop nests over doubles, each of a few million accesses:
//
//	matmul     C += A·B, the innermost loop down the rows of A and the columns of B
//	saxpy      the same, its loops interchanged: the innermost along rows of B and C
//	stencil    b = seven points of a
//	multigrid  r = v - 27 points of u, twice on each of three grids
func Nests() []*Nest {
	return []*Nest{
		build("matmul", matmul(300, 40)),
		build("saxpy", saxpy(300, 40)),
		build("stencil", stencil(80, 90)),
		build("multigrid", multigrid),
	}
}

// recorder appends events to batches.
type recorder struct {
	nest  *Nest
	batch *trace.Batch
}

func build(name string, emit func(*recorder)) *Nest {
	r := &recorder{nest: &Nest{Name: name, Plan: new(trace.Plan)}, batch: new(trace.Batch)}
	emit(r)
	r.flush()
	plain := new(trace.Batch)
	for _, b := range r.nest.Batches {
		n, _ := b.Expansion()
		r.nest.Accesses += n
		var out trace.Batch
		b.Expand(&out)
		for rest := out.Accesses; len(rest) > 0; {
			n := min(len(rest), trace.BatchAccesses-len(plain.Accesses))
			plain.Accesses = append(plain.Accesses, rest[:n]...)
			if rest = rest[n:]; len(plain.Accesses) == trace.BatchAccesses {
				r.nest.Plain = append(r.nest.Plain, plain)
				plain = new(trace.Batch)
			}
		}
	}
	r.nest.Plain = append(r.nest.Plain, plain)
	return r.nest
}

func (r *recorder) flush() {
	if !r.batch.Empty() {
		r.nest.Batches = append(r.nest.Batches, r.batch)
		r.batch = new(trace.Batch)
	}
}

// ref adds a reference, in a group of its own.
func (r *recorder) ref(kind trace.Kind) trace.Access {
	i := len(r.nest.Plan.Refs)
	r.nest.Plan.Refs = append(r.nest.Plan.Refs, trace.Ref{PC: trace.PC(0x1000 + 4*i), Size: 8, Kind: kind, Group: trace.GroupID(i)})
	return trace.Tag(trace.RefID(i), 8)
}

func (r *recorder) loop(count int, strides ...trace.Stride) {
	if n, _ := r.batch.Expansion(); n+uint64(count*len(strides)) > trace.MaxExpansion {
		r.flush()
	}
	r.batch.AddRun(trace.Loop{Count: uint32(count), Strides: strides})
}

func (r *recorder) access(a trace.Access) { r.batch.Accesses = append(r.batch.Accesses, a) }

// array is one of doubles in rows of n, planes of n rows.
type array struct{ base, n int }

func (a array) at(i, j, k int) trace.Access {
	return trace.Access(a.base + 8*((i*a.n+j)*a.n+k))
}

// place returns arrays of n³ (or n²) doubles one after the other, as a compiler
// lays them out.
func place(count, n, dims int) []array {
	size := 8
	for range dims {
		size *= n
	}
	list := make([]array, count)
	for i := range list {
		list[i] = array{0x10000 + i*size, n}
	}
	return list
}

func matmul(n, rows int) func(*recorder) {
	return func(r *recorder) {
		m := place(3, n, 2)
		a, b, c := r.ref(trace.Load), r.ref(trace.Load), r.ref(trace.Store)
		for i := range rows {
			for j := range n {
				r.loop(n, trace.Stride{First: a + m[0].at(0, i, 0), Step: 8}, trace.Stride{First: b + m[1].at(0, 0, j), Step: int64(8 * n)})
				r.access(c + m[2].at(0, i, j))
			}
		}
	}
}

func saxpy(n, rows int) func(*recorder) {
	return func(r *recorder) {
		m := place(3, n, 2)
		a, b, c, s := r.ref(trace.Load), r.ref(trace.Load), r.ref(trace.Load), r.ref(trace.Store)
		for i := range rows {
			for k := range n {
				r.access(a + m[0].at(0, i, k))
				at := m[2].at(0, i, 0)
				r.loop(n, trace.Stride{First: b + m[1].at(0, k, 0), Step: 8}, trace.Stride{First: c + at, Step: 8}, trace.Stride{First: s + at, Step: 8})
			}
		}
	}
}

func stencil(planes, n int) func(*recorder) {
	return func(r *recorder) {
		m := place(2, n, 3)
		tags := make([]trace.Access, 7)
		for i := range tags {
			tags[i] = r.ref(trace.Load)
		}
		s := r.ref(trace.Store)
		for i := 1; i < planes-1; i++ {
			for j := 1; j < n-1; j++ {
				var strides []trace.Stride
				for p, d := range [][3]int{{0, 0, -1}, {0, 0, 0}, {0, 0, 1}, {0, -1, 0}, {0, 1, 0}, {-1, 0, 0}, {1, 0, 0}} {
					strides = append(strides, trace.Stride{First: tags[p] + m[0].at(i+d[0], j+d[1], 1+d[2]), Step: 8})
				}
				r.loop(n-2, append(strides, trace.Stride{First: s + m[1].at(i, j, 1), Step: 8})...)
			}
		}
	}
}

func multigrid(r *recorder) {
	var u []trace.Access
	for range 27 {
		u = append(u, r.ref(trace.Load))
	}
	v, s := r.ref(trace.Load), r.ref(trace.Store)
	base := 0
	for _, n := range []int{50, 26, 14} {
		m := place(3, n, 3)
		for i := range m {
			m[i].base += base
		}
		base = int(m[2].at(n, 0, 0)) + 4096
		for range 2 {
			for i := 1; i < n-1; i++ {
				for j := 1; j < n-1; j++ {
					var strides []trace.Stride
					for p := range 27 {
						strides = append(strides, trace.Stride{First: u[p] + m[0].at(i+p/9-1, j+p/3%3-1, p%3), Step: 8})
					}
					strides = append(strides, trace.Stride{First: v + m[1].at(i, j, 1), Step: 8}, trace.Stride{First: s + m[2].at(i, j, 1), Step: 8})
					r.loop(n-2, strides...)
				}
			}
		}
	}
}
