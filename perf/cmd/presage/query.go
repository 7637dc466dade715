package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-gota/gota/dataframe"
	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/store"
)

// cacheFlags select the caches of a query: levels of a machine, or sizes.
type cacheFlags struct {
	machine    string
	levels     []string
	capacities []string
	ways       uint64
	block      string
}

func (c *cacheFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.machine, "machine", "", "machine whose caches and TLBs are queried: a name (see presage machines) or a .yaml file")
	f.StringSliceVar(&c.levels, "level", nil, "levels of the machine, such as L2,TLB (default all)")
	f.StringSliceVar(&c.capacities, "capacity", nil, "capacities of caches, such as 32KiB,4MiB, in place of a machine")
	f.Uint64Var(&c.ways, "ways", 0, "associativity of these caches; 0: fully associative")
	f.StringVar(&c.block, "block", "", "block size of these caches, such as 64, or 16KiB for a TLB (default the smallest that was profiled)")
}

// named reports whether the flags name caches of known capacity.
func (c *cacheFlags) named() bool { return c.machine != "" || len(c.capacities) > 0 }

// caches returns the selected caches. Without a machine or capacities it returns
// one cache of unknown capacity.
func (c *cacheFlags) caches() ([]misses.CacheSize, error) {
	if c.machine != "" {
		if len(c.capacities) > 0 || c.ways != 0 || c.block != "" {
			return nil, errors.New("--machine says which caches; --capacity, --ways and --block are for caches that no machine has")
		}
		m, err := perf.FindMachine(c.machine)
		if err != nil {
			return nil, err
		}
		return misses.CachesOf(m, c.levels...)
	}
	if len(c.levels) > 0 {
		return nil, errors.New("--level takes a --machine")
	}
	kind := misses.CacheSize{Ways: c.ways}
	if c.block != "" {
		var err error
		if kind.BlockBytes, err = parseBytes(c.block); err != nil {
			return nil, fmt.Errorf("--block: %w", err)
		}
	}
	if len(c.capacities) == 0 {
		return []misses.CacheSize{kind}, nil
	}
	var caches []misses.CacheSize
	for _, text := range c.capacities {
		var err error
		if kind.Capacity, err = parseBytes(text); err != nil {
			return nil, fmt.Errorf("--capacity: %w", err)
		}
		caches = append(caches, kind)
	}
	return caches, nil
}

// parseBytes parses a positive whole number of bytes, such as 64, 32KiB or 4 MiB.
func parseBytes(text string) (uint64, error) {
	number, shift := strings.TrimSpace(text), 0
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		if rest, ok := strings.CutSuffix(number, unit); ok {
			number, shift = strings.TrimSpace(rest), 10*(i+1)
			break
		}
	}
	v, err := strconv.ParseUint(number, 10, 64)
	if err != nil || v == 0 || v > math.MaxInt64>>shift {
		return 0, fmt.Errorf("%q: want a whole number of bytes, KiB, MiB or GiB above 0, such as 32KiB", text)
	}
	return v << shift, nil
}

// parseVary parses name, name=first:last or name=first:last:step.
func parseVary(text string) (misses.Vary, error) {
	name, values, ok := strings.Cut(text, "=")
	v := misses.Vary{Param: name}
	if name == "" || ok && values == "" {
		return v, fmt.Errorf("--vary %q: want name, or name=first:last:step", text)
	}
	if !ok {
		return v, nil
	}
	to := []*float64{&v.From, &v.To, &v.Step}
	parts := strings.Split(values, ":")
	if len(parts) < 2 || len(parts) > len(to) {
		return v, fmt.Errorf("--vary %q: want name, or name=first:last:step", text)
	}
	for i, part := range parts {
		x, err := strconv.ParseFloat(part, 64)
		if err != nil || !(x > 0) || math.IsInf(x, 0) {
			return v, fmt.Errorf("--vary %q: %q is not a number above 0", text, part)
		}
		*to[i] = x
	}
	return v, nil
}

// queryFlags are the flags of query.
type queryFlags struct {
	at        sweepFlag
	caches    cacheFlags
	out       output
	fit       perf.FitOptions
	query     perf.Query
	vary      string
	distances bool
}

