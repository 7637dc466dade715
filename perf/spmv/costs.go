package spmv

import (
	_ "embed" // for costs.csv
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

//go:embed costs.csv
var costsCSV string

// Cost is the cost of one product by the kernel of a shape, on the core without
// its caches: CallX + rows·RowX + blocks·BlockX. It was found by running the
// guest program datasets/programs/spmv in the engine and simulating the core on
// the instructions of the kernel.
type Cost struct {
	Shape                                                Shape
	CallInstructions, RowInstructions, BlockInstructions float64
	CallCycles, RowCycles, BlockCycles                   float64
	CodeAddress, CodeBytes                               int // the kernel's extent
}

var costColumns = []string{
	"block_rows", "block_columns", "call_instructions", "row_instructions", "block_instructions",
	"call_cycles", "row_cycles", "block_cycles", "code_address", "code_bytes",
}

// Costs returns the costs of all shapes, in the order of Shapes, found with the
// program compiled by Go 1.26.
func Costs() ([]Cost, error) {
	return readCosts(costsCSV)
}

func readCosts(text string) ([]Cost, error) {
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("spmv: costs.csv: %w", err)
	}
	if len(records) != 1+MaxBlock*MaxBlock || !slices.Equal(records[0], costColumns) {
		return nil, fmt.Errorf("spmv: costs.csv: want the columns %s and %d rows", strings.Join(costColumns, ","), MaxBlock*MaxBlock)
	}
	all := make([]Cost, 0, MaxBlock*MaxBlock)
	for i, r := range records[1:] {
		var v [10]float64
		for j, text := range r {
			if v[j], err = strconv.ParseFloat(text, 64); err != nil {
				return nil, fmt.Errorf("spmv: costs.csv:%d: %w", i+2, err)
			}
		}
		c := Cost{
			Shape:            Shape{int(v[0]), int(v[1])},
			CallInstructions: v[2], RowInstructions: v[3], BlockInstructions: v[4],
			CallCycles: v[5], RowCycles: v[6], BlockCycles: v[7],
			CodeAddress: int(v[8]), CodeBytes: int(v[9]),
		}
		if c.Shape != Shapes()[i] {
			return nil, fmt.Errorf("spmv: costs.csv:%d: shape %v, want %v", i+2, c.Shape, Shapes()[i])
		}
		all = append(all, c)
	}
	return all, nil
}

// WriteCosts returns costs in the form of costs.csv.
func WriteCosts(all []Cost) string {
	var b strings.Builder
	b.WriteString(strings.Join(costColumns, ",") + "\n")
	for _, c := range all {
		fmt.Fprintf(&b, "%d,%d", c.Shape.R, c.Shape.C)
		for _, v := range []float64{c.CallInstructions, c.RowInstructions, c.BlockInstructions, c.CallCycles, c.RowCycles, c.BlockCycles} {
			b.WriteString("," + strconv.FormatFloat(v, 'g', 8, 64))
		}
		fmt.Fprintf(&b, ",%d,%d\n", c.CodeAddress, c.CodeBytes)
	}
	return b.String()
}

// Instructions returns the instructions of a product, given its rows of blocks
// and its blocks.
func (c *Cost) Instructions(rows, blocks int) float64 {
	return c.CallInstructions + float64(rows)*c.RowInstructions + float64(blocks)*c.BlockInstructions
}

// Cycles returns the cycles of a product without cache misses.
func (c *Cost) Cycles(rows, blocks int) float64 {
	return c.CallCycles + float64(rows)*c.RowCycles + float64(blocks)*c.BlockCycles
}
