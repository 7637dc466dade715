package anatomy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/progress"
	"presage/perf/subject"
	"presage/perf/trace"
)

// Strides is how far the stride formulas of a program agree with a run of it.
type Strides struct {
	access.StrideCheck
	Program  *subject.Program
	Warnings []string

	structure *subject.Structure
}

// CheckStrides runs prog with arguments, once to find where its indirect jumps
// lead, and once to compare, for every memory reference in a loop, the change of
// its address from one iteration to the next with the formula of its stride, for
// each loop that holds it. RunOptions.Args is not used; nothing is stored. A
// program that fails is compared up to there, with a warning.
func CheckStrides(ctx context.Context, prog *subject.Program, args []string, opt subject.RunOptions) (*Strides, error) {
	in, err := prog.InputsOf(args, opt)
	if err != nil {
		return nil, err
	}
	loaded, err := prog.Loaded(ctx, in, opt)
	if err != nil {
		return nil, err
	}
	prog, in = loaded.Program, loaded.Inputs
	running := func(n uint64) { opt.Progress.Report(progress.Report{Total: 1, Instructions: n}) }
	done, err := complete(ctx, prog, in, running)
	if err != nil {
		return nil, err
	}
	checker := access.NewChecker(done.structure.Access)
	res, err := prog.Run(ctx, subject.Request{Inputs: in, Plan: checker.Plan(), Collectors: []trace.Collector{checker}, Progress: running, MayFail: true})
	if err != nil {
		return nil, err
	}
	res.WarnFailed(in.Command(), "strides were compared until then")
	opt.Progress.Finish(1)
	return &Strides{
		StrideCheck: *checker.Result(), Program: prog, Warnings: slices.Concat(res.Warnings, done.warnings), structure: done.structure,
	}, nil
}

// completed is a structure with warnings about it.
type completed struct {
	structure *subject.Structure
	warnings  []string
}

// complete returns the program's structure with what a run shows of its indirect
// jumps, such as handlers of exceptions; without, and with a warning, if that
// contradicts itself.
func complete(ctx context.Context, p *subject.Program, in subject.Inputs, running func(uint64)) (completed, error) {
	flow, err := runCounters(ctx, p, in, running)
	if err == nil {
		var counts *Counts
		if counts, err = recoverCounts(p, flow); err == nil {
			return completed{structure: counts.structure}, nil
		}
	}
	if errors.Is(err, cfg.ErrFlow) || errors.Is(err, cfg.ErrUnforeseen) {
		return completed{p.Structure(), []string{fmt.Sprintf("code that only a run shows is left out: %v", err)}}, nil
	}
	return completed{}, err
}

// StrideRow compares the strides of a reference with a run.
type StrideRow struct {
	Routine  string `frame:"routine"`
	File     string `frame:"file"`
	Line     int    `frame:"line"`
	PC       string `frame:"pc"`
	Kind     string `frame:"kind"`
	Size     uint8  `frame:"size_bytes"`
	First    string `frame:"first"`   // formula, as of a Reference
	Strides  string `frame:"strides"` // formulas, as of a Reference
	Accesses uint64 `frame:"accesses"`
	// Agree and Disagree count comparisons of one iteration with the next, over
	// all loops whose strides are neither irregular nor indirect.
	Agree    uint64 `frame:"agree"`
	Disagree uint64 `frame:"disagree"`
}

// Rows returns a row for each reference that was executed in a loop, those with
// the most disagreement first.
func (s *Strides) Rows() []StrideRow {
	var rows []StrideRow
	for _, c := range s.References {
		ref := &s.structure.Access.All[c.Index]
		if len(ref.Strides) == 0 {
			continue
		}
		row := StrideRow{
			Routine: ref.Routine, File: ref.File, Line: ref.Line, PC: fmt.Sprintf("%#x", uint64(ref.PC)),
			Kind: ref.Kind.String(), Size: ref.Size, First: ref.First.String(), Strides: stridesText(ref.Strides), Accesses: c.Executions,
		}
		for i := range ref.Strides {
			row.Agree += c.Agree[i]
			row.Disagree += c.Disagree[i]
		}
		rows = append(rows, row)
	}
	return rows
}
