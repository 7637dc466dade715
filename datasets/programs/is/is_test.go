package main

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"presage/datasets/programs/internal/npb"
	"presage/datasets/programs/internal/program"
)

func solve(o options) *problem {
	p := allocate(o)
	createSeq(p.key, o.keys)
	iterate(p)
	return p
}

func TestNASVerification(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, c := range npb.Classes("IS") {
		o := classes[c.Name]
		if o.n != c.N || o.iterations != c.Steps {
			t.Errorf("class %s is %+v, NAS's is %+v", c.Name, o, c)
		}
		if _, ok := published(c.Name); !ok {
			t.Errorf("class %s has no ranks to compare with", c.Name)
		}
		o.class = c.Name
		p := solve(o)
		if err := verify(p, fullVerify(p)); err != nil {
			t.Errorf("class %s: %v", c.Name, err)
		}
	}
	if len(classes) != 3 || len(npb.Classes("IS")) != 3 {
		t.Errorf("classes are %v", classes)
	}
}

// The definition in floating point, where all sums and products are exact.
func TestKeysMatchDefinition(t *testing.T) {
	for _, logKeys := range []int{4, 11, 19, 28} {
		key := make([]int32, 1000)
		createSeq(key, logKeys)
		x := uint64(npb.Seed)
		for i, k := range key {
			r := npb.Randlc(&x) + npb.Randlc(&x) + npb.Randlc(&x) + npb.Randlc(&x)
			if want := int32(math.Floor(math.Ldexp(r, logKeys-2))); k != want {
				t.Fatalf("key %d of 2^%d is %d, want %d", i, logKeys, k, want)
			}
		}
	}
}

// Rankings change keys i and i+10, or i+iterations, and no others.
func TestKeysThatChange(t *testing.T) {
	for _, iterations := range []int{1, 10, 12} {
		p := solve(options{n: 10, keys: 6, iterations: iterations})
		want := make([]int32, len(p.key))
		createSeq(want, 6)
		for it := 1; it <= iterations; it++ {
			want[it], want[it+max(10, iterations)] = int32(it), int32(64-it)
		}
		if !slices.Equal(p.key, want) {
			t.Errorf("%d iterations: the keys are %v, want %v", iterations, p.key, want)
		}
	}
}

// Ranks and order against those of a sort.
func TestRankMatchesSort(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		key, count := make([]int32, 1+r.IntN(300)), make([]int32, 1+r.IntN(100))
		for i := range key {
			key[i] = int32(r.IntN(len(count)))
		}
		want := slices.Clone(key)
		slices.Sort(want)
		rank(count, key)
		for k := range count {
			below, _ := slices.BinarySearch(want, int32(k+1))
			if int(count[k]) != below {
				t.Fatalf("%v: %d keys are at most %d, want %d", key, count[k], k, below)
			}
		}
		got := make([]int32, len(key))
		place(got, key, count)
		if !slices.Equal(got, want) {
			t.Fatalf("%v: in order %v", key, got)
		}
	}
}

func TestFingerprint(t *testing.T) {
	if fingerprint([]int32{1, 5, 9, 9}) != fingerprint([]int32{9, 1, 9, 5}) {
		t.Error("the order of keys matters")
	}
	for _, other := range [][]int32{{1, 5, 9, 8}, {2, 4, 9, 9}, {1, 5, 5, 9}, {1, 5, 9}, {0, 1, 5, 9, 9}} {
		if fingerprint([]int32{1, 5, 9, 9}) == fingerprint(other) {
			t.Errorf("%v is taken for the same", other)
		}
	}
}

func TestVerifyAcceptsEverySize(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for n := 8; n <= 18; n++ {
		for _, keys := range []int{4, n - 4, n, 20} {
			for _, iterations := range []int{1, 10, 15} {
				o := options{n: n, keys: keys, iterations: iterations}
				p := solve(o)
				if err := verify(p, fullVerify(p)); err != nil {
					t.Errorf("%+v: %v", o, err)
				}
			}
		}
	}
}

