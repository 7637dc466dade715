package slurm

import (
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/campaign"
	"presage/perf/campaign/internal/squares"
	"presage/perf/store"
)

func forecast(t *testing.T, load Load, cluster Cluster, config Config) map[string]Prediction {
	t.Helper()
	rows, err := Forecast(t.Context(), load, cluster, config)
	if err != nil {
		t.Fatal(err)
	}
	byWithout := make(map[string]Prediction)
	for _, r := range rows {
		byWithout[r.Without] = r
	}
	return byWithout
}

// TestForecastByHand holds forecasts against times that follow by hand.
func TestForecastByHand(t *testing.T) {
	free := Cluster{Nodes: 2, Cores: 4, Poll: 1e-3}
	for name, c := range map[string]struct {
		load    Load
		cluster func(*Cluster)
		config  Config
		want    float64 // seconds, to within the time between two looks and 1e-3
		tasks   int
	}{
		"as many jobs as cores":      {Load{Jobs: 8, Seconds: []float64{10}, Measured: true}, nil, Config{Target: 10}, 10, 8},
		"in three rounds":            {Load{Jobs: 24, Seconds: []float64{10}, Measured: true}, nil, Config{Target: 10}, 30, 24},
		"chunks of two":              {Load{Jobs: 16, Seconds: []float64{10}, Measured: true}, nil, Config{Target: 20}, 20, 8},
		"eight first, then one task": {Load{Jobs: 20, Seconds: []float64{1}}, nil, Config{}, 13, 9},
		"jobs of two cores":          {Load{Jobs: 8, Seconds: []float64{10}, Cores: 2, Measured: true}, nil, Config{Target: 10}, 20, 8},
		"jobs of three of 4 cores":   {Load{Jobs: 8, Seconds: []float64{10}, Cores: 3, Measured: true}, nil, Config{Target: 10}, 40, 8},
		"one task at a time":         {Load{Jobs: 8, Seconds: []float64{10}, Measured: true}, nil, Config{Target: 10, Tasks: 1}, 80, 8},
		"slow starts":                {Load{Jobs: 8, Seconds: []float64{10}, Measured: true}, func(c *Cluster) { c.Begin = 2; c.Rate = 1 }, Config{Target: 10}, 7 + 2 + 10, 8},
		"slow releases":              {Load{Jobs: 24, Seconds: []float64{10}, Measured: true}, func(c *Cluster) { c.Begin, c.Release = 1, 3 }, Config{Target: 10}, 3*(1+10) + 2*3, 24},
		// 800 results of 8 operations each are kept one after the other, in 64 s. Each look
		// waits for the 8 results queued before it and costs 2 operations for each task; the
		// seventh sees the end.
		"a slow file system": {Load{Jobs: 800, Seconds: []float64{0.001}, Measured: true}, func(c *Cluster) { c.Operations, c.Poll = 100, 10 }, Config{Target: 0.1001}, 7*10 + 6*(0.64+0.16), 8},
		// Each task takes a second of the file system before its job begins, one after the
		// other, and another one for the result: the last ends at 19 s. The look at 18.5 s
		// waits for it, costs two seconds for eight tasks, and knows seven ends; that
		// 18.5 s later costs a quarter, for one.
		"tasks read what they do": {Load{Jobs: 8, Seconds: []float64{10}, Measured: true}, func(c *Cluster) { c.Operations, c.Poll = 8, 18.5 }, Config{Target: 10}, 21 + 18.5 + 0.25, 8},
	} {
		cluster := free
		if c.cluster != nil {
			c.cluster(&cluster)
		}
		got := forecast(t, c.load, cluster, c.config)[""]
		if math.Abs(got.Seconds-c.want) > 0.01*c.want+0.02 || got.Tasks != c.tasks {
			t.Errorf("%s: %.3f s in %d tasks, want %g in %d", name, got.Seconds, got.Tasks, c.want, c.tasks)
		}
		work := 0.0
		for i := range c.load.Jobs {
			work += c.load.Seconds[i%len(c.load.Seconds)] * float64(max(1, c.load.Cores))
		}
		if busy := work / (8 * got.Seconds); math.Abs(got.Busy-busy) > 1e-9 {
			t.Errorf("%s: busy %g, want %g", name, got.Busy, busy)
		}
	}
}

