package programs_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// plainC are the programs in C that no Go program is the original of, with
// command lines, the last of which is refused.
var plainC = map[string][]string{
	"fdtd": {"-n 4 -steps 4", "-n 20 -steps 60", "-n 17 -medium layers", "-n 12 -steps 90 -medium lossy", "-n 8 -quiet", "-n 3"},
	"hmm":  {"-states 2 -length 2", "-states 60 -count 9", "-states 30 -length 90 -input family", "-count 5 -input random", "-count 1 -quiet", "-states 1"},
}

// TestPlainC runs them natively, in the engine and in qemu, with little and with
// much optimisation: all must print the same, and verify.
func TestPlainC(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	qemu, err := exec.LookPath("qemu-riscv64")
	if err != nil && os.Getenv("PRESAGE_REQUIRE_TOOLS") == "1" {
		t.Fatal("qemu-riscv64 is missing (Debian package qemu-user)")
	}
	for folder, lines := range plainC {
		t.Run(folder, func(t *testing.T) {
			for _, level := range []string{"-O1", "-O3"} {
				c := compiled{folder: folder, sources: "*.c", options: []string{level, "-ffp-contract=off", "-lm"}}
				here := command(c.compile(t, "gcc"))
				exe := c.compile(t, "riscv64-linux-gnu-gcc")
				others := map[string]machine{"the engine": engine(t, exe)}
				if qemu != "" {
					others["qemu"] = command(qemu, exe)
				}
				for i, line := range lines {
					args := strings.Fields(line)
					want, status, err := here(args)
					if refused := i == len(lines)-1; err != nil || (status == 2) != refused || !refused && !strings.HasSuffix(want, "verification: successful\n") {
						t.Errorf("%s %s: status %d (%v)\n%s", level, line, status, err, want)
					}
					for name, run := range others {
						if got, s, err := run(args); err != nil || got != want || s != status {
							t.Errorf("%s %s: %s printed\n%sstatus %d (%v), here\n%sstatus %d", level, line, name, got, s, err, want, status)
						}
					}
				}
			}
		})
	}
}
