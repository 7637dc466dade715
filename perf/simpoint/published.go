package simpoint

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Rules are whose details of the method are followed.
type Rules uint8

const (
	// Own are Presage's: the others of Options as they say.
	Own Rules = iota

	// SimPoint32 are those of the published program, version 3.2, as its sources
	// have them, down to its random numbers: on the same vectors it makes the same
	// choice. They differ from Presage's own in these:
	//
	//   - Random numbers are its own (random32). Each number of clusters has starts
	//     with seeds of their own, which count on in the order of the search.
	//   - Init PlusPlus, which it does not have, stands for Sample, and that draws
	//     with replacement: two centres may be the same interval.
	//   - A centre without intervals moves to the origin, and takes what is nearest
	//     to it there. Presage gives it the interval furthest from its centre.
	//   - The score estimates the variance by its maximum likelihood, n in place of
	//     n-k in bic, and counts parameters of clusters without intervals.
	//   - The search goes to fewer clusters, too, if the best score so far came
	//     before the worst.
	//   - Starts 0 is its 5. Seed is added to both of its seeds.
	//
	// Its -fixedLength on, the default, is Equal.
	SimPoint32

	// SimPoint31 are those of version 3.1, which takes its random numbers from the C
	// library (randomC, of GNU's) and is else as SimPoint32. The sample run that is
	// distributed with 3.2 is still one of these.
	SimPoint31
)

// rulesNames are the names of Rules, as text has them.
var rulesNames = [...]string{Own: "presage", SimPoint32: "simpoint-3.2", SimPoint31: "simpoint-3.1"}

func (r Rules) String() string {
	if int(r) < len(rulesNames) {
		return rulesNames[r]
	}
	return fmt.Sprintf("Rules(%d)", uint8(r))
}

// ParseRules returns the Rules of a name: presage, simpoint-3.2 or simpoint-3.1.
func ParseRules(name string) (Rules, error) {
	if i := slices.Index(rulesNames[:], name); i >= 0 {
		return Rules(i), nil
	}
	return Own, fmt.Errorf("simpoint: rules %q: want %s", name, strings.Join(rulesNames[:], ", "))
}

// published reports whether the rules are those of the published program.
func (r Rules) published() bool { return r != Own }

// mostSeed is the largest seed with the published program's rules, which has seeds of 31 bits.
const mostSeed = math.MaxInt32 - seedProjection

// random is a generator of the published program.
type random interface {
	float() float64  // from 0 to 1
	index(n int) int // a whole number below n
}

func (r Rules) random(seed int64) random {
	if r == SimPoint31 {
		return newRandomC(seed)
	}
	return newRandom32(seed)
}

// The published program's seeds, of -seedproj and -seedkm.
const (
	seedProjection = 2042712918
	seedStart      = 493575226
)

// random32 is the generator of the published program: L'Ecuyer's combination of two
// multiplicative congruential generators of 31 bits with a shuffle of 32 numbers
// (Numerical Recipes in C, second edition, section 7.1, ran2), in single precision.
type random32 struct {
	first, second, last int64
	shuffle             [32]int64
}

// The moduli and multipliers of the two generators.
const (
	modulus32A, multiplier32A = 2147483563, 40014
	modulus32B, multiplier32B = 2147483399, 40692
)

func newRandom32(seed int64) *random32 {
	r := &random32{first: max(seed, 1)}
	r.second = r.first
	for j := len(r.shuffle) + 7; j >= 0; j-- {
		r.first = r.first * multiplier32A % modulus32A
		if j < len(r.shuffle) {
			r.shuffle[j] = r.first
		}
	}
	r.last = r.shuffle[0]
	return r
}

// float returns a number from 0 to less than 1.
func (r *random32) float() float64 {
	r.first = r.first * multiplier32A % modulus32A
	r.second = r.second * multiplier32B % modulus32B
	j := r.last / (1 + (modulus32A-1)/int64(len(r.shuffle)))
	r.last = r.shuffle[j] - r.second
	r.shuffle[j] = r.first
	if r.last < 1 {
		r.last += modulus32A - 1
	}
	const most = 1 - 1.2e-7
	if f := float64(float32(1.0 / modulus32A * float64(r.last))); f <= most {
		return f
	}
	return float64(float32(most))
}

