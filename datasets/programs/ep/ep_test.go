package main

import (
	"bytes"
	"math"
	"math/big"
	"strings"
	"testing"

	"presage/datasets/programs/internal/npb"
	"presage/datasets/programs/internal/program"
)

func solve(o options) *problem {
	p := allocate(o)
	tabulate(p)
	return p
}

func TestNASVerification(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, c := range npb.Classes("EP") {
		o, ok := classes[c.Name]
		if !ok || testing.Short() && c.Name == "A" {
			continue
		}
		if o.n != c.N {
			t.Errorf("class %s has 2^%d pairs, NAS's 2^%d", c.Name, o.n, c.N)
		}
		for _, name := range []string{"sum_x", "sum_y"} {
			if npb.Reference("EP", c.Name, name) == nil {
				t.Errorf("class %s has no %s to compare with", c.Name, name)
			}
		}
		o.class = c.Name
		if err := verify(solve(o)); err != nil {
			t.Errorf("class %s: %v", c.Name, err)
		}
	}
	if len(classes) != 3 {
		t.Errorf("%d classes", len(classes))
	}
}

// The definition, one pair after the other, with whole numbers of any size for the
// sequence and for the decision which pairs to accept. 2¹⁷ pairs are two blocks.
func TestTabulateMatchesDefinition(t *testing.T) {
	for _, n := range []int{8, 15, 17} {
		p := solve(options{n: n})
		multiplier, modulus := big.NewInt(1220703125), new(big.Int).Lsh(big.NewInt(1), 46)
		one, x := new(big.Int).Lsh(big.NewInt(1), 90), big.NewInt(271828183)
		next := func() *big.Int { // 2⁴⁵ times a number in (-1, 1)
			x.Mod(x.Mul(x, multiplier), modulus)
			return new(big.Int).Sub(x, new(big.Int).Rsh(modulus, 1))
		}
		var want problem
		for range 1 << n {
			a, b := next(), next()
			square := new(big.Int).Add(new(big.Int).Mul(a, a), new(big.Int).Mul(b, b))
			if square.Cmp(one) > 0 {
				continue
			}
			u, _ := new(big.Float).SetInt(a).Float64()
			v, _ := new(big.Float).SetInt(b).Float64()
			s, _ := new(big.Float).SetInt(square).Float64()
			s = math.Ldexp(s, -90)
			scale := math.Ldexp(math.Sqrt(-2*math.Log(s)/s), -45)
			want.accepted++
			want.sumX += u * scale
			want.sumY += v * scale
			want.count[int(math.Floor(max(math.Abs(u*scale), math.Abs(v*scale))))]++
		}
		if p.accepted != want.accepted || p.count != want.count {
			t.Errorf("n %d: accepted %d, counts %v, want %d, %v", n, p.accepted, p.count, want.accepted, want.count)
		}
		if math.Abs(p.sumX-want.sumX) > 1e-9 || math.Abs(p.sumY-want.sumY) > 1e-9 {
			t.Errorf("n %d: sums %.12g %.12g, want %.12g %.12g", n, p.sumX, p.sumY, want.sumX, want.sumY)
		}
	}
}

func TestVerifyAcceptsEverySize(t *testing.T) {
	for n := 8; n <= 22; n++ {
		if err := verify(solve(options{n: n})); err != nil {
			t.Errorf("n %d: %v", n, err)
		}
	}
}

// Each of these breaks one thing; the verdict must be FAILED, for that reason.
func TestVerifyRejects(t *testing.T) {
	for _, tc := range []struct {
		name, want string
		change     func(*problem)
	}{
		{"too many", "pairs accepted", func(p *problem) { p.accepted += 5000 }},
		{"shifted", "count 1", func(p *problem) { copy(p.count[1:], p.count[:]) }},
		{"tail", "count 6", func(p *problem) { p.count[6] += 10; p.count[0] -= 10 }},
		{"one lost", "are counted", func(p *problem) { p.count[2]-- }},
		{"biased", "sum_x", func(p *problem) { p.sumX += 0.02 * float64(p.pairs) }},
		{"not a number", "sum_y", func(p *problem) { p.sumY = math.NaN() }},
		{"class", "sum_y, component 1", func(p *problem) {
			p.class = "S"
			p.sumX = npb.Reference("EP", "S", "sum_x")[0]
			p.sumY = npb.Reference("EP", "S", "sum_y")[0] * (1 + 2e-8)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := solve(options{n: 20})
			if tc.name == "class" {
				p.pairs, p.accepted = 1<<24, 13176389
				p.count = [annuli]int{6140517, 5865300, 1100361, 68546, 1648, 17}
			}
			tc.change(p)
			var out bytes.Buffer
			status := program.Conclude(&out, verify(p))
			got := out.String()
			if status != program.Failed || !strings.HasPrefix(got, "verification: FAILED: ") || !strings.Contains(got, tc.want) {
				t.Errorf("status %d, output %q, want FAILED with %q", status, got, tc.want)
			}
		})
	}
}

func TestTabulateDoesNotAllocate(t *testing.T) {
	p := allocate(options{n: 17})
	if a := testing.AllocsPerRun(3, func() { tabulate(p) }); a != 0 {
		t.Errorf("%g allocations", a)
	}
}

func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, tc := range []struct {
		args           string
		status         int
		stdout, stderr string
	}{
		{"-n 12", 0, "verification: successful\n", ""},
		{"-class S", 0, "class S: NAS's sums are -3247.834652035 -6958.407078382\n", ""},
		{"-n 12 -quiet", 0, "verification: successful\n", ""},
		{"-help", 0, "", "usage: ep"},
		{"-class B", 2, "", `ep: -class "B": want S, W or A`},
		{"-class S -n 24", 2, "", "-n: class S sets it"},
		{"-n 7", 2, "", "-n 7: want an integer from 8 to 36\n"},
		{"-n 37", 2, "", "-n 37: want an integer from 8 to 36\n"},
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
