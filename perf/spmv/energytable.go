package spmv

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// EnergyTable is published energies of static memory by capacity and by how many bits
// are read at once. Between its points energies and leakage are powers of the
// capacity; beyond the first and the last the nearest such power goes on, and
// Extrapolated tells so.
//
// All ways of a cache are read at once: w ways are a memory of the cache's capacity
// that is 64·w bits wide, whose published energy already has wires and decoders of
// that capacity; a table of one width has the energy of a whole access, whatever the
// ways. Tags are not added. A table of another process is scaled to ours, as switched
// capacitance goes with lengths and energy with the square of the voltage:
//
//	energy · 90 nm / process · (1.2 V / supply)²
//
// but its leakage is not: leakage is then, and where the table has none, our own.
type EnergyTable struct {
	Source string
	Scale  float64 // of the published energies, to our process
	leak   float64 // W/byte, where the table has none
	widths map[int][]energyPoint
}

// An energyPoint is a row of a table.
type energyPoint struct {
	bytes       float64
	read, write float64 // pJ
	leak        float64 // mW; NaN: not published
}

var energyColumns = []string{"capacity_bytes", "width_bits", "read_pj", "write_pj", "leakage_mw", "process_nm", "supply_volt", "source"}

// ReadEnergyTable reads a table from a file of energyColumns: rows ascend by width,
// then by capacity. The voltage may be empty if the process is ours, and leakage in
// all rows.
func ReadEnergyTable(path string) (*EnergyTable, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("spmv: %w", err)
	}
	defer f.Close()
	t, err := readEnergyTable(f)
	if err != nil {
		return nil, fmt.Errorf("spmv: %s%w", path, err)
	}
	return t, nil
}

// readEnergyTable returns errors that begin with the line, as in ":3: ".
func readEnergyTable(r io.Reader) (*EnergyTable, error) {
	records, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, fmt.Errorf(": %w", err)
	}
	if len(records) == 0 || !slices.Equal(records[0], energyColumns) {
		return nil, fmt.Errorf(":1: want the columns %s", strings.Join(energyColumns, ","))
	}
	m := DefaultMachine()
	t := &EnergyTable{leak: m.LeakWattsPerByte, widths: make(map[int][]energyPoint)}
	for i, rec := range records[1:] {
		if err := t.add(rec, i == 0, records[1]); err != nil {
			return nil, fmt.Errorf(":%d: %w", i+2, err)
		}
	}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf(": %w", err)
	}
	return t, nil
}

// add adds a row. Its process, voltage and source must be those of the first.
func (t *EnergyTable) add(rec []string, isFirst bool, first []string) error {
	if !slices.Equal(rec[5:], first[5:]) {
		return errors.New("another process, voltage or source than in the first row: make it a table of its own")
	}
	v, err := energyNumbers(rec)
	if err != nil {
		return err
	}
	if isFirst {
		if err := t.begin(v[5], v[6], rec[7]); err != nil {
			return err
		}
	}
	if v[5] != process {
		v[4] = math.NaN() // leakage is not scaled
	}
	width := int(v[1])
	points := t.widths[width]
	if n := len(points); n > 0 {
		if v[0] <= points[n-1].bytes {
			return fmt.Errorf("capacity_bytes %g after %g of the same width: want ascending capacities", v[0], points[n-1].bytes)
		}
		if math.IsNaN(v[4]) != math.IsNaN(points[n-1].leak) {
			return errors.New("leakage_mw must be in all rows or in none")
		}
	}
	t.widths[width] = append(points, energyPoint{v[0], v[2], v[3], v[4]})
	return nil
}

