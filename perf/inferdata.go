package perf

import (
	"fmt"
	"path/filepath"

	"presage/perf/frame"
)

// Files that a campaign is recorded in.
const (
	inferShardsFile   = "shards.csv"
	inferHardwareFile = "architectures.csv"
	inferProfilesFile = "profiles.csv"
)

// Record writes the tables of p into a folder: see Record.
func (p *InferProfiles) Record(dir, command string) error {
	const origin = "simulated by the pipeline model: "
	if err := Record(filepath.Join(dir, inferShardsFile), frame.Of(p.Shards), "counted in a run: characteristics of shards, whatever the machine", command); err != nil {
		return fmt.Errorf("perf: infer: %w", err)
	}
	if err := Record(filepath.Join(dir, inferHardwareFile), frame.Of(p.Hardware), "drawn at random from Table 2 of Wu and Lee 2012", command); err != nil {
		return fmt.Errorf("perf: infer: %w", err)
	}
	if err := Record(filepath.Join(dir, inferProfilesFile), frame.Of(p.Profiles), origin+"cycles of shards on architectures", command); err != nil {
		return fmt.Errorf("perf: infer: %w", err)
	}
	return nil
}
