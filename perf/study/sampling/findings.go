package sampling

import (
	"errors"
	"path/filepath"

	"presage/perf/phase"
	"presage/perf/study/record"
	"presage/perf/subject"
)

// Findings are the results of a study of one run.
type Findings struct {
	Name string // of the program, or of the files that they were loaded from

	// Hits are the hit ratios of the full simulation; of SimPoint with its defaults
	// (sampling "simpoint") and periodic samples, each with several warm-ups; and of
	// SimPoint with several numbers of points ("simpoint k=8") and lengths of
	// intervals, warmed up as by default.
	Hits []phase.HitRow
	// Blocks are those of basic blocks at the first level: of the full simulation,
	// SimPoint with its defaults and with 8 points, and periodic samples, without
	// the blocks that make the last 0.01% of the accesses.
	Blocks   []phase.BlockRow
	Runs     []RunRow     // that were timed
	Clusters []ClusterRow // clusterings, by length of intervals
	Warnings []string     // not recorded

	origin string
}

// RunRow is a run that was timed.
type RunRow struct {
	Program      string        `frame:"program"`
	Point        subject.Point `frame:",each"`
	Machine      string        `frame:"machine"`
	Instructions uint64        `frame:"instructions"` // of the program's run
	Run          string        `frame:"run"`          // untraced, vectors, clustering, full, or the sampling
	Points       int           `frame:"points"`       // stretches that were simulated
	Warmup       string        `frame:"warmup"`
	Simulated    float64       `frame:"simulated_share"`    // of the run's instructions, from 0 to 1
	Executed     float64       `frame:"executed_share"`     // likewise
	Seconds      float64       `frame:"meas_time_sec"`      // by the clock
	Processor    float64       `frame:"meas_processor_sec"` // of all threads
	PerUntraced  float64       `frame:"per_untraced"`       // processor time over that of the untraced run
	PerFull      float64       `frame:"per_full"`           // processor time over that of the full simulation
}

// ClusterRow is a clustering of the run's intervals.
type ClusterRow struct {
	Program   string        `frame:"program"`
	Point     subject.Point `frame:",each"`
	Interval  uint64        `frame:"interval_instructions"`
	Intervals int           `frame:"intervals"`
	Asked     int           `frame:"k_asked"` // clusters; 0: chosen by the score
	K         int           `frame:"k"`
	Mismatch  float64       `frame:"mismatch"`        // see phase.HitRow
	Seeds     int           `frame:"seeds"`           // that were tried; with one, what follows is NaN
	Agreement float64       `frame:"agreement"`       // mean adjusted Rand index of the pairs of clusterings
	Least     float64       `frame:"agreement_least"` // smallest
	KMin      float64       `frame:"k_least"`         // range of k
	KMax      float64       `frame:"k_most"`
}

// Files that findings are recorded in, after the prefix of their names.
const (
	hitsFile     = "-hits.csv"
	blocksFile   = "-blocks.csv"
	runsFile     = "-runs.csv"
	clustersFile = "-clusters.csv"
)

// Record records the tables in files whose names begin with prefix. command makes
// them again.
func (f *Findings) Record(prefix, command string) error {
	from := record.Source{Origin: f.origin, Command: command}
	return errors.Join(
		record.Write(prefix+hitsFile, f.Hits, from),
		record.Write(prefix+blocksFile, f.Blocks, from),
		record.Write(prefix+runsFile, f.Runs, from),
		record.Write(prefix+clustersFile, f.Clusters, from),
	)
}

// Load reads findings that Record wrote.
func Load(prefix string) (*Findings, error) {
	hits, err := record.Read[phase.HitRow](prefix + hitsFile)
	if err != nil {
		return nil, err
	}
	blocks, err := record.Read[phase.BlockRow](prefix + blocksFile)
	if err != nil {
		return nil, err
	}
	runs, err := record.Read[RunRow](prefix + runsFile)
	if err != nil {
		return nil, err
	}
	clusters, err := record.Read[ClusterRow](prefix + clustersFile)
	if err != nil {
		return nil, err
	}
	return &Findings{
		Name: filepath.Base(prefix), Hits: hits.Rows, Blocks: blocks.Rows, Runs: runs.Rows, Clusters: clusters.Rows,
		origin: hits.Origin,
	}, nil
}
