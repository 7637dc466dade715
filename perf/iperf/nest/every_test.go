package nest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/iperf"
	"presage/perf/objfile"
)

// TestEveryRoutine demands that every routine of a program, including Go's runtime, is
// described or refused with a reason, and that the search for trip counts ends in
// bounded time.
func TestEveryRoutine(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "sweep3d")
	cmd := exec.Command("go", "build", "-o", exe, "../../../datasets/programs/sweep3d")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := objfile.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	p := cfg.Analyze(f)
	a, scopes := access.Analyze(p), cfg.NewScopeTree(p)
	loops, counted, found := 0, 0, 0
	for i, r := range p.Routines {
		loops += len(r.Loops)
		for _, c := range a.TripCounts(i) {
			if c != nil {
				counted++
			}
		}
		k, err := Find(a, scopes, i, &iperf.Overlay{})
		if err == nil {
			found++
			err = k.Check()
		} else if !strings.HasPrefix(err.Error(), "nest: "+r.Name+": ") {
			t.Errorf("%s: error %q does not name the routine", r.Name, err)
			continue
		}
		if err != nil && k != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
	t.Logf("%d routines, %d loops, trip counts of %d, %d kernels without an overlay", len(p.Routines), loops, counted, found)
	if loops < 1000 || counted < loops/20 {
		t.Errorf("trip counts of %d of %d loops", counted, loops)
	}
}
