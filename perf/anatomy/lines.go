package anatomy

import (
	"cmp"
	"slices"
)

// LineCount is how often a line of the source was executed.
type LineCount struct {
	Program      string             `frame:"program"`
	Point        map[string]float64 `frame:",each"`
	File         string             `frame:"file"`
	Line         int                `frame:"line"`
	Executions   uint64             `frame:"executions"`            // of its instruction that was executed most often
	Instructions uint64             `frame:"executed_instructions"` // of all of them
}

// Lines returns the lines of the source that were executed, by file and line.
// Instructions of which no line is known are not in it.
func (c *Counts) Lines() []LineCount {
	type place struct {
		file string
		line int
	}
	at := make(map[place]*LineCount)
	var rows []*LineCount
	for i, r := range c.structure.Graph.Routines {
		var insts []uint64
		for b := range r.Blocks {
			insts = c.Recovered.Routines[i].Insts(insts, r, b)
			for k, n := range insts {
				line, ok := c.Program.File.LineAt(r.Blocks[b].Insts[k].PC)
				if n == 0 || !ok {
					continue
				}
				key := place{line.File, line.Line}
				row := at[key]
				if row == nil {
					row = &LineCount{Program: c.Program.Name, Point: c.Point, File: line.File, Line: line.Line}
					at[key] = row
					rows = append(rows, row)
				}
				row.Executions = max(row.Executions, n)
				row.Instructions += n
			}
		}
	}
	slices.SortFunc(rows, func(a, b *LineCount) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	out := make([]LineCount, len(rows))
	for i, r := range rows {
		out[i] = *r
	}
	return out
}