func queryCommand() *cobra.Command {
	var q queryFlags
	cmd := &cobra.Command{
		Use:   "query DIR",
		Short: "Ask the models: misses, hit ratios, smallest caches, largest problems, distances",
		Long: `query fits models to the profiles in DIR. Given two of problem size, cache and
ratio, it answers with the third:

  --at and caches              misses and hit ratio, with an interval
    --at and a ratio             the smallest cache that reaches the ratio; caches
                                 give the ways and block sizes
    caches, a ratio and --vary   the largest problem that stays within the ratio:
                                 at all smaller sizes too, and at any size

Caches are levels of a machine, or --capacity with --ways and --block. A TLB is a
cache whose blocks are the pages that its entries map. The capacity of an exclusive
cache is that of it and the cache above together, which has no blocks of it. A ratio is --hit-ratio or
--miss-ratio, relative to all accesses of the program, routine, loop or group.
--distances predicts the distribution of reuse distances at the sizes --at instead.`,
		Example: `  presage query profiles --at n=60,80 --capacity 1MiB,2MiB,4MiB --ways 2 --block 128
  presage query profiles --at n=60 --machine origin2000 --level L2 --hit-ratio 0.99
  presage query profiles --at n=60 --ways 8 --block 32 --miss-ratio 0.01 --by routine
  presage query profiles --machine origin2000 --level TLB --miss-ratio 0.001 --vary n=20:400:1
  presage query profiles --at n=60 --distances --block 32 --by loop --format csv`,
		Args: cobra.ExactArgs(1),
		RunE: q.answer,
	}
	f := cmd.Flags()
	f.Var(&q.at, "at", "problem sizes: name=value,… or name=first:last:step; repeat for further parameters")
	q.caches.register(cmd)
	f.Float64Var(&q.query.HitRatio, "hit-ratio", 0, "fraction of the accesses that must hit, above 0 and up to 1")
	f.Float64Var(&q.query.MissRatio, "miss-ratio", 0, "fraction of the accesses that may miss, above 0 and up to 1")
	f.StringVar(&q.vary, "vary", "", "parameter whose largest value is wanted: name, or name=first:last:step (default whole numbers, from the smallest profiled to 8 times the largest)")
	f.BoolVar(&q.distances, "distances", false, "predict the distribution of reuse distances")
	f.StringVar((*string)(&q.query.By), "by", "program", "scope of a row: program, routine, loop or reference (a group of them, named by its first)")
	registerListing(cmd, &q.query.Listing, "a cache's misses")
	registerMethod(f, &q.query.Method)
	f.Float64Var(&q.query.Coverage, "coverage", 0, "coverage probability of the intervals of misses; negative: no intervals (default 0.9)")
	f.StringVar(&q.fit.Basis, "basis", "", `basis functions of the models, such as "1, n, n^2, n^3, n*log(n)" (default powers up to the third)`)
	f.BoolVar(&q.fit.MedianRatio, "median-ratio", false, "split histograms in the same ratio at all sizes, as the papers do")
	q.out.register(cmd)
	return cmd
}

// answer fits models to a folder of profiles and prints the answer to the query.
func (q *queryFlags) answer(cmd *cobra.Command, args []string) error {
	if err := q.read(); err != nil {
		return err
	}
	if asked, err := q.query.Asks(); q.distances || err != nil || asked != misses.AsksMisses {
		for _, name := range []string{"min-share", "limit"} {
			if cmd.Flags().Changed(name) {
				return fmt.Errorf("--%s is for misses: rows of other answers do not add up", name)
			}
		}
	}
	runs, err := locality.LoadRuns(args[0])
	if err != nil {
		return err
	}
	q.fit.Store = store.Open(args[0])
	model, err := perf.FitScaling(cmd.Context(), runs, q.fit)
	if err != nil {
		return err
	}
	if n := len(model.Warnings); n > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d warnings about the models; presage predict --warnings shows them\n", n)
	}
	var df dataframe.DataFrame
	if q.distances {
		var rows []misses.DistanceBin
		rows, err = misses.Distances(cmd.Context(), model, q.query.Points, misses.DistanceOptions{By: q.query.By, BlockBytes: q.query.Caches[0].BlockBytes})
		df = perf.Frame(rows)
	} else {
		df, err = perf.Ask(cmd.Context(), model, q.query)
	}
	if err != nil {
		return err
	}
	return q.out.print(cmd.OutOrStdout(), df)
}

// read sets the query from the flags.
func (q *queryFlags) read() error {
	if err := q.out.check(); err != nil {
		return err
	}
	var err error
	if q.query.Vary = (misses.Vary{}); q.vary != "" {
		if q.query.Vary, err = parseVary(q.vary); err != nil {
			return err
		}
	}
	q.query.Points = q.at.points
	if q.query.Caches, err = q.caches.caches(); err != nil {
		return err
	}
	return q.check()
}

// check returns an error unless the flags form exactly one question.
func (q *queryFlags) check() error {
	ratio := q.query.HitRatio != 0 || q.query.MissRatio != 0
	switch {
	case q.distances && (q.caches.named() || q.caches.ways != 0 || q.vary != "" || ratio):
		return errors.New("--distances takes --at and --block alone")
	case len(q.at.points) == 0 && q.vary == "":
		return errors.New("no sizes: give them with --at, such as --at n=60,80, or ask for the largest with --vary n")
	case !q.distances && !ratio && !q.caches.named():
		return errors.New("two of size, cache and ratio are needed: give caches with --machine or --capacity, or a ratio with --hit-ratio or --miss-ratio")
	case q.vary != "" && !q.caches.named():
		return errors.New("no caches: give them with --machine or --capacity")
	}
	return nil
}
