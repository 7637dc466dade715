//go:build !(linux && amd64)

package rv64

import (
	"fmt"
	"runtime"

	"presage/perf/trace"
)

// jit is unavailable on this platform.
type jit struct{ base int }

func newJIT(*machine, *trace.Plan) (*jit, error) {
	return nil, fmt.Errorf("rv64: translation to machine code needs linux/amd64, not %s/%s", runtime.GOOS, runtime.GOARCH)
}

func (*jit) run(*thread) exit { panic("rv64: no translated code on this system") }

func (*jit) close() {}

type jitHome struct{}
