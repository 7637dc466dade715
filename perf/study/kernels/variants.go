package kernels

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"presage/perf/iperf"
)

// Variant is a version of a kernel whose runs are simulated, and how.
type Variant struct {
	Level      string // what it stands for, such as O3
	Args       string // template for the arguments of a run; see subject.Point.Arguments
	Routines   string // pattern of path.Match: whose blocks and references take time
	Placements []iperf.Placement
	// Runs is how often it runs at a size, each time with its pages in other places. A
	// placement that leaves nothing to chance runs once.
	Runs int
}

var variantColumns = []string{"level", "args", "routines", "placements", "runs"}

// ReadVariants reads a table of variants: a CSV file with the columns level, args,
// routines, placements (names separated by spaces) and runs.
func ReadVariants(file string) ([]Variant, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("perf: variants: %w", err)
	}
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("perf: variants: %s: %w", file, err)
	}
	if len(records) < 2 || !slices.Equal(records[0], variantColumns) {
		return nil, fmt.Errorf("perf: variants: %s:1: want the columns %s, and a row for each variant", file, strings.Join(variantColumns, ","))
	}
	var all []Variant
	for i, r := range records[1:] {
		v, err := variant(r)
		if err == nil && slices.ContainsFunc(all, func(o Variant) bool { return o.Level == v.Level }) {
			err = fmt.Errorf("level %q stands twice", v.Level)
		}
		if err != nil {
			return nil, fmt.Errorf("perf: variants: %s:%d: %w", file, i+2, err)
		}
		all = append(all, v)
	}
	return all, nil
}

func variant(r []string) (Variant, error) {
	v := Variant{Level: r[0], Args: r[1], Routines: r[2]}
	for _, name := range strings.Fields(r[3]) {
		p, err := iperf.ParsePlacement(name)
		if err != nil {
			return v, err
		}
		v.Placements = append(v.Placements, p)
	}
	if _, err := path.Match(v.Routines, ""); err != nil {
		return v, fmt.Errorf("routines %q: %w", v.Routines, err)
	}
	runs, err := strconv.Atoi(r[4])
	switch {
	case v.Level == "" || v.Routines == "" || len(v.Placements) == 0:
		return v, fmt.Errorf("want a level, the routines to time, and a placement of pages")
	case err != nil || runs < 1 || runs > mostRuns:
		return v, fmt.Errorf("runs %q: want a number from 1 to %d", r[4], mostRuns)
	}
	v.Runs = runs
	return v, nil
}

// mostRuns bounds the runs of a variant at a size.
const mostRuns = 1000
