package programs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestQuickstart: the executables of the quickstart do what their sources say.
func TestQuickstart(t *testing.T) {
	compiler, err := exec.LookPath("riscv64-linux-gnu-gcc")
	if err != nil {
		if os.Getenv("PRESAGE_REQUIRE_TOOLS") == "1" {
			t.Fatal("riscv64-linux-gnu-gcc is missing (Debian package gcc-riscv64-linux-gnu)")
		}
		t.Skip("skipped: riscv64-linux-gnu-gcc is not installed")
	}
	for name, sizes := range map[string][]string{"matmul": {"1", "60"}, "heapsort": {"2", "1001"}} {
		t.Run(name, func(t *testing.T) {
			exe := filepath.Join(t.TempDir(), name)
			folder := filepath.Join("..", "quickstart", name)
			if out, err := exec.Command(compiler, "-O2", "-static", "-o", exe, folder+".c").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			committed, compiled := engine(t, folder), engine(t, exe)
			for _, size := range sizes {
				want, wantStatus, err := compiled([]string{size})
				if err != nil {
					t.Fatal(err)
				}
				if got, status, err := committed([]string{size}); got != want || status != wantStatus || err != nil {
					t.Errorf("%s: %q, status %d, %v; the source %q, %d", size, got, status, err, want, wantStatus)
				}
			}
		})
	}
}
