package infer

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestTable2 checks the ends of the ranges of 2012, Table 2.
func TestTable2(t *testing.T) {
	var least, most Architecture
	for _, p := range HardwareSpace() {
		least, most = append(least, p.Values[0]), append(most, p.Values[len(p.Values)-1])
	}
	for _, c := range []struct {
		a    Architecture
		want Details
	}{
		{least, Details{Tied{11, 86, 22}, 1, 64, 1, 2, 1, 16, 16, 256, 6, 1, 1, 1, 1, 1}},
		{most, Details{Tied{36, 296, 72}, 8, 224, 8, 8, 8, 128, 128, 4096, 14, 4, 2, 3, 2, 4}},
	} {
		if got, err := c.a.Details(); err != nil || got != c.want {
			t.Errorf("got  %+v\nwant %+v, error %v", got, c.want, err)
		}
	}
	most[4] = 48
	if _, err := most.Details(); err == nil || !strings.Contains(err.Error(), "dcache_kib is 48") {
		t.Errorf("a size that there is not: %v", err)
	}
	if _, err := most[:3].Details(); err == nil {
		t.Error("three parameters, and no error")
	}
}

// TestSamples demands distinct samples in the space that take every value about equally
// often.
func TestSamples(t *testing.T) {
	const n = 4000
	list := SampleArchitectures(rand.New(rand.NewPCG(1, 2)), n)
	space := HardwareSpace()
	counts := make([]map[float64]int, len(space))
	for i := range counts {
		counts[i] = make(map[float64]int)
	}
	for _, a := range list {
		if _, err := a.Details(); err != nil {
			t.Fatal(err)
		}
		for i, v := range a {
			counts[i][v]++
		}
	}
	for i, p := range space {
		for _, v := range p.Values {
			mean := n / float64(len(p.Values))
			// Six standard deviations of a binomial count.
			if d := float64(counts[i][v]) - mean; d*d > 36*mean {
				t.Errorf("%s is %g %d times, on average it would be %g", p.Name, v, counts[i][v], mean)
			}
		}
	}
	again := SampleArchitectures(rand.New(rand.NewPCG(1, 2)), 10)
	for i := range again {
		for j := range again[i] {
			if again[i][j] != list[i][j] {
				t.Fatal("the same seed gives another sample")
			}
		}
	}
}
