//go:build linux && amd64

package native

import (
	"golang.org/x/sys/unix"

	"presage/perf/engine"
)

// fatal ends the run because of a trap that the program does not handle.
func (m *machine) fatal(t *thread, signal unix.Signal, f *engine.Fault) error {
	f.Engine, f.Signal, f.Thread = m.name, int(signal), t.index
	m.out.Signal, m.out.ExitCode = int(signal), 128+int(signal)
	t.gone = true
	m.stop(m.now())
	if mod := m.maps.module(f.PC); mod != nil && mod.base == 0 {
		f.PC -= mod.bias
		if r := m.file.RoutineAt(f.PC); r != nil {
			f.Routine = r.Name
			if line, ok := m.file.LineAt(f.PC); ok {
				f.File, f.Line = line.File, line.Line
			}
		}
	}
	return f
}
