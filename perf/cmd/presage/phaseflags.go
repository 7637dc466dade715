package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"presage/perf"
	"presage/perf/phase"
	"presage/perf/simpoint"
	"presage/perf/store"
)

// phaseFlags are the flags of commands that cut a run into intervals.
type phaseFlags struct {
	run      runFlags
	at       sweepFlag
	interval uint64
	dir      string
	on       campaignFlags
	pick     simpoint.Options
}

func (p *phaseFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(&p.at, "at", "problem size, name=value; repeat for further parameters (default none: --args is complete)")
	f.Uint64Var(&p.interval, "interval", 0, "instructions of an interval (default 1000000)")
	f.IntVar(&p.pick.K, "k", 0, "number of clusters; 0: chosen by their score")
	f.IntVar(&p.pick.MaxK, "max-k", 0, "largest number of clusters to try (default 30)")
	f.Uint64Var(&p.pick.Seed, "seed", 0, "seed of the projection and of the clustering")
	f.Var((*rulesFlag)(&p.pick), "as", "choose as a version of the published program does: simpoint-3.2 or simpoint-3.1 (default presage)")
	f.StringVar(&p.dir, "store", "", "folder that keeps vectors and simulations (default the user's)")
	p.run.register(cmd)
	p.on.register(cmd)
}

// rulesFlag sets the rules that points are chosen by. The published program's come with
// its default of equal weights.
type rulesFlag simpoint.Options

var _ pflag.Value = (*rulesFlag)(nil)

func (r *rulesFlag) Type() string { return "name" }

func (r *rulesFlag) String() string {
	if r.Rules == simpoint.Own {
		return ""
	}
	return r.Rules.String()
}

// Set implements pflag.Value.
func (r *rulesFlag) Set(name string) (err error) {
	r.Rules, err = simpoint.ParseRules(name)
	r.Equal = r.Rules != simpoint.Own
	return err
}

// point returns the problem size.
func (p *phaseFlags) point() (perf.Point, error) {
	switch len(p.at.points) {
	case 0:
		return perf.Point{}, nil
	case 1:
		return p.at.points[0], nil
	}
	return nil, errors.New("--at: want one problem size")
}

func (p *phaseFlags) options(cmd *cobra.Command, args ...string) (perf.PhaseOptions, error) {
	opt, err := p.run.options()
	if err != nil {
		return perf.PhaseOptions{}, err
	}
	opt.Campaign, err = p.on.runner(cmd, args)
	if p.dir != "" {
		opt.Store = store.Open(p.dir)
	}
	return perf.PhaseOptions{RunOptions: opt, Interval: p.interval}, err
}

func (p *phaseFlags) phases(cmd *cobra.Command, path string) (*perf.Phases, error) {
	point, err := p.point()
	if err != nil {
		return nil, err
	}
	opt, err := p.options(cmd, path)
	if err != nil {
		return nil, err
	}
	prog, err := openProgram(cmd.Context(), path)
	if err != nil {
		return nil, err
	}
	return perf.BlockVectors(cmd.Context(), prog, point, opt)
}

// vectors returns the basic-block vectors of a program, which it runs, or of a .bb
// file.
func (p *phaseFlags) vectors(cmd *cobra.Command, path string) (*perf.Phases, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() && !isELF(path) {
		if p.interval != 0 || len(p.at.points) > 0 || p.run.changed() {
			return nil, fmt.Errorf("%s holds vectors: --interval, --at, --args, --stdin, --dir, --env, --max-instructions, --threads, --engine and --cpu are those of the run that made them", path)
		}
		return phase.ReadVectors(path)
	}
	return p.phases(cmd, path)
}

func isELF(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // only read
	magic := make([]byte, 4)
	n, _ := f.Read(magic)
	return string(magic[:n]) == "\x7fELF"
}
