package campaign_test

import (
	"context"
	"errors"
	"testing"

	"presage/perf/campaign"
	"presage/perf/store"
)

// some does the first jobs of a campaign, and then gives up.
type some int

func (n some) Execute(ctx context.Context, c *campaign.Campaign, tell func(campaign.Event)) error {
	part := *c
	part.Jobs = c.Jobs[:min(int(n), len(c.Jobs))]
	if err := (direct{}).Execute(ctx, &part, tell); err != nil {
		return err
	}
	if err := c.SaveJobs(); err != nil {
		return err
	}
	if len(part.Jobs) < len(c.Jobs) {
		return errors.New("enough")
	}
	return nil
}

// TestStatus interrupts a campaign twice, and begins when some of it is done: each time
// the status counts what is there.
func TestStatus(t *testing.T) {
	st := store.Open(t.TempDir())
	list := nothings(t, 10)
	early := campaign.Runner{On: some(2)}
	if err := early.Run(t.Context(), st, list[:2], nil); err != nil {
		t.Fatal(err)
	}
	id, err := campaign.IDOf(list)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{5, 8, 10} {
		r := campaign.Runner{On: some(3)}
		if err := r.Run(t.Context(), st, list, nil); (err == nil) != (want == 10) {
			t.Errorf("run %d: %v", i, err)
		}
		s, err := campaign.StatusOf(st, id)
		if err != nil || s.Done != want || s.Total != 10 {
			t.Errorf("run %d: %d done of %d, %v, want %d of 10", i, s.Done, s.Total, err, want)
		}
	}
}

// TestFailedIsRemembered asks twice for a job that fails: it is done once, and its error
// comes back, as its user's own.
func TestFailedIsRemembered(t *testing.T) {
	st := store.Open(t.TempDir())
	job, err := campaign.NewJob("unheard of", "x", 1)
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	r := campaign.Runner{On: direct{}, Failed: func(campaign.Ended) { lines++ }}
	collected := false
	for range 2 {
		_, err := campaign.Map(t.Context(), &r, st, nil, []campaign.Task[int]{{
			Job:     func() (campaign.Job, error) { return job, nil },
			Collect: func(context.Context) (int, error) { collected = true; return 0, nil },
		}})
		var failed *campaign.JobError
		if !errors.As(err, &failed) || failed.Label != "x" {
			t.Errorf("%v, want a JobError", err)
		}
	}
	if lines != 1 || collected {
		t.Errorf("%d lines, collected %t", lines, collected)
	}
}
