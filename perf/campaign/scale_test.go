package campaign_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"presage/perf/campaign"
	"presage/perf/store"
)

// nothing is a job's Spec.
type nothing struct{ N int }

func nothingKey(n int) (store.Key, error) { return store.NewKey("nothing", 1, n) }

var nothingWorks = []campaign.Work{campaign.NewWork("nothing", func(_ context.Context, at campaign.Site, s nothing) error {
	key, err := nothingKey(s.N)
	if err != nil {
		return err
	}
	return at.Store.Save(key, s.N)
})}

// direct does jobs in this process.
type direct struct{}

func (direct) Execute(ctx context.Context, c *campaign.Campaign, tell func(campaign.Event)) error {
	if err := c.SaveJobs(); err != nil {
		return err
	}
	if err := c.Describe("direct", "", ""); err != nil {
		return err
	}
	j, err := campaign.OpenJournal(c.Dir, "direct")
	if err != nil {
		return err
	}
	defer j.Close()
	for i := range c.Jobs {
		e := campaign.Do(ctx, c.Store, nothingWorks, &c.Jobs[i], nil)
		if err := j.Write(e); err != nil {
			return err
		}
		tell(campaign.Event{Job: i, Ended: e})
	}
	return nil
}

func nothings(tb testing.TB, n int) []campaign.Job {
	tb.Helper()
	list := make([]campaign.Job, n)
	for i := range list {
		key, err := nothingKey(i)
		if err != nil {
			tb.Fatal(err)
		}
		if list[i], err = campaign.NewJob("nothing", "nothing", nothing{i}, key); err != nil {
			tb.Fatal(err)
		}
	}
	return list
}

// BenchmarkCampaign sends jobs that do nothing through the store, the journal and what
// looks at them afterwards: what campaigns cost beside their work. PRESAGE_JOBS=1000000
// asks for a million; PRESAGE_JOBS_DIR is where their store is, instead of a temporary
// folder.
func BenchmarkCampaign(b *testing.B) {
	sizes := []int{1_000, 10_000}
	if n, err := strconv.Atoi(os.Getenv("PRESAGE_JOBS")); err == nil {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("jobs=%d", n), func(b *testing.B) {
			for b.Loop() {
				dir := b.TempDir()
				if at := os.Getenv("PRESAGE_JOBS_DIR"); at != "" {
					dir = at
				}
				cost(b, store.Open(dir), n)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// cost reports what each step takes of a job.
func cost(b *testing.B, st *store.Store, n int) {
	begin := time.Now()
	lap := func(name string) {
		b.ReportMetric(float64(time.Since(begin).Nanoseconds())/float64(n), name+"-ns/job")
		begin = time.Now()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	list := nothings(b, n)
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "B/job")
	lap("list")
	r := campaign.Runner{On: direct{}}
	if err := r.Run(b.Context(), st, list, nil); err != nil {
		b.Fatal(err)
	}
	lap("do")
	if err := r.Run(b.Context(), st, list, nil); err != nil {
		b.Fatal(err)
	}
	lap("resume")
	id, err := campaign.IDOf(list)
	if err != nil {
		b.Fatal(err)
	}
	if s, err := campaign.StatusOf(st, id); err != nil || s.Done != n {
		b.Fatalf("%+v, %v", s, err)
	}
	lap("status")
	found := 0
	if err := st.Walk("", func(store.Entry) error { found++; return nil }); err != nil || found != n {
		b.Fatalf("%d entries, %v", found, err)
	}
	lap("walk")
	if c, err := campaign.Load(st, id); err != nil || len(c.Jobs) != 0 {
		b.Fatalf("%v, %v", c, err)
	}
	lap("load")
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.Sys)/float64(n), "sys-B/job")
}
