package misses

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/locality"
	"presage/perf/store"
	"presage/perf/subject"
)

// sizesOfNests share no power of two but eight; of 32 and 64 compilers make shifts
// and of others multiplications, and they unroll loops of a few iterations.
var sizesOfNests = []float64{16, 24, 32, 40, 48, 56, 64}

// nestsOf compiles a program for each size.
func nestsOf(t *testing.T, tool, flags, name string, sizes []float64, sources ...string) []subject.BinaryPoint {
	t.Helper()
	oracle.Need(t, "riscv64-linux-gnu-gcc")
	var points []subject.BinaryPoint
	for _, n := range sizes {
		with := fmt.Sprintf("%s -DN=%g", flags, n)
		points = append(points, subject.BinaryPoint{
			Point: subject.Point{"n": n}, Program: perftest.Compile(t, tool, with, fmt.Sprintf("%s.%g", name, n), sources...),
		})
	}
	return points
}

// checkReproduced demands that the accesses of a model are those of the runs at the
// sizes that it was fitted to: an oracle that knows neither groups nor matches.
func checkReproduced(t *testing.T, model *Model, runs *locality.Runs) {
	t.Helper()
	for i := range runs.Runs {
		for _, blockBytes := range runs.BlockBytes() {
			rows, err := Distances(t.Context(), model, []subject.Point{runs.Runs[i].Point}, DistanceOptions{BlockBytes: blockBytes})
			if err != nil {
				t.Fatal(err)
			}
			got := rows[0].Cold
			for _, r := range rows {
				if !math.IsNaN(r.Distance) {
					got += r.Accesses
				}
			}
			if want := float64(runs.Runs[i].Accesses); !near(got, want, DefaultDeviation) {
				t.Errorf("%s, blocks of %d bytes: %.0f accesses, and the run made %.0f", runs.Runs[i].Point, blockBytes, got, want)
			}
		}
	}
}

// TestFitKeepsAccesses: no access of executables that the compiler makes
// differently for each size is lost. What makes them differ is -O2; each program is
// also compiled without optimisation or with more.
func TestFitKeepsAccesses(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other tests fit, predict and simulate at once, too")
	}
	type program struct{ tool, flags, name, source string }
	var programs []program
	for name, optimise := range map[string][]string{
		"contract": {"-O0", "-O2"}, "paths": {"-O2", "-O3"}, "field": {"-O0", "-O2"}, "triangle": {"-O2", "-O3"},
		"cells": {"-O2", "-O3"}, "kernel": {"-O0", "-O2"},
	} {
		for _, o := range optimise {
			p := program{"gcc", o + " -g -DNEST=" + name, name, "nests.c"}
			switch name {
			case "cells":
				p = program{"g++", o + " -g -std=gnu++14 -fno-exceptions -fno-rtti", name, "cells.cpp"}
			case "kernel":
				p = program{"gfortran", o + " -g -cpp", name, "kernel.f90"}
			}
			programs = append(programs, p)
		}
	}
	for _, p := range programs {
		t.Run(p.name+strings.Fields(p.flags)[0], func(t *testing.T) {
			t.Parallel()
			st := store.Open(t.TempDir())
			runs := profileIn(t, st, nestsOf(t, p.tool, p.flags, p.name, sizesOfNests, p.source, "start.c"), []uint64{32, 32 << 10})
			checkTotals(t, runs)
			model, err := Fit(t.Context(), runs, FitOptions{Store: st})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(model.Warnings, func(w string) bool { return strings.Contains(w, "no smooth function") }) {
				checkReproduced(t, model, runs)
			} else if strings.Contains(p.flags, "-O0") || strings.Contains(p.flags, "-O2") {
				t.Errorf("%q", model.Warnings)
			}
		})
	}
}

