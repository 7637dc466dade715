package rv64

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/objfile"
)

// layouts are ways to link an instruction-set test. SELF makes the program
// rewrite its own text, which -N makes writable; RELOCATED omits the checks that
// need dynamic relocations, as nothing applies them.
var layouts = map[string]string{
	"board":          "-static -Wl,-Ttestdata/isa/board.ld",
	"board stripped": "-static -Wl,-Ttestdata/isa/board.ld -Wl,-s",
	"board writable": "-static -Wl,-Ttestdata/isa/board.ld -Wl,-N -DSELF",
	"2 GiB":          "-static -Ttext=0x80000000",
	"2 GiB writable": "-static -Ttext=0x80000000 -Wl,-N -DSELF",
	"second page":    "-static -Wl,--build-id=none -Ttext=0x10000",
	"odd":            "-static -Ttext=0x123456",
	"odd writable":   "-static -Wl,-N -DSELF -Ttext=0x11002",
	"across pages":   "-static -Wl,-N,--build-id=none -Ttext=0x80001ffe -DSELF",
	"uncompressed":   "-static -Wl,-N -DSELF -march=rv64g",
	"pie":            "-static-pie -DRELOCATED -Wl,--no-dynamic-linker",
	"pie high":       "-static-pie -DRELOCATED -Wl,--no-dynamic-linker -Ttext=0x80000000",
}

func buildLayout(t *testing.T, flags string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "layout")
	args := append([]string{"-march=rv64gc", "-mcmodel=medany", "-nostdlib", "-nostartfiles"}, strings.Fields(flags)...)
	cmd := exec.Command(oracle.Need(t, "riscv64-linux-gnu-gcc"), append(args, "testdata/isa/layout.S", "-o", path)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return path
}

// TestLayouts runs a self-checking program that exercises what bare-metal tests
// rely on, linked in many ways. Its exit status is the number of the failed check.
func TestLayouts(t *testing.T) {
	for name, flags := range layouts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := buildLayout(t, flags)
			f, err := objfile.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			if f.PIE != strings.HasPrefix(name, "pie") {
				t.Errorf("PIE is %v", f.PIE)
			}
			oracle.Need(t, qemu)
			if _, status := runQemu(t, path); status != 0 {
				t.Errorf("qemu fails check %d", status)
			}
			for name, mode := range modes(t) {
				for _, heat := range []int{1, 3, 0} {
					_, r, err := runGuest(t, f, options{mode: mode, heat: heat})
					if err != nil || r.ExitCode != 0 {
						t.Errorf("%s, heat %d: check %d failed: %v", name, heat, r.ExitCode, err)
					}
					if mode == Translate && heat > 0 && r.translated < r.Instructions/2 {
						t.Errorf("heat %d: %d of %d instructions in translated blocks", heat, r.translated, r.Instructions)
					}
				}
				plan := planAll(f)
				r := observe(t, f, options{mode: mode, heat: 2}, plan)
				if r.err != "<nil>" || r.result.ExitCode != 0 || r.result.Accesses == 0 {
					t.Errorf("%s, traced: check %d failed, %d accesses: %s", name, r.result.ExitCode, r.result.Accesses, r.err)
				}
			}
		})
	}
}

// TestLayoutsRefused checks that executables which Linux would refuse too are
// rejected with an error that gives the position.
func TestLayoutsRefused(t *testing.T) {
	for flags, want := range map[string]string{
		"-static -Wl,--build-id=none -Ttext=0x1000":         "segment 0 lies at 0x0",
		"-static -Ttext=0x100000000":                        "outside of the address space",
		"-static -Wl,--build-id=none -Ttext=0x300000000000": "reaches past 0x4000000000",
	} {
		path := buildLayout(t, flags)
		f, err := objfile.Open(path)
		if err == nil {
			_, _, err = runGuest(t, f, options{mode: Interpret})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", flags, err, want)
		}
	}
}
