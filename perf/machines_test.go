package perf

import (
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"

	"github.com/google/go-cmp/cmp"
)

func TestMachineTables(t *testing.T) {
	df := MachineTable(profiletest.Machine(t, "origin2000"), profiletest.Machine(t, "itanium2"))
	if diff := cmp.Diff([]float64{32 << 10, 8 << 20, 2 << 20}, perftest.Column(t, df, "capacity_bytes")[:3]); diff != "" {
		t.Error(diff)
	}
	if names := perftest.Text(t, df, "machine"); names[2] != "origin2000" || names[3] != "itanium2" {
		t.Errorf("machines %q", names)
	}
	dir := t.TempDir()
	t.Setenv("PRESAGE_MACHINES", dir)
	if _, err := FindMachine(filepath.Join(dir, "none.yaml")); err == nil {
		t.Error("no such file: no error")
	}
	if _, err := FindMachine("cray1"); err == nil || !strings.Contains(err.Error(), "origin2000") {
		t.Errorf("unknown machine: %v", err)
	}
}
