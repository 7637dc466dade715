package scaling

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"presage/perf/reuse"
)

// stackDistances is the definition: the number of distinct blocks since the
// last access to the same block, by searching a list. -1 is cold.
func stackDistances(blocks []int) []int {
	var stack []int
	out := make([]int, len(blocks))
	for i, b := range blocks {
		k := slices.Index(stack, b)
		out[i] = k
		if k >= 0 {
			stack = slices.Delete(stack, k, k+1)
		}
		stack = slices.Insert(stack, 0, b)
	}
	return out
}

// treeDistances computes the same with a binary indexed tree over time.
type treeDistances struct {
	last [][]int // time of the last access, by array and block within it
	tree []int32
	now  int
}

func newTreeDistances(accesses int) *treeDistances {
	return &treeDistances{tree: make([]int32, accesses+2)}
}

// lastAccess returns where the time of the last access to a block is kept.
func (t *treeDistances) lastAccess(b int) *int {
	k, i := b/(array(1)/block), b%(array(1)/block)
	for len(t.last) <= k {
		t.last = append(t.last, nil)
	}
	for len(t.last[k]) <= i {
		t.last[k] = append(t.last[k], 0)
	}
	return &t.last[k][i]
}

func (t *treeDistances) add(i int, v int32) {
	for ; i < len(t.tree); i += i & -i {
		t.tree[i] += v
	}
}

func (t *treeDistances) upTo(i int) int {
	s := 0
	for ; i > 0; i -= i & -i {
		s += int(t.tree[i])
	}
	return s
}

func (t *treeDistances) access(b int) int {
	t.now++
	d := -1
	last := t.lastAccess(b)
	if *last > 0 {
		d = t.upTo(t.now-1) - t.upTo(*last)
		t.add(*last, -1)
	}
	*last = t.now
	t.add(t.now, 1)
	return d
}

func TestTreeDistancesAgainstStack(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		blocks := make([]int, 200)
		for i := range blocks {
			blocks[i] = r.IntN(40)
		}
		want := stackDistances(blocks)
		tree := newTreeDistances(len(blocks))
		for i, b := range blocks {
			if got := tree.access(b); got != want[i] {
				t.Fatalf("access %d: distance %d, want %d", i, got, want[i])
			}
		}
	}
}

// kernel is a program whose accesses can be listed: visit calls touch with the
// group and the address in bytes of each access at size n.
type kernel struct {
	name   string
	groups []string
	visit  func(n int, touch func(group, address int))
}

const (
	double = 8
	block  = 64 // bytes
)

// array returns the base address of the k-th array, far from the others.
func array(k int) int { return k << 32 }

var kernels = []kernel{
	{"triad", []string{"a", "b", "c"}, func(n int, touch func(int, int)) {
		for range 3 {
			for i := range 64 * n {
				touch(1, array(1)+i*double)
				touch(2, array(2)+i*double)
				touch(0, array(0)+i*double)
			}
		}
	}},
	{"matmul", []string{"c", "a", "b"}, func(n int, touch func(int, int)) {
		for i := range n {
			for j := range n {
				for k := range n {
					touch(1, array(1)+(i*n+k)*double)
					touch(2, array(2)+(k*n+j)*double)
				}
				touch(0, array(0)+(i*n+j)*double)
			}
		}
	}},
	{"blocked matmul", []string{"c", "a", "b"}, func(n int, touch func(int, int)) {
		const t = 4
		for jj := 0; jj < n; jj += t {
			for kk := 0; kk < n; kk += t {
				for i := range n {
					for k := kk; k < min(kk+t, n); k++ {
						touch(1, array(1)+(i*n+k)*double)
						for j := jj; j < min(jj+t, n); j++ {
							touch(2, array(2)+(k*n+j)*double)
							touch(0, array(0)+(i*n+j)*double)
						}
					}
				}
			}
		}
	}},
	{"stencil", []string{"out", "in", "in i", "in j", "in k"}, func(n int, touch func(int, int)) {
		at := func(a, i, j, k int) int { return array(a) + ((k*n+j)*n+i)*double }
		for sweep := range 4 {
			src, dst := sweep%2, 1-sweep%2
			for k := 1; k < n-1; k++ {
				for j := 1; j < n-1; j++ {
					for i := 1; i < n-1; i++ {
						touch(4, at(src, i, j, k-1))
						touch(3, at(src, i, j-1, k))
						touch(2, at(src, i-1, j, k))
						touch(1, at(src, i, j, k))
						touch(2, at(src, i+1, j, k))
						touch(3, at(src, i, j+1, k))
						touch(4, at(src, i, j, k+1))
						touch(0, at(dst, i, j, k))
					}
				}
			}
		}
	}},
	// A sweep in the manner of Sweep3D: octant pairs, planes in blocks of 4,
	// angles within, a line recursion over i that carries a face in j and k.
	{"sweep", []string{"flux", "source", "face i", "face j", "face k"}, func(n int, touch func(int, int)) {
		const angles, planes = 3, 4
		cell := func(a, i, j, k int) int { return array(a) + ((k*n+j)*n+i)*double }
		for octant := range 4 {
			for k0 := 0; k0 < n; k0 += planes {
				for k := k0; k < min(k0+planes, n); k++ {
					for j := range n {
						for m := range angles {
							touch(2, array(2)+(m*n*n+k*n+j)*double)
							for x := range n {
								i := x
								if octant%2 == 1 {
									i = n - 1 - x
								}
								touch(1, cell(1, i, j, k))
								touch(3, array(3)+((m*planes+k-k0)*n+i)*double)
								touch(4, array(4)+((m*n+j)*n+i)*double)
								touch(0, cell(0, i, j, k))
							}
							touch(2, array(2)+(m*n*n+k*n+j)*double)
						}
					}
				}
			}
		}
	}},
}

// histograms returns the exact histogram of each group at size n, in bins as
// the collector makes them: exact below 512, 256 to an octave above.
func (k kernel) histograms(n int) []reuse.Histogram {
	accesses := 0
	k.visit(n, func(int, int) { accesses++ })
	tree := newTreeDistances(accesses)
	counts := make([][]uint64, len(k.groups)) // by distance
	out := make([]reuse.Histogram, len(k.groups))
	k.visit(n, func(group, address int) {
		d := tree.access(address / block)
		if d < 0 {
			out[group].Cold++
			return
		}
		for len(counts[group]) <= d {
			counts[group] = append(counts[group], 0)
		}
		counts[group][d]++
	})
	for g := range counts {
		for d, c := range counts[g] {
			out[g].Bins = addTo(out[g].Bins, uint64(d), c)
		}
	}
	return out
}

// addTo adds c accesses at distance d, which is not below those in bins.
func addTo(bins []reuse.Bin, d, c uint64) []reuse.Bin {
	lo, hi := binOf(d)
	switch n := len(bins); {
	case c == 0:
	case n > 0 && bins[n-1].Lo == lo:
		bins[n-1].Count += c
	default:
		bins = append(bins, reuse.Bin{Lo: lo, Hi: hi, Count: c})
	}
	return bins
}

func binOf(d uint64) (lo, hi uint64) {
	if d < 512 {
		return d, d + 1
	}
	shift := bits.Len64(d) - 9
	lo = d >> shift << shift
	return lo, lo + 1<<shift
}
