package walltime

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"presage/perf/host"
	"presage/perf/internal/order"
)

// System is what the operating system of this computer takes, in seconds.
type System struct {
	Start float64 `frame:"start_sec"` // to start a process and to end it
	Fault float64 `frame:"fault_sec"` // to provide a page that is touched for the first time

	PageBytes uint64 `frame:"page_bytes"`
}

const (
	touchedPages = 20000

	// toucher touches as many pages as its argument says.
	toucher = `#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv) {
	long page = sysconf(_SC_PAGESIZE), n = argc > 1 ? atol(argv[1]) : 0;
	char *p = mmap(0, (n + 1) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (long i = 0; i < n; i++)
		p[i * page] = 1;
	return 0;
}
`
)

// runner runs native programs.
type runner struct {
	prefix  []string // a command that runs the command after it
	repeats int
}

// times is the wall time of some runs, in seconds.
type times struct{ Median, Min, Spread float64 }

// run runs a program once to warm up, and then repeatedly.
func (r *runner) run(ctx context.Context, exe string, args ...string) (times, error) {
	wall, err := r.walls(ctx, r.repeats, exe, args...)
	if err != nil {
		return times{}, err
	}
	return timesOf(wall), nil
}

// walls returns the wall times of n runs, after one to warm up.
func (r *runner) walls(ctx context.Context, n int, exe string, args ...string) ([]float64, error) {
	command := append(append([]string{}, r.prefix...), append([]string{exe}, args...)...)
	var wall []float64
	for i := range n + 1 {
		e, err := host.Execute(ctx, host.Command{Path: command[0], Args: command[1:]})
		if err != nil {
			return nil, fmt.Errorf("walltime: %v: %w", command, err)
		}
		if i > 0 {
			wall = append(wall, e.Wall.Seconds())
		}
	}
	return wall, nil
}

// timesOf summarizes wall times; there must be at least one.
func timesOf(wall []float64) times {
	slices.Sort(wall)
	t := times{Median: order.Median(wall), Min: wall[0]}
	t.Spread = (wall[len(wall)-1] - wall[0]) / t.Median
	return t
}

// system measures what the operating system takes.
func (r *runner) system(ctx context.Context, dir string) (System, error) {
	s := System{PageBytes: uint64(os.Getpagesize())}
	source := filepath.Join(dir, "touch.c")
	if err := os.WriteFile(source, []byte(toucher), 0o600); err != nil {
		return s, fmt.Errorf("walltime: %w", err)
	}
	p := Program{Source: "touch.c", Flags: []string{"-O1"}}
	exe := filepath.Join(dir, "touch")
	if err := p.Compile(ctx, dir, exe); err != nil {
		return s, err
	}
	none, err := r.run(ctx, exe, "0")
	if err != nil {
		return s, err
	}
	many, err := r.run(ctx, exe, strconv.Itoa(touchedPages))
	if err != nil {
		return s, err
	}
	s.Start = none.Min
	s.Fault = max(0, many.Min-none.Min) / touchedPages
	return s, nil
}
