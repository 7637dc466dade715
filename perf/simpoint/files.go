package simpoint

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// ErrFormat is wrapped by errors about files that are not SimPoint's.
var ErrFormat = errors.New("not a SimPoint file")

// WritePoints writes a simpoints file: for each point a line with its interval
// and its cluster, both from 0.
func WritePoints(w io.Writer, points []Point) error {
	return write(w, len(points), func(i int) string {
		return fmt.Sprintf("%d %d\n", points[i].Interval, points[i].Cluster)
	})
}

// WriteWeights writes a weights file: for each point a line with its weight and
// its cluster.
func WriteWeights(w io.Writer, points []Point) error {
	return write(w, len(points), func(i int) string {
		return fmt.Sprintf("%s %d\n", strconv.FormatFloat(points[i].Weight, 'g', -1, 64), points[i].Cluster)
	})
}

// WriteLabels writes a labels file (SimPoint's -saveLabels): for each interval
// a line with its cluster and its distance from the centre.
func WriteLabels(w io.Writer, r *Result) error {
	return write(w, len(r.Labels), func(i int) string {
		return fmt.Sprintf("%d %s\n", r.Labels[i], strconv.FormatFloat(r.Distances[i], 'g', -1, 64))
	})
}

func write(w io.Writer, n int, line func(i int) string) error {
	out := bufio.NewWriter(w)
	for i := range n {
		if _, err := out.WriteString(line(i)); err != nil {
			return fmt.Errorf("simpoint: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("simpoint: %w", err)
	}
	return nil
}

// Names are the names of ReadPoints' two files in errors.
type Names struct{ Points, Weights string }

// ReadPoints reads a simpoints and a weights file, each with clusters in any
// order. It skips empty lines. The files have no distances.
func ReadPoints(points, weights io.Reader, names Names) ([]Point, error) {
	var all []Point
	at := make(map[int]int) // cluster → place in all
	err := lines(points, names.Points, func(first, second string) error {
		interval, err := strconv.Atoi(first)
		if err != nil || interval < 0 {
			return fmt.Errorf("interval %q: want a whole number from 0", first)
		}
		cluster, err := clusterOf(second)
		if err != nil {
			return err
		}
		if _, twice := at[cluster]; twice {
			return fmt.Errorf("cluster %d has two points", cluster)
		}
		at[cluster] = len(all)
		all = append(all, Point{Interval: interval, Cluster: cluster, Weight: -1})
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = lines(weights, names.Weights, func(first, second string) error {
		weight, err := strconv.ParseFloat(first, 64)
		if err != nil || !(weight >= 0 && weight <= 1) {
			return fmt.Errorf("weight %q: want a number from 0 to 1", first)
		}
		cluster, err := clusterOf(second)
		if err != nil {
			return err
		}
		i, ok := at[cluster]
		if !ok {
			return fmt.Errorf("cluster %d has no point in %s", cluster, names.Points)
		}
		if all[i].Weight >= 0 {
			return fmt.Errorf("cluster %d has two weights", cluster)
		}
		all[i].Weight = weight
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: it has no points: %w", names.Points, ErrFormat)
	}
	sum := 0.0
	for _, p := range all {
		if p.Weight < 0 {
			return nil, fmt.Errorf("%s: cluster %d has no weight: %w", names.Weights, p.Cluster, ErrFormat)
		}
		sum += p.Weight
	}
	if sum <= 0 || sum > 1+roundedWeights {
		return nil, fmt.Errorf("%s: the weights add up to %.4g; they are shares of the run, of 1 in all or, without its small clusters, of less: %w", names.Weights, sum, ErrFormat)
	}
	return all, nil
}

// roundedWeights is the most that rounding may add to the sum of a file's
// weights.
const roundedWeights = 0.01

func clusterOf(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > math.MaxInt32 {
		return 0, fmt.Errorf("cluster %q: want a whole number from 0", text)
	}
	return n, nil
}

// lines calls do with the two words of each line.
func lines(r io.Reader, name string, do func(first, second string) error) error {
	in := bufio.NewScanner(r)
	for n := 1; in.Scan(); n++ {
		words := strings.Fields(in.Text())
		if len(words) == 0 {
			continue
		}
		if len(words) != 2 {
			return fmt.Errorf("%s:%d: %d words, want two: %w", name, n, len(words), ErrFormat)
		}
		if err := do(words[0], words[1]); err != nil {
			return fmt.Errorf("%s:%d: %w: %w", name, n, err, ErrFormat)
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
