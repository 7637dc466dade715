package kernels

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"presage/perf/iperf"
	"presage/perf/iperf/nest"
	"presage/perf/subject"
)

// TestKernelOf finds the stencil of a Go program, tabulates it, writes it and reads it
// again.
func TestKernelOf(t *testing.T) {
	prog, err := subject.Build(t.Context(), "../../../datasets/programs/iperf")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := KernelOf(prog, "main.kernelStencil", nil); !errors.Is(err, nest.ErrMissing) || !strings.Contains(err.Error(), "values: {a6: n}") {
		t.Errorf("without an overlay: %v", err)
	}
	if _, err := KernelOf(prog, "main.none", nil); err == nil || !strings.Contains(err.Error(), "no routine main.none") {
		t.Errorf("no such routine: %v", err)
	}
	overlay, err := iperf.ReadOverlay("../../../datasets/iperf/stencil-go.yaml")
	if err != nil {
		t.Fatal(err)
	}
	k, err := KernelOf(prog, "main.kernelStencil", overlay)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := k.Rows(subject.Point{"n": 100}, 64)
	if err != nil {
		t.Fatal(err)
	}
	// In blocks of 64 B neighbours in a row share a block, and rows above and below
	// are as far as one iteration of i: the five loads are one group.
	for i, r := range rows {
		want := 1 + slices.IndexFunc(rows, func(o ReferenceRow) bool { return o.Array == r.Array })
		if r.Group != want || r.Spatial != "j" || r.Temporal != "" {
			t.Errorf("reference %d to %s: group %d, spatial along %q, temporal %q; want %d, j, none", i+1, r.Array, r.Group, r.Spatial, r.Temporal, want)
		}
	}
	if len(rows) != 6 {
		t.Errorf("%d references, want five loads and a store", len(rows))
	}
	if _, err := k.Rows(subject.Point{"m": 1}, 64); err == nil {
		t.Error("a size without n was taken")
	}
	again, err := iperf.ParseKernels("k.yaml", iperf.FormatKernels(k.Kernel))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := string(iperf.FormatKernels(again[0])), string(iperf.FormatKernels(k.Kernel)); a != b {
		t.Errorf("read again:\n%s\nwritten:\n%s", a, b)
	}
}

// TestFindSystemWith demands that a user's supplement can name the host's caches as
// formulas do.
func TestFindSystemWith(t *testing.T) {
	s, err := FindSystem("../../../datasets/host/epyc.yaml", "../../../datasets/iperf/epyc-supplement.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if l := s.Levels[0]; l.Name != "L1" || !l.NonBlocking || l.Physical || l.Sets != 64 {
		t.Errorf("%+v", l)
	}
	if l := s.Levels[1]; l.Name != "L2" || !l.Physical {
		t.Errorf("%+v", l)
	}
	if _, err := FindSystem("origin2000", "../../../datasets/iperf/epyc-supplement.yaml"); err == nil || !strings.Contains(err.Error(), `no supplement for machine "origin2000"`) {
		t.Errorf("error %v", err)
	}
	plain, err := FindSystem("ultrasparc-1", "")
	if err != nil || !plain.Levels[0].NonBlocking {
		t.Errorf("%+v, %v", plain, err)
	}
}
