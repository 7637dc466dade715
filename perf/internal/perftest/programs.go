// Package perftest holds what tests of several packages need: programs, machines
// and columns of tables. Tests alone import it.
package perftest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
	"presage/perf/subject"
)

// OneIteration are the arguments of a short run of sweep3d with n cells a side.
const OneIteration = "-n {n} -iterations 1"

// root returns the folder of go.mod, above the package under test.
var root = sync.OnceValues(func() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", os.ErrNotExist
		}
		dir = parent
	}
})

// Path returns the absolute path of a file of the repository.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(append([]string{dir}, elem...)...)
}

// Built returns a function that builds a program of datasets/programs, once for
// all tests of a package.
func Built(name string) func(t testing.TB) *subject.Program {
	build := sync.OnceValues(func() (*subject.Program, error) {
		dir, err := root()
		if err != nil {
			return nil, err
		}
		return subject.Build(context.Background(), filepath.Join(dir, "datasets", "programs", name))
	})
	return func(t testing.TB) *subject.Program {
		t.Helper()
		prog, err := build()
		if err != nil {
			t.Fatal(err)
		}
		return prog
	}
}

// Program returns sweep3d.
var Program = Built("sweep3d")

// Column returns the numbers of a column of a table: rows, or a DataFrame.
func Column(t testing.TB, table any, name string) []float64 {
	t.Helper()
	v, err := frame.Floats(tableOf(t, table), name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Text returns the texts of a column of a table: rows, or a DataFrame.
func Text(t testing.TB, table any, name string) []string {
	t.Helper()
	v, err := frame.Strings(tableOf(t, table), name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func tableOf(t testing.TB, table any) dataframe.DataFrame {
	t.Helper()
	df, err := frame.From(table)
	if err != nil {
		t.Fatal(err)
	}
	return df
}

// Total returns the sum of a column.
func Total(t testing.TB, table any, name string) float64 {
	t.Helper()
	sum := 0.0
	for _, v := range Column(t, table, name) {
		sum += v
	}
	return sum
}

// One returns the value of a column that has one.
func One(t testing.TB, v []float64) float64 {
	t.Helper()
	if len(v) != 1 {
		t.Fatalf("%d rows, want one", len(v))
	}
	return v[0]
}
