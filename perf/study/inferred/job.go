package inferred

import (
	"context"
	"fmt"

	"presage/perf/campaign"
	"presage/perf/subject"
)

// variantKind is the kind of jobs that survey and simulate a variant.
const variantKind = "infer"

// variantSpec describes the survey and the simulations of a variant in a campaign.
type variantSpec struct {
	Run                              subject.Remote
	Of                               Subject
	Length, Warm, Seed               uint64
	Shards, Pool, Fresh              int
	Train, Check, New                int
	SimulationVersion, SurveyVersion int
}

// job returns the job that surveys and simulates the program. Its results' keys follow
// from counting the run, so that it has a mark.
func (v *program) job() (campaign.Job, error) {
	c := v.campaign
	r, err := v.prog.Remote(c.Store, v.in, nil)
	if err != nil {
		return campaign.Job{}, err
	}
	return subject.RemoteJob(variantKind, "infer "+v.variant+":", &v.in, variantSpec{
		Run: r, Of: v.of, Length: c.Length, Warm: c.Warm, Seed: c.Seed, Shards: c.Shards, Pool: c.Pool, Fresh: c.Fresh,
		Train: c.Train, Check: c.Check, New: c.New, SimulationVersion: simulationVersion, SurveyVersion: surveyVersion,
	})
}

// Work returns the kinds of jobs of this package.
func Work() []campaign.Work {
	return []campaign.Work{distancesWork(), campaign.NewWork(variantKind, func(ctx context.Context, at campaign.Site, s variantSpec) error {
		if s.SimulationVersion != simulationVersion || s.SurveyVersion != surveyVersion {
			return fmt.Errorf("perf: infer: %s: another version of presage made the job", s.Of.Variant())
		}
		prog, err := s.Run.Open(at.Store)
		if err != nil {
			return err
		}
		c := Campaign{
			Length: s.Length, Warm: s.Warm, Seed: s.Seed, Shards: s.Shards, Pool: s.Pool, Fresh: s.Fresh,
			Train: s.Train, Check: s.Check, New: s.New, Store: at.Store,
		}
		v := program{campaign: &c, of: s.Of, variant: s.Of.Variant(), prog: prog, in: s.Run.Inputs, out: new(Profiles)}
		return v.all(ctx, c.architectures(), func(int) {})
	})}
}
