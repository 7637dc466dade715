package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"presage/perf"
	"presage/perf/misses"
	"presage/perf/store"

	"github.com/go-gota/gota/dataframe"
	"github.com/spf13/cobra"
)

// cacheFlags say which caches are asked about: levels of a machine, or sizes.
type cacheFlags struct {
	machine    string
	levels     []string
	capacities []string
	ways       uint64
	block      string
}

func (c *cacheFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.machine, "machine", "", "machine whose caches and TLBs are asked about: a name (see presage machines) or a .yaml file")
	f.StringSliceVar(&c.levels, "level", nil, "levels of the machine, such as L2,TLB (default all)")
	f.StringSliceVar(&c.capacities, "capacity", nil, "capacities of caches, such as 32KiB,4MiB, in place of a machine")
	f.Uint64Var(&c.ways, "ways", 0, "associativity of these caches; 0: fully associative")
	f.StringVar(&c.block, "block", "", "block size of these caches, such as 64, or 16KiB for a TLB (default the smallest that was profiled)")
}

// caches returns what the flags say. Without a machine or capacities it is one
// cache of unknown capacity.
func (c *cacheFlags) caches() ([]perf.CacheSize, error) {
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
	kind := perf.CacheSize{Ways: c.ways}
	if c.block != "" {
		var err error
		if kind.BlockBytes, err = parseBytes(c.block); err != nil {
			return nil, fmt.Errorf("--block: %w", err)
		}
	}
	if len(c.capacities) == 0 {
		return []perf.CacheSize{kind}, nil
	}
	var caches []perf.CacheSize
	for _, text := range c.capacities {
		var err error
		if kind.Capacity, err = parseBytes(text); err != nil {
			return nil, fmt.Errorf("--capacity: %w", err)
		}
		caches = append(caches, kind)
	}
	return caches, nil
}

// parseBytes reads a whole number of bytes above 0, such as 64, 32KiB or 4 MiB.
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

// parseVary reads name, or name=first:last or name=first:last:step.
func parseVary(text string) (perf.Vary, error) {
	name, values, ok := strings.Cut(text, "=")
	v := perf.Vary{Param: name}
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

func queryCommand() *cobra.Command {
	var (
		at        sweepFlag
		caches    cacheFlags
		out       output
		fit       perf.FitOptions
		q         perf.Query
		vary      string
		distances bool
	)
	cmd := &cobra.Command{
		Use:   "query DIR",
		Short: "Ask the models: misses, hit ratios, smallest caches, largest problems, distances",
		Long: `query fits models to the profiles in DIR and answers with the third of problem
size, cache and ratio, if two are given:

  --at and caches              misses and hit ratio, with an interval
  --at and a ratio             the smallest cache that reaches it; caches give
                               the ways and block sizes
  caches, a ratio and --vary   the largest problem that stays within it, at all
                               smaller sizes and at any

Caches are levels of a machine, or --capacity with --ways and --block. A TLB is a
cache whose blocks are what its entries map. A ratio is --hit-ratio or
--miss-ratio, to all accesses of the program, routine, loop or group. --distances
asks for the distribution of reuse distances at the sizes --at instead.`,
		Example: `  presage query profiles --at n=60,80 --capacity 1MiB,2MiB,4MiB --ways 2 --block 128
  presage query profiles --at n=60 --machine origin2000 --level L2 --hit-ratio 0.99
  presage query profiles --at n=60 --ways 8 --block 32 --miss-ratio 0.01 --by routine
  presage query profiles --machine origin2000 --level TLB --miss-ratio 0.001 --vary n=20:400:1
  presage query profiles --at n=60 --distances --block 32 --by loop --format csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			var err error
			if q.Vary = (perf.Vary{}); vary != "" {
				if q.Vary, err = parseVary(vary); err != nil {
					return err
				}
			}
			q.Points = at.points
			if q.Caches, err = caches.caches(); err != nil {
				return err
			}
			if distances && (caches.machine != "" || len(caches.capacities) > 0 || caches.ways != 0 || vary != "" || q.HitRatio != 0 || q.MissRatio != 0) {
				return errors.New("--distances takes --at and --block alone")
			}
			if len(at.points) == 0 && vary == "" {
				return errors.New("no sizes: give them with --at, such as --at n=60,80, or ask for the largest with --vary n")
			}
			if !distances && q.HitRatio == 0 && q.MissRatio == 0 && caches.machine == "" && len(caches.capacities) == 0 {
				return errors.New("two of size, cache and ratio are needed: give caches with --machine or --capacity, or a ratio with --hit-ratio or --miss-ratio")
			}
			if vary != "" && caches.machine == "" && len(caches.capacities) == 0 {
				return errors.New("no caches: give them with --machine or --capacity")
			}
			runs, err := perf.LoadRuns(args[0])
			if err != nil {
				return err
			}
			fit.Store = store.Open(args[0])
			model, err := perf.FitScaling(cmd.Context(), runs, fit)
			if err != nil {
				return err
			}
			if n := len(model.Warnings); n > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "%d warnings about the models; presage predict --warnings shows them\n", n)
			}
			var df dataframe.DataFrame
			if distances {
				df, err = perf.Distances(model, q.Points, perf.DistanceOptions{By: q.By, BlockBytes: q.Caches[0].BlockBytes})
			} else {
				df, err = perf.Ask(cmd.Context(), model, q)
			}
			if err != nil {
				return err
			}
			return out.print(cmd.OutOrStdout(), df)
		},
	}
	f := cmd.Flags()
	f.Var(&at, "at", "problem sizes: name=value,… or name=first:last:step; repeat for further parameters")
	caches.register(cmd)
	f.Float64Var(&q.HitRatio, "hit-ratio", 0, "share of the accesses that is to hit, above 0 and up to 1")
	f.Float64Var(&q.MissRatio, "miss-ratio", 0, "share of the accesses that may miss, above 0 and up to 1")
	f.StringVar(&vary, "vary", "", "parameter whose largest value is asked for: name, or name=first:last:step (default whole numbers, from the smallest that was profiled to 8 times the largest)")
	f.BoolVar(&distances, "distances", false, "predict the distribution of reuse distances")
	f.StringVar((*string)(&q.By), "by", "program", "what a row is about: program, routine, loop or reference (a group of them, by its first)")
	f.Float64Var(&q.Coverage, "coverage", 0, "probability that an interval of misses is to hold them; negative: no intervals (default 0.9)")
	f.StringVar(&fit.Basis, "basis", "", `functions that models are sums of, such as "1, n, n^2, n^3, n*log(n)" (default powers up to the third)`)
	f.BoolVar(&fit.MedianRatio, "median-ratio", false, "split histograms in one ratio at all sizes, as the papers do")
	out.register(cmd)
	return cmd
}
