package programs_test

import "testing"

// TestNASKernelsInTheEngine runs NAS's own verification, which the programs end
// with, on the machine that they are profiled on. Class W of all takes some 13
// billion instructions, class A 103 billion: that one is not run here.
func TestNASKernelsInTheEngine(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, program := range []string{"npbcg", "mg", "ep", "is", "ft"} {
		t.Run(program, func(t *testing.T) {
			here := command(build(t, program))
			there := engine(t, build(t, program, "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0"))
			for _, class := range []string{"S", "W"} {
				if class == "W" && testing.Short() {
					continue
				}
				args := []string{"-class", class}
				want, status, err := here(args)
				if err != nil || status != 0 {
					t.Fatalf("class %s here: status %d (%v)\n%s", class, status, err, want)
				}
				if got, status, err := there(args); err != nil || status != 0 || got != want {
					t.Errorf("class %s in the engine: status %d (%v)\n%shere\n%s", class, status, err, got, want)
				}
			}
		})
	}
}
