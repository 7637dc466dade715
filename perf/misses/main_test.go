package misses

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain has the collector of garbage run less often than programs want it: models of
// Go programs, with their run-time system, are made and dropped by the dozen here.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(1800 << 20)
	os.Exit(m.Run())
}
