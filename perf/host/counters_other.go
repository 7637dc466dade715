//go:build !linux

package host

import (
	"errors"
	"runtime"
)

type event struct{}

var hardwareEvents []event

// counterSet does not exist here.
type counterSet struct{}

// openCounters returns an error: there are no counters here.
func openCounters([]event) (*counterSet, error) {
	return nil, errors.New("no hardware counters: Presage reads those of Linux, and this is " + runtime.GOOS)
}

func (*counterSet) read() ([]float64, float64, error) { return nil, 0, errors.ErrUnsupported }

func (*counterSet) close() {}
