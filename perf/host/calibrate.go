package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	"presage/perf/progress"
)

// Options configures a calibration.
type Options struct {
	// Quick measures fewer working sets, each less often: about 7 s instead of
	// 30 s of a processor (with a last cache of 32 MiB), and more easily
	// disturbed.
	Quick bool
	// Passes is how often most is measured, of which the least disturbed counts; 0: twice.
	// Each takes about 12 s (Quick: 2 s). Where others use a shared cache, and now more
	// and now less of it, more passes see more of it.
	Passes int
	// MaxBytes is the largest working set; 0: eight times the last cache that
	// the system describes (Quick: four times), from 128 MiB to 512 MiB. Twice as
	// much memory is used for some of the time.
	MaxBytes uint64
	// Seed chooses the random order in which working sets are visited.
	Seed uint64
	// Progress is called whenever a part of the calibration begins, and once at
	// the end.
	Progress progress.Func
}

// Bounds of the largest working set.
const (
	minLargest = 8 << 20
	lowLargest = 128 << 20
	maxLargest = 512 << 20
)

const defaultPasses = 2

// firstBytes is the smallest working set: it fits into every first level.
const firstBytes = 4 << 10

// Calibrate measures this machine. It keeps one processor busy until it is
// done; other load disturbs it.
func Calibrate(ctx context.Context, opt Options) (*Profile, error) {
	if opt.Passes < 0 {
		return nil, fmt.Errorf("host: %d passes: want at least 1, or 0 for %d", opt.Passes, defaultPasses)
	}
	runtime.LockOSThread() // measured on one thread; the system may still move it
	defer runtime.UnlockOSThread()
	c := &calibration{
		Profile: &Profile{
			Processor: Name(), System: runtime.GOOS + "/" + runtime.GOARCH,
			Processors: runtime.GOMAXPROCS(0), Virtual: virtual(), Began: time.Now(), PageBytes: uint64(os.Getpagesize()),
		},
		opt:   opt,
		meter: meter{ctx: ctx, repeats: 11, slice: 2 * time.Millisecond},
		rng:   rand.New(rand.NewPCG(opt.Seed, 1)),
	}
	if opt.Quick {
		c.repeats, c.slice = 5, time.Millisecond
	}
	if err := c.geometry(); err != nil {
		return nil, err
	}
	type part struct {
		name string
		run  func() error
	}
	parts := []part{
		{"clock", c.clock},
		{"operations", c.operations},
		{"branches", c.branches},
		{"ends of loops", c.loops},
		{"patterns of branches", c.patterns},
		{"load latency, ordinary pages", func() error { return c.latencies(false) }},
		{"load latency, huge pages", func() error { return c.latencies(true) }},
		{"load latency in order", c.stream},
		{"misses in flight", c.parallel},
		{"window", c.window},
		{"TLB reach", c.translations},
		{"bandwidth", c.bandwidths},
	}
	for range cmp.Or(opt.Passes, defaultPasses) - 1 {
		parts = append(parts, part{"once more", c.again})
	}
	defer c.release()
	for i, part := range parts {
		opt.Progress.Report(progress.Report{Task: part.name, Done: i, Total: len(parts)})
		if err := part.run(); err != nil {
			return nil, fmt.Errorf("host: %s: %w", part.name, err)
		}
	}
	opt.Progress.Finish(len(parts))
	c.findLevels()
	c.findReaches()
	c.findWindow()
	c.findLoopReach()
	c.findPatternReach()
	c.doubts()
	c.Took = time.Since(c.Began)
	return c.Profile, nil
}

// Name returns the operating system's name for the processor, or else its
// architecture.
func Name() string { return cmp.Or(processorName(), runtime.GOARCH) }

// calibration is a profile under construction.
type calibration struct {
	*Profile
	meter
	opt     Options
	rng     *rand.Rand
	largest uint64
	small   *region // in ordinary pages
	huge    *region // asked for in huge ones
	order   []uint32
}

func (c *calibration) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}

// geometry reads the system's description of the caches and decides on the
// working sets.
func (c *calibration) geometry() error {
	all, err := systemCaches()
	if err != nil {
		c.warn("what the system says about caches could not be read: %v", err)
	}
	last := uint64(0)
	for _, g := range all {
		if err := g.usable(); err != nil {
			c.warn("what the system says about the cache of level %d is impossible (%v) and left out", g.Level, err)
			continue
		}
		c.Geometry = append(c.Geometry, g)
		last = max(last, g.Capacity)
	}
	c.LineBytes = 64
	if len(c.Geometry) > 0 {
		c.LineBytes = c.Geometry[0].LineBytes
	} else {
		c.warn("the system describes no caches: capacities are those detected, lines of %d bytes are assumed", c.LineBytes)
	}
	switch times := uint64(8); {
	case c.opt.MaxBytes != 0 && c.opt.MaxBytes < minLargest:
		return fmt.Errorf("host: a largest working set of %d bytes shows no cache beyond the first: want at least %d", c.opt.MaxBytes, minLargest)
	case c.opt.MaxBytes != 0:
		c.largest = c.opt.MaxBytes
	default:
		if c.opt.Quick {
			times = 4
		}
		c.largest = min(maxLargest, max(lowLargest, times*last))
	}
	c.largest = c.largest / hugePageBytes * hugePageBytes
	return nil
}

func (c *calibration) release() {
	for _, r := range []*region{c.small, c.huge} {
		if r != nil {
			_ = r.free() // of memory that was mapped: it cannot fail
		}
	}
}

// errNoTime is returned if the compiler removed the code to measure, or the
// clock stands still.
var errNoTime = errors.New("no time passed")

// timed measures a kernel with ops operations per round.
func (c *calibration) timed(ops int, body func(rounds int)) (Sample, error) {
	s, err := c.time(body)
	if err == nil && s.Min <= 0 {
		err = errNoTime
	}
	return s.scaled(1 / float64(ops)), err
}