// TestForecastOfThousands finds what breaks first on a thousand nodes.
func TestForecastOfThousands(t *testing.T) {
	load := Load{Jobs: 40_000, Seconds: []float64{20, 40}, Measured: true}
	cluster := Cluster{Nodes: 1000, Cores: 64, Begin: 1, Rate: 100, Submit: 0.1, Operations: 20_000}
	got := forecast(t, load, cluster, Config{})
	if p := got[""]; p.Running > DefaultTasks || p.Busy > 0.1 {
		t.Errorf("%+v: more than %d tasks ran", p, DefaultTasks)
	}
	// Tasks of ten minutes leave most cores idle; more of them do not help, smaller ones
	// alone neither, as only so many are submitted at a time.
	both := forecast(t, load, cluster, Config{Target: 40, Tasks: 64_000})
	if both[""].Seconds > got[""].Seconds/2 {
		t.Errorf("%.0f s with small tasks, many at a time; %.0f s without", both[""].Seconds, got[""].Seconds)
	}
	if fast := both["start of tasks"].Seconds; fast > 0.5*both[""].Seconds {
		t.Errorf("%.0f s if tasks start at once, %.0f s at 100 in a second", fast, both[""].Seconds)
	}
}

func TestForecastErrors(t *testing.T) {
	load, cluster := Load{Jobs: 1, Seconds: []float64{1}}, Cluster{Nodes: 1, Cores: 1}
	for want, edit := range map[string]func(*Load, *Cluster){
		"takes jobs":         func(l *Load, _ *Cluster) { l.Jobs = 0 },
		"time of at least":   func(l *Load, _ *Cluster) { l.Seconds = nil },
		"number of nodes":    func(_ *Load, c *Cluster) { c.Nodes = 0 },
		"do not fit":         func(l *Load, _ *Cluster) { l.Cores = 2 },
		"want finite number": func(_ *Load, c *Cluster) { c.Rate = math.NaN() },
		"forecast a part":    func(l *Load, _ *Cluster) { l.Jobs = math.MaxInt32 },
		"of -1 cores":        func(l *Load, _ *Cluster) { l.Cores = -1 },
		"of -1 tasks":        func(_ *Load, c *Cluster) { c.ArraySize = -1 },
		"not negative":       func(l *Load, _ *Cluster) { l.Seconds = []float64{-1} },
	} {
		l, c := load, cluster
		edit(&l, &c)
		if _, err := Forecast(t.Context(), l, c, Config{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := Forecast(t.Context(), load, cluster, Config{Tasks: -1}); err == nil {
		t.Error("-1 tasks at a time: no error")
	}
	if _, err := LoadOf(store.Open(t.TempDir()), "ab"); err == nil {
		t.Error("a campaign that there is not: no error")
	}
}

// TestForecastOfTwoNodes holds a forecast against a campaign on two real nodes: its
// arrays, tasks and files are the same, and its bytes nearly.
func TestForecastOfTwoNodes(t *testing.T) {
	needCluster(t)
	st := store.Open(t.TempDir())
	list := jobs(t, 48, func(_ int, s *squares.Spec) { s.Sleep, s.Bytes = 0.25, 20_000 })
	s := executor()
	if failed, err := run(t, s, st, list); err != nil || len(failed) > 0 {
		t.Fatalf("%v, failed %+v", err, failed)
	}
	id, err := campaign.IDOf(list)
	if err != nil {
		t.Fatal(err)
	}
	load, err := LoadOf(st, id)
	if err != nil || load.Jobs != 48 || len(load.Seconds) != 48 || !(load.Result > 20_000 && load.Result < 21_000) {
		t.Fatalf("%+v, %v", load, err)
	}
	arrays, err := filepath.Glob(filepath.Join(st.Dir(), campaign.Folder, id, "arrays", "*"))
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := filepath.Glob(filepath.Join(st.Dir(), campaign.Folder, id, "arrays", "*", "task-*"))
	if err != nil {
		t.Fatal(err)
	}
	files, bytes, programs := 0, 0.0, 0.0
	err = filepath.WalkDir(st.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() > 1<<20 {
			programs += float64(info.Size())
		}
		files++
		bytes += float64(info.Size())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	got := forecast(t, load, Cluster{Nodes: 2, Cores: 2, Poll: s.Poll.Seconds()}, s.Config)[""]
	if got.Arrays != len(arrays) || got.Tasks != len(tasks) || got.Files != files {
		t.Errorf("%d arrays, %d tasks, %d files; forecast %+v", len(arrays), len(tasks), files, got)
	}
	t.Logf("the forecast is %.2f s without what Slurm takes to start tasks", got.Seconds)
	if is := bytes - programs; math.Abs(got.Bytes-is) > 0.02*is {
		t.Errorf("%.0f bytes without the executable, forecast %.0f", is, got.Bytes)
	}
}
