package misses

import (
	"fmt"

	"presage/perf/predict"
	"presage/perf/subject"
)

// Curve predicts the misses of the whole program at a point in fully associative
// caches of some capacities, in blocks. It returns an error if there is no model for
// the block size, or no finite value.
func (m *Model) Curve(point subject.Point, blockBytes uint64, capacities []uint64) ([]float64, error) {
	if err := m.Check(point); err != nil {
		return nil, err
	}
	if _, err := m.forBlocks(blockBytes); err != nil {
		return nil, err
	}
	h, err := m.evaluate(blockBytes, point, predict.MethodFullyAssociative)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", point, err)
	}
	out := make([]float64, len(capacities))
	for i, blocks := range capacities {
		for g := range h.groups {
			misses := predict.OfHistogram(&h.groups[g].Histogram, predict.FullyAssociative(blocks))
			out[i] += misses.Total()
		}
		if !finite(out[i]) {
			return nil, fmt.Errorf("perf: blocks of %d bytes at %s: the model has no finite value there", blockBytes, point)
		}
	}
	return out, nil
}

// Touched predicts how many distinct blocks the program touches at a point. It
// returns an error if there is no model for the block size.
func (m *Model) Touched(point subject.Point, blockBytes uint64) (float64, error) {
	if err := m.Check(point); err != nil {
		return 0, err
	}
	if _, err := m.forBlocks(blockBytes); err != nil {
		return 0, err
	}
	h, err := m.evaluate(blockBytes, point, predict.MethodFullyAssociative)
	if err != nil {
		return 0, fmt.Errorf("perf: %s: %w", point, err)
	}
	sum := 0.0
	for g := range h.groups {
		sum += h.groups[g].Cold
	}
	return sum, nil
}
