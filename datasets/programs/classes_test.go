package programs_test

import (
	"strings"
	"testing"
)

// classes are the command lines of NAS classes, which the engine runs as well, and
// must verify in both. qemu would take minutes for class W.
var classes = map[string][]string{
	"lu": {"-class S -quiet", "-class W -quiet", "-class S -order hyperplane -quiet"},
}

func TestClassesInTheEngine(t *testing.T) {
	for program, lines := range classes {
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
