package kernels

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

func TestKernelsAreGenerated(t *testing.T) {
	if _, err := os.ReadFile("generate.go"); err != nil { // a change runs the test again
		t.Fatal(err)
	}
	got, err := os.ReadFile("multiply.go")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "generate.go")
	cmd.Stderr = os.Stderr
	want, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("multiply.go is not what generate.go writes: run go generate ./datasets/programs/spmv/kernels")
	}
}

func TestSizedRefusesOtherSizes(t *testing.T) {
	for _, size := range [][2]int{{0, 1}, {1, 0}, {Largest + 1, 1}, {1, Largest + 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Sized(%d, %d) returns a kernel", size[0], size[1])
				}
			}()
			Sized(size[0], size[1])
		}()
	}
}
