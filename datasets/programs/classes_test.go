package programs_test

import (
	"os"
	"strings"
	"testing"

	"presage/datasets/programs/internal/cfdtest"
)

// classes are the command lines of NAS classes, which the engine runs as well, and
// must verify in both. qemu would take minutes for class W, and the other
// structures of BT and SP at class W take the engine as long again: with
// PRESAGE_SLOW=1 they are run, too.
var classes = map[string][]string{
	"bt": {"-class S -structure 2.3 -quiet", "-class S -quiet", "-class W -quiet"},
	"sp": {"-class S -structure 2.3 -quiet", "-class S -quiet", "-class W -structure 2.3 -quiet"},
	"lu": {"-class S -quiet", "-class W -quiet", "-class S -order hyperplane -quiet"},
}

var slowClasses = map[string][]string{
	"bt": {"-class W -structure 2.3 -quiet"},
	"sp": {"-class W -quiet"},
}

func TestClassesInTheEngine(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for program, lines := range classes {
		if os.Getenv(cfdtest.SlowVariable) == "1" {
			lines = append(lines, slowClasses[program]...)
		}
		t.Run(program, func(t *testing.T) {
			run := engine(t, build(t, program, "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0"))
			for _, line := range lines {
				if testing.Short() && strings.Contains(line, "-class W") {
					continue
				}
				got, status, err := run(strings.Fields(line))
				if err != nil || status != 0 || got != "verification: successful\n" {
					t.Errorf("%s: status %d (%v)\n%s", line, status, err, got)
				}
			}
		})
	}
}
