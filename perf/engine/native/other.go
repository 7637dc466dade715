//go:build !(linux && amd64)

package native

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"presage/perf/engine"
	"presage/perf/objfile"
)

func supported() error {
	return fmt.Errorf("native: x86-64 programs run on linux/amd64 only, and this is %s/%s: build the program for riscv64, which runs everywhere: %w",
		runtime.GOOS, runtime.GOARCH, errors.ErrUnsupported)
}

func (Engine) run(context.Context, *objfile.File, engine.Request, bool) (*engine.Outcome, *engine.Discovery, error) {
	return nil, nil, supported()
}
