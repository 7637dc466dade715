package infer

import (
	"fmt"
	"math"
	"slices"
)

// Rare is the rate below which Coordinates tell rates apart no more. What happens to
// one instruction in ten thousand costs less than two hundredths of a cycle per
// instruction, even if each time takes the 150 cycles of memory.
const Rare = 1e-4

// Coordinates place rows: each variable by its logarithm, log(x + Rare), and if it is
// software also by itself, each with a mean of 0 and a standard deviation of 1 in the
// training rows. Products of powers are sums of logarithms; shares of instructions
// that add up do so by themselves. A variable that is constant there has none.
type Coordinates struct {
	Names    []string // of the variables
	Software int      // how many of them come first and are of software
	Of       []Coordinate
}

// Coordinate is one of a row's coordinates.
type Coordinate struct {
	Variable   int
	Log        bool
	Mean, Unit float64
}

// NewCoordinates returns the coordinates that the rows of a table determine.
// It returns an error if a value is negative.
func NewCoordinates(t *Table, software int) (Coordinates, error) {
	c := Coordinates{Names: t.Names, Software: software}
	for v, column := range t.Columns {
		if least := slices.Min(column); least < 0 {
			return c, fmt.Errorf("infer: %w: %s is %g; there are coordinates of no values below 0", ErrData, t.Names[v], least)
		}
		for _, log := range []bool{true, false} {
			if !log && v >= software {
				continue
			}
			at := Coordinate{Variable: v, Log: log, Unit: 1}
			var sum, squares float64
			for _, x := range column {
				sum += at.of(x)
			}
			at.Mean = sum / float64(len(column))
			for _, x := range column {
				d := at.of(x)
				squares += d * d
			}
			unit := math.Sqrt(squares / float64(len(column)))
			if unit > 1e-9*(1+math.Abs(at.Mean)) {
				at.Unit = unit
				c.Of = append(c.Of, at)
			}
		}
	}
	return c, nil
}

func (c *Coordinate) of(x float64) float64 {
	if c.Log {
		x = math.Log(x + Rare)
	}
	return (x - c.Mean) / c.Unit
}

// place returns the coordinates of rows, a row each: those of software and those of
// hardware, each divided by the root of their number, so that sums are means.
func (c *Coordinates) place(t *Table) (software, hardware *rows, err error) {
	n := [2]int{}
	for _, at := range c.Of {
		n[c.part(at)]++
	}
	count := len(t.Columns[0])
	parts := [2]*rows{newRows(count, n[0]), newRows(count, n[1])}
	filled := [2]int{}
	for _, at := range c.Of {
		p := c.part(at)
		for i, x := range t.Columns[at.Variable] {
			if !finite(x) || x < 0 {
				return nil, nil, fmt.Errorf("infer: %w: row %d: %s is %g; coordinates are of finite values, none below 0", ErrData, i, c.Names[at.Variable], x)
			}
			parts[p].Data[i*parts[p].Stride+filled[p]] = at.of(x) / math.Sqrt(float64(n[p]))
		}
		filled[p]++
	}
	return parts[0], parts[1], nil
}

func (c *Coordinates) part(at Coordinate) int {
	if at.Variable < c.Software {
		return 0
	}
	return 1
}