// energyNumbers returns the numbers of a row, NaN for what may be empty and is.
func energyNumbers(rec []string) ([]float64, error) {
	v := make([]float64, len(energyColumns)-1)
	for i, name := range energyColumns[:len(v)] {
		if rec[i] == "" && (name == "leakage_mw" || name == "supply_volt") {
			v[i] = math.NaN()
			continue
		}
		var err error
		if v[i], err = strconv.ParseFloat(rec[i], 64); err != nil || !(v[i] > 0) || math.IsInf(v[i], 0) {
			return nil, fmt.Errorf("%s %q: want a positive number", name, rec[i])
		}
	}
	return v, nil
}

// begin takes the process in nanometres, the voltage and the source of the first row.
func (t *EnergyTable) begin(nm, supply float64, source string) error {
	if source == "" {
		return errors.New("no source: say who published the table, and where")
	}
	t.Source = source
	switch {
	case !math.IsNaN(supply):
		t.Scale = process / nm * (volts / supply) * (volts / supply)
	case nm == process:
		t.Scale = 1
	default:
		return fmt.Errorf("no supply_volt: a table of %g nm cannot be scaled to %g nm without", nm, process)
	}
	return nil
}

// check returns an error unless the table can be asked about all of Table 5.
func (t *EnergyTable) check() error {
	for _, ways := range wayLevels {
		points := t.widths[64*ways]
		if len(t.widths) == 1 {
			points = t.widths[64]
		}
		if len(points) < 2 {
			return fmt.Errorf("%d rows of width_bits %d, want two or more: a width of 64 bits a way for %s ways, or 64 alone",
				len(points), 64*ways, strings.Trim(fmt.Sprint(wayLevels), "[]"))
		}
	}
	return nil
}

// of returns the points of a number of ways.
func (t *EnergyTable) of(ways int) []energyPoint {
	if len(t.widths) == 1 {
		return t.widths[64]
	}
	return t.widths[64*ways]
}

// Extrapolated reports whether the table has no points on both sides of a capacity.
func (t *EnergyTable) Extrapolated(bytes, ways int) bool {
	p := t.of(ways)
	return float64(bytes) < p[0].bytes || float64(bytes) > p[len(p)-1].bytes
}

// at interpolates a column, as a power of the capacity between two points:
//
//	log v = log v₀ + (log v₁ - log v₀)·(log b - log b₀)/(log b₁ - log b₀)
func (t *EnergyTable) at(bytes, ways int, column func(energyPoint) float64) float64 {
	p := t.of(ways)
	i := 1
	for i < len(p)-1 && float64(bytes) > p[i].bytes {
		i++
	}
	a, b := p[i-1], p[i]
	share := math.Log(float64(bytes)/a.bytes) / math.Log(b.bytes/a.bytes)
	return column(a) * math.Pow(column(b)/column(a), share)
}

// Access returns the energy of reading all ways of a cache. Writes, of an element of y
// now and then, are taken for reads.
func (t *EnergyTable) Access(bytes, _, ways int) float64 {
	return t.Scale * 1e-12 * t.at(bytes, ways, func(p energyPoint) float64 { return p.read })
}

// Lines returns the energy of writing lines into a cache, and of reading lines out of
// it, in words of one way.
func (t *EnergyTable) Lines(bytes, lineBytes int, in, out float64) float64 {
	write := t.at(bytes, 1, func(p energyPoint) float64 { return p.write })
	read := t.at(bytes, 1, func(p energyPoint) float64 { return p.read })
	return t.Scale * 1e-12 * float64(lineBytes) / 8 * (in*write + out*read)
}

// Leak returns the leakage of both caches, each as wide as it has ways.
func (t *EnergyTable) Leak(seconds float64, h *Hardware) float64 {
	return seconds * (t.leakage(h.DataBytes, h.DataWays) + t.leakage(h.InstrBytes, h.InstrWays))
}

// leakage returns the leakage of a cache in watts.
func (t *EnergyTable) leakage(bytes, ways int) float64 {
	if math.IsNaN(t.of(ways)[0].leak) {
		return float64(bytes) * t.leak
	}
	return 1e-3 * t.at(bytes, ways, func(p energyPoint) float64 { return p.leak })
}