// index returns a whole number below n.
func (r *random32) index(n int) int { return int(r.float()*(1<<31)) % n }

// randomC is rand of the GNU C library after srand: an additive feedback generator of
// 31 numbers (glibc's manual, "ISO C Random Number Functions", and its random_r, type
// 3), seeded by a multiplicative congruential one, of whose sums the lowest bit is
// dropped.
type randomC struct {
	state [31]uint32
	front int // the rear is 3 behind, of 31
}

func newRandomC(seed int64) *randomC {
	r := &randomC{front: 3}
	for i := range r.state {
		r.state[i] = uint32(seed)
		seed = seed * 16807 % math.MaxInt32
	}
	for range 10 * len(r.state) {
		r.next()
	}
	return r
}

func (r *randomC) next() int {
	r.state[r.front] += r.state[(r.front+len(r.state)-3)%len(r.state)]
	v := r.state[r.front] >> 1
	r.front = (r.front + 1) % len(r.state)
	return int(v)
}

func (r *randomC) float() float64  { return float64(r.next()) / math.MaxInt32 }
func (r *randomC) index(n int) int { return r.next() % n }

// projectionOf is projection by the published program: rows for all blocks up to the
// last, in their order, from one sequence. Blocks count from 1.
func projectionOf(ids []uint32, dims, stride int, r random) []float64 {
	m := make([]float64, len(ids)*stride)
	block := uint32(1)
	for k, b := range ids {
		for ; block < b; block++ {
			for range dims {
				r.float()
			}
		}
		for d := range dims {
			m[k*stride+d] = r.float()*2 - 1
		}
		block++
	}
	return m
}

// beginOf is begin by the published program.
func (p *points) beginOf(k int, how Init, r random) []float64 {
	if how == FurthestFirst {
		return p.spread(p.row(r.index(p.n)), k, how, nil)
	}
	var centres []float64
	for range k {
		centres = append(centres, p.row(r.index(p.n))...)
	}
	return centres
}

// starts returns the initial centres of a start. Of the published program the seed is
// one more for each start, and the start's number is added once more.
func (s *search) starts(k, start int) []float64 {
	if rules := s.opt.Rules; rules.published() {
		return s.p.beginOf(k, s.opt.Init, rules.random(seedStart+int64(s.opt.Seed)+int64(s.first[k]+2*start)))
	}
	r := stream(s.opt.Seed, purposeStart, uint64(k), uint64(start))
	return s.p.begin(k, s.opt.Init, r)
}

// runPublished tries numbers of clusters in the published program's order.
func (s *search) runPublished() error {
	lo, hi := 1, s.most()
	order := []int{lo, hi, (lo + hi) / 2}
	best, worst := 0, 0
	for i := 0; i < len(order); i++ {
		k := order[i]
		if _, tried := s.first[k]; !tried {
			s.first[k] = i * s.opt.Starts
		}
		if err := s.try(k); err != nil {
			return err
		}
		score := func(i int) float64 { return s.tried[order[i]].score }
		if score(i) > score(best) {
			best = i
		}
		if score(i) < score(worst) {
			worst = i
		}
		if i < 2 {
			continue
		}
		next := 0
		if best > worst && !s.good(k) {
			next, lo = (k+hi)/2, k
		} else {
			next, hi = (k+lo)/2, k
		}
		if hi-lo > 1 {
			order = append(order, next)
		}
	}
	return nil
}

// bicPublished is bic by the published program, for asked clusters of which some may have no
// points: σ² = Σ weight · |x - μ(c)|² / (d n), so that the last term of l is -d n/2.
func (c *clustering) bicPublished(p *points, asked int) float64 {
	n, d, k := float64(p.n), float64(p.dims), float64(asked)
	if c.sse <= negligible*p.squares() {
		return math.Inf(1)
	}
	l := -n * d / 2 * (math.Log(2*math.Pi*c.sse/(d*n)) + 1)
	for _, w := range c.weight {
		l += w * math.Log(w/n)
	}
	parameters := (k - 1) + k*d + 1
	return l - parameters/2*math.Log(n)
}