// Each of these breaks one thing; the verdict must be FAILED, for that reason.
func TestVerifyRejects(t *testing.T) {
	for _, tc := range []struct {
		name, want    string
		before, after func(*problem)
	}{
		{name: "key not counted", want: "missing from the counts", before: func(p *problem) { p.total[3]-- }},
		{name: "rank", want: "has rank", before: func(p *problem) { p.ranked[9][2].rank++ }},
		{name: "rank of an earlier ranking", want: "ranking 4: test key 5", before: func(p *problem) { p.ranked[3][4].rank++ }},
		{name: "counts exchanged", want: "less than the one before", before: func(p *problem) {
			p.count[300], p.count[301] = p.count[301], p.count[300]
		}},
		{name: "other keys", want: "not those", after: func(p *problem) { p.sorted[1000] = p.sorted[999] }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := classes["S"]
			o.class = "S"
			p := solve(o)
			if tc.before != nil {
				tc.before(p)
			}
			f := fullVerify(p)
			if tc.after != nil {
				p.sorted[1000]--
				f.after = fingerprint(p.sorted)
			}
			var out bytes.Buffer
			status := program.Conclude(&out, verify(p, f))
			got := out.String()
			if status != program.Failed || !strings.HasPrefix(got, "verification: FAILED: ") || !strings.Contains(got, tc.want) {
				t.Errorf("status %d, output %q, want FAILED with %q", status, got, tc.want)
			}
		})
	}
}

func TestIterationsDoNotAllocate(t *testing.T) {
	p := solve(options{n: 10, keys: 6, iterations: 10})
	if a := testing.AllocsPerRun(3, func() { p.ranked, p.total = p.ranked[:0], p.total[:0]; iterate(p) }); a != 0 {
		t.Errorf("%g allocations", a)
	}
}

func TestRun(t *testing.T) {
	for _, tc := range []struct {
		args           string
		status         int
		stdout, stderr string
	}{
		{"-n 12", 0, "verification: successful\n", ""},
		{"-class S", 0, "class S: NAS's ranks are, before shifts, [0 18 346 64917 65463]\n", ""},
		{"-class S -iterations 20", 0, "is: keys 65536, different 2048, iterations 20\n", ""},
		{"-n 12 -quiet", 0, "verification: successful\n", ""},
		{"-help", 0, "", "usage: is"},
		{"-class B", 2, "", `is: -class "B": want S, W or A`},
		{"-class S -keys 11", 2, "", "-keys: class S sets it"},
		{"-n 7", 2, "", "-n 7: want an integer from 8 to 28\n"},
		{"-keys 3", 2, "", "-keys 3: want an integer from 4 to 28\n"},
		{"-iterations 0", 2, "", "-iterations 0: want an integer from 1 to 100"},
		{"-keys 4 -iterations 16", 2, "", "-iterations 16: want less than the 2^4 different keys"},
		{"-n ten", 2, "", `invalid value "ten" for flag -n`},
		{"-n 12 20", 2, "", `unexpected argument "20"`},
	} {
		t.Run(tc.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if status := run(strings.Fields(tc.args), &stdout, &stderr); status != tc.status {
				t.Errorf("exit status %d, want %d\n%s", status, tc.status, &stdout)
			}
			if !strings.Contains(stdout.String(), tc.stdout) || tc.stdout == "" && stdout.Len() > 0 {
				t.Errorf("stdout %q, want %q", stdout.String(), tc.stdout)
			}
			if !strings.Contains(stderr.String(), tc.stderr) || tc.stderr == "" && stderr.Len() > 0 {
				t.Errorf("stderr %q, want %q", stderr.String(), tc.stderr)
			}
			if strings.Contains(tc.args, "-quiet") && strings.Count(stdout.String(), "\n") != 1 {
				t.Errorf("-quiet printed %q", stdout.String())
			}
		})
	}
}
