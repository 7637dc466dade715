package scaling

import "testing"

// TestMemoKeepsTheFirst: of two workers that compute the same function at the same time,
// both get the first one's, so that groups share it whoever is faster.
func TestMemoKeepsTheFirst(t *testing.T) {
	m := memo{fitted: map[string]*fitted{}}
	data := []float64{1, 2}
	var first *fitted
	got := m.recall(ofFrequency, data, func() fitted {
		first = m.recall(ofFrequency, data, func() fitted { return fitted{loo: 1} }) // another worker, meanwhile
		return fitted{loo: 2}
	})
	if got != first || got != m.recall(ofFrequency, data, nil) {
		t.Errorf("functions with errors of %g and %g", got.loo, first.loo)
	}
}
