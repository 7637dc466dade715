// Package profiletest makes small profiles, machines and counts for tests of what
// is above package locality. Tests alone import it.
package profiletest

import (
	"testing"

	"presage/perf/anatomy"
	"presage/perf/internal/perftest"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/machine/catalog"
	"presage/perf/store"
	"presage/perf/subject"
)

// Profile profiles sweep3d at meshes of some sizes.
func Profile(t testing.TB, st *store.Store, sizes []float64, blocks ...uint64) *locality.Runs {
	t.Helper()
	runs, err := locality.Profile(t.Context(), perftest.Program(t), subject.Sweep("n", sizes...), locality.ProfileOptions{
		RunOptions: subject.RunOptions{Args: perftest.OneIteration, Store: st},
		BlockBytes: blocks, DataOnly: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// Counted counts sweep3d at a mesh of n cells a side.
func Counted(t testing.TB, n float64) *anatomy.Counts {
	t.Helper()
	c, err := anatomy.Count(t.Context(), perftest.Program(t), subject.Point{"n": n}, subject.RunOptions{
		Args: perftest.OneIteration, Store: store.Open(t.TempDir()),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Machine returns a machine by its name.
func Machine(t testing.TB, name string) *machine.Machine {
	t.Helper()
	m, err := catalog.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
