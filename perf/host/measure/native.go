package measure

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"presage/perf/subject"
)

// native returns an executable for this machine, path itself or what is built from
// the folder path, and a function that removes what was built.
func native(ctx context.Context, path string) (exe string, done func(), err error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", nil, fmt.Errorf("perf: measure: %w", err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", nil, fmt.Errorf("perf: measure: %w", err)
	}
	if !info.IsDir() {
		return abs, func() {}, Foreign(abs)
	}
	temp, err := os.MkdirTemp("", "presage-measure-")
	if err != nil {
		return "", nil, fmt.Errorf("perf: measure: %w", err)
	}
	done = func() { os.RemoveAll(temp) }
	exe = filepath.Join(temp, filepath.Base(abs))
	if err := buildNative(ctx, abs, exe); err != nil {
		done()
		return "", nil, err
	}
	return exe, done, nil
}

// buildNative compiles the Go program in dir for this machine.
func buildNative(ctx context.Context, dir, exe string) error {
	if err := (subject.GoBuild{Dir: dir, Target: subject.Native()}).Run(ctx, exe); err != nil {
		return fmt.Errorf("perf: measure: %w", err)
	}
	if info, err := os.Stat(exe); err != nil || info.Mode()&0o111 == 0 { // an archive: no main package
		return fmt.Errorf("perf: measure: %s is no folder of a Go main package", dir)
	}
	return nil
}

// Foreign returns an error if path is an ELF executable for another processor. It
// might run emulated, and its time would say nothing about this machine.
func Foreign(path string) error {
	f, err := elf.Open(path)
	if err != nil {
		return nil // no ELF file: if it is no program either, running it says so
	}
	defer f.Close()
	want, known := map[string]elf.Machine{
		"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "riscv64": elf.EM_RISCV,
	}[runtime.GOARCH]
	if known && f.Machine != want {
		return fmt.Errorf("perf: measure: %s is for %v, and this machine is %s: name the folder of its Go source, or an executable built for this machine", path, f.Machine, runtime.GOARCH)
	}
	return nil
}
