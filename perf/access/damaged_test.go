//go:build linux && amd64

package access_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/internal/oracle"
	"presage/perf/internal/oracle/damage"
	"presage/perf/objfile"
	"presage/perf/trace"
)

const damagedSource = `#include <stdio.h>
int a[100], b[100];
static int which(int x) {
	switch (x) {
	case 0: return a[1];
	case 1: return b[2];
	case 2: return a[x] + b[x];
	case 3: return 7;
	case 4: return a[9] * 5;
	case 5: return puts("five");
	}
	return -1;
}
int main(int argc, char **argv) {
	for (int i = 0; i < 100; i++)
		a[i] += which(b[i] + argc);
	printf("%d\n", a[argc]);
	return 0;
}
`

// TestDamagedPrograms analyses x86-64 executables of which some bytes are others.
// That must end without a panic, and give a plan that an engine takes.
func TestDamagedPrograms(t *testing.T) {
	gcc := oracle.Need(t, "gcc")
	path := filepath.Join(t.TempDir(), "program")
	cmd := exec.Command(gcc, "-x", "c", "-", "-O2", "-g", "-o", path)
	cmd.Stdin = strings.NewReader(damagedSource)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	image, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	analysed := 0
	for _, data := range damage.Copies(image, 150) {
		f, err := objfile.Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			continue
		}
		analysed++
		g := cfg.Analyze(f)
		a := access.Analyze(g)
		plan, err := a.Groups(nil).Plan(a, access.PlanOptions{Stack: true})
		if err == nil {
			err = plan.Check()
		}
		if err != nil {
			t.Error(err)
		}
		flow := cfg.PlaceCounters(g).Plan
		if err := (&trace.Plan{Flow: flow}).Check(); err != nil {
			t.Error(err)
		}
	}
	if analysed == 0 {
		t.Error("no damaged file could be read: they show nothing")
	}
}
