package anatomy

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/frame"
	"presage/perf/subject"
)

// Strides is how far the stride formulas of a program agree with what it did in
// a run.
type Strides struct {
	access.StrideCheck
	Program  *subject.Program
	Warnings []string

	structure *subject.Structure
}

// CheckStrides runs prog with arguments, once to see where its indirect jumps
// lead, and once to compare, for every memory reference in a loop, the change of
// its address from one iteration to the next with the formula of its stride, for
// each loop that holds it. RunOptions.Args is not used; nothing is stored. A
// program that fails is compared up to there, with a warning.
func CheckStrides(ctx context.Context, prog *subject.Program, args []string, opt subject.RunOptions) (*Strides, error) {
	in, err := prog.InputsOf(args, opt)
	if err != nil {
		return nil, err
	}
	report := opt.Reporter(nil, 0, 1)
	structure, warning, err := completed(prog, ctx, in, func(n uint64) { report(n, false) })
	if err != nil {
		return nil, err
	}
	checker := access.NewChecker(structure.Access)
	facts, _, err := prog.Attempt(ctx, in, checker.Plan(), func(n uint64) { report(n, false) }, checker)
	if err != nil {
		return nil, err
	}
	facts.WarnFailed(in.Command(), "strides were compared until then")
	if warning != "" {
		facts.Warnings = append(facts.Warnings, warning)
	}
	opt.Finished(1)
	return &Strides{StrideCheck: *checker.Result(), Program: prog, Warnings: facts.Warnings, structure: structure}, nil
}

// completed returns the program's structure with what a run shows of its
// indirect jumps, such as handlers of exceptions; without, and with a warning,
// if that contradicts itself.
func completed(p *subject.Program, ctx context.Context, in subject.Inputs, progress func(uint64)) (s *subject.Structure, warning string, err error) {
	flow, err := runCounters(p, ctx, in, progress)
	if err == nil {
		var counts *Counts
		if counts, err = recoverCounts(p, flow); err == nil {
			return counts.structure, "", nil
		}
	}
	if errors.Is(err, cfg.ErrFlow) || errors.Is(err, cfg.ErrUnforeseen) {
		return p.Structure(), fmt.Sprintf("code that only a run shows is left out: %v", err), nil
	}
	return nil, "", err
}

// Frame returns a row for each reference that was executed in a loop, those
// with the most disagreement first.
//
//   - routine, file, line, pc, kind, size_bytes
//   - first, strides: the formulas
//   - accesses: executions
//   - agree, disagree: comparisons of one iteration with the next, over all
//     loops whose strides are neither irregular nor indirect
func (s *Strides) Frame() dataframe.DataFrame {
	type row struct {
		Routine  string `frame:"routine"`
		File     string `frame:"file"`
		Line     int    `frame:"line"`
		PC       string `frame:"pc"`
		Kind     string `frame:"kind"`
		Size     uint8  `frame:"size_bytes"`
		First    string `frame:"first"`
		Strides  string `frame:"strides"`
		Accesses uint64 `frame:"accesses"`
		Agree    uint64 `frame:"agree"`
		Disagree uint64 `frame:"disagree"`
	}
	all := s.structure.Access.All
	var rows []row
	for _, c := range s.References {
		ref := &all[c.Index]
		if len(ref.Strides) == 0 {
			continue
		}
		row := row{
			Routine: ref.Routine, File: ref.File, Line: ref.Line, PC: fmt.Sprintf("%#x", uint64(ref.PC)),
			Kind: ref.Kind.String(), Size: ref.Size, First: ref.First.String(), Accesses: c.Executions,
		}
		var strides []string
		for i, st := range ref.Strides {
			strides = append(strides, st.String())
			row.Agree += c.Agree[i]
			row.Disagree += c.Disagree[i]
		}
		row.Strides = strings.Join(strides, "; ")
		rows = append(rows, row)
	}
	return frame.Of(rows)
}
