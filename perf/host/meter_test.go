package host

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestSample(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   Sample
		spread float64
	}{
		{[]float64{4}, Sample{4, 4, 4}, 0},
		{[]float64{3, 1, 2}, Sample{1, 2, 3}, 1},
		{[]float64{9, 1, 4, 6}, Sample{1, 5, 9}, 1.6},
	} {
		if got := sampleOf(c.values); got != c.want || got.Spread() != c.spread {
			t.Errorf("%v: %+v with spread %g, want %+v and %g", c.values, got, got.Spread(), c.want, c.spread)
		}
	}
}

// TestMeter demands that a meter repeats the timed code as often as it reports,
// in equal rounds, and stops on request.
func TestMeter(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := meter{ctx, 6, 2 * time.Millisecond}
	var rounds []int
	s, err := m.time(func(n int) {
		rounds = append(rounds, n)
		time.Sleep(time.Duration(n) * 100 * time.Microsecond)
	})
	if err != nil || !(s.Min >= 100_000) { // a sleep takes at least its time
		t.Errorf("sample %+v, error %v", s, err)
	}
	last := rounds[len(rounds)-6:]
	for _, n := range last {
		if n != last[0] {
			t.Errorf("rounds %v: want the last six equal", rounds)
		}
	}
	cancel()
	if _, err := m.time(func(int) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
