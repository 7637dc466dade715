package perf

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/access"
	"presage/perf/frame"
)

// Strides is how far the stride formulas of a program agree with what it did in
// a run.
type Strides struct {
	access.StrideCheck
	Program  *Program
	Warnings []string
}

// CheckStrides runs prog with arguments and compares, for every memory
// reference in a loop, the change of its address from one iteration to the next
// with the formula of its stride, for each loop that holds it. RunOptions.Args
// is not used; nothing is stored. A program that fails is compared up to there,
// with a warning.
func CheckStrides(ctx context.Context, prog *Program, args []string, opt RunOptions) (*Strides, error) {
	in, err := prog.inputsOf(args, opt)
	if err != nil {
		return nil, err
	}
	checker := access.NewChecker(prog.Structure().Access)
	report := opt.reporter(nil, 0, 1)
	facts, _, err := prog.attempt(ctx, in, checker.Plan(), func(n uint64) { report(n, false) }, checker)
	if err != nil {
		return nil, err
	}
	facts.warnFailed(in.command(), "strides were compared until then")
	opt.finished(1)
	return &Strides{StrideCheck: *checker.Result(), Program: prog, Warnings: facts.Warnings}, nil
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
	all := s.Program.Structure().Access.All
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