// TestTurnsAreJoined: a program that executes other references at some sizes has
// all accesses in one model, the routines' in the program's.
func TestTurnsAreJoined(t *testing.T) {
	st := store.Open(t.TempDir())
	prog := perftest.Compile(t, "gcc", "-O1 -g", "turns", "turns.c")
	runs := profileSizes(t, st, prog, 24, 32, 40, 48, 56, 64, 72)
	model, err := Fit(t.Context(), runs, FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	checkReproduced(t, model, runs)
	if !slices.ContainsFunc(model.Warnings, func(w string) bool { return strings.Contains(w, "exchange them from size to size") }) {
		t.Errorf("no warning about what was joined in %q", model.Warnings)
	}
	larger := []float64{80, 96}
	for i, run := range profileSizes(t, st, prog, larger...).Runs {
		got, _ := predicted(t, st, runs, larger[i])
		if want := float64(run.Accesses); !near(got, want, DefaultDeviation) {
			t.Errorf("n = %g: %g accesses predicted, %g executed", larger[i], got, want)
		}
	}
}

// TestFitRefusesLostAccesses: a model or a profile without all accesses is an error
// that says where they are missing.
func TestFitRefusesLostAccesses(t *testing.T) {
	st := store.Open(t.TempDir())
	each, _ := sized(t, always("-O1 -g"), []float64{12, 16, 21, 26})
	runs := profileBinaries(t, st, each)
	_, err := Fit(t.Context(), runs, FitOptions{Store: st, Basis: "1, n"})
	if !errors.Is(err, ErrNotReproduced) || !strings.Contains(err.Error(), "product by ") || !strings.Contains(err.Error(), "basis") {
		t.Errorf("lines for a cubic program: %v", err)
	}
	lost := &runs.Runs[1].Reuse[0].Groups[0]
	for g := range runs.Runs[1].Reuse[0].Groups {
		if h := &runs.Runs[1].Reuse[0].Groups[g]; h.Accesses() > lost.Accesses() {
			lost = h
		}
	}
	lost.Bins = lost.Bins[1:]
	for _, draft := range []bool{false, true} {
		_, err = Fit(t.Context(), runs, FitOptions{Store: st, Draft: draft})
		if !errors.Is(err, locality.ErrNotConserved) || !strings.Contains(err.Error(), "n=16") {
			t.Errorf("a profile without all accesses, draft %t: %v", draft, err)
		}
	}
}

// TestLoopsOfBinariesJoin: predictions from executables of several sizes and the
// simulation of another are about loops of the same names.
func TestLoopsOfBinariesJoin(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other tests fit, predict and simulate at once, too")
	}
	st := store.Open(t.TempDir())
	for _, flags := range []string{"-O2 -g -DNEST=paths", "-O2 -g -DNEST=field", "-O0 -g -DNEST=triangle"} {
		all := nestsOf(t, "gcc", flags, "nest", append(slices.Clone(sizesOfNests), 72), "nests.c", "start.c")
		runs := profileBinaries(t, st, all[:len(sizesOfNests)])
		model, err := Fit(t.Context(), runs, FitOptions{Store: st})
		if err != nil {
			t.Fatal(err)
		}
		on := profiletest.Machine(t, "origin2000")
		pred, err := Predict(t.Context(), model, on, subject.Sweep("n", 72), PredictOptions{By: subject.ByLoop, Coverage: -1})
		if err != nil {
			t.Fatal(err)
		}
		sim, err := SimulateBinaries(t.Context(), all[len(sizesOfNests):], on, SimulateOptions{RunOptions: subject.RunOptions{Store: st}, By: subject.ByLoop})
		if err != nil {
			t.Fatal(err)
		}
		simulated, joined := 0.0, 0.0
		for _, r := range sim {
			simulated += r.Misses
		}
		for _, j := range compare(pred, sim) {
			joined += j.Sim
		}
		if joined < 0.99*simulated {
			t.Errorf("%s: loops with %.0f of %.0f misses have a prediction", flags, joined, simulated)
		}
	}
}
