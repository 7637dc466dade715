package calibration

import (
	"context"
	"fmt"
	"path/filepath"

	"presage/perf/host"
	"presage/perf/machine"
	"presage/perf/store"
)

// Options say how thoroughly the host is measured.
type Options = host.Options

// Calibration is the measurements of this machine, and its description. Everything
// in it is measured, except for host.Geometry.
type Calibration struct {
	Profile *host.Profile
	Machine *machine.Machine // its name is "host"
	Text    []byte           // the description, as a file
}

// Calibrate measures the machine that it runs on: see package host for how. It
// takes some 30 s of a processor, 7 s with Quick, and is disturbed by whatever
// else runs; Profile.Warnings say what is doubtful.
func Calibrate(ctx context.Context, opt Options) (*Calibration, error) {
	p, err := host.Calibrate(ctx, opt)
	if err != nil {
		return nil, err
	}
	text, err := p.YAML()
	if err != nil {
		return nil, err
	}
	m, err := machine.Parse("host.yaml", text)
	if err != nil {
		return nil, fmt.Errorf("perf: calibrate: %w", err)
	}
	return &Calibration{Profile: p, Machine: m, Text: text}, nil
}

// Save writes the description to a file, which catalog.Find reads if it is given
// the path.
func (c *Calibration) Save(path string) error {
	if filepath.Ext(path) != ".yaml" {
		return fmt.Errorf("perf: calibrate: %s: a machine description has to end in .yaml", path)
	}
	return store.WriteFile(path, c.Text)
}

// name returns how tables name the host.
func (c *Calibration) name() string { return c.Profile.Processor }
