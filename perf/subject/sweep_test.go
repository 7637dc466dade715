package subject_test

import (
	"strings"
	"testing"

	"presage/perf/subject"
)

// TestSweep: what runs at each point is one program or that of the point, and
// anything in between is an error.
func TestSweep(t *testing.T) {
	a, b := &subject.Program{Name: "sweep.20"}, &subject.Program{Name: "sweep.26"}
	binaries := []subject.BinaryPoint{{Point: subject.Point{"n": 20}, Program: a}, {Point: subject.Point{"n": 26}, Program: b}}
	both := subject.RunOptions{Binaries: binaries}
	s, err := both.Sweep(nil, subject.Sweep("n", 26))
	if err != nil || s.Name != "sweep" || len(s.Points) != 1 || s.Points[0].Program != b || !s.Options.CompiledIn {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = subject.RunOptions{}.Sweep(a, subject.Sweep("n", 20, 26))
	if err != nil || s.Name != "sweep.20" || len(s.Points) != 2 || s.Points[1].Program != a || s.Options.CompiledIn {
		t.Errorf("%+v, %v", s, err)
	}
	for want, fails := range map[string]func() (*subject.Sweeping, error){
		"no executable for n=30": func() (*subject.Sweeping, error) { return both.Sweep(nil, subject.Sweep("n", 30)) },
		"and not both":           func() (*subject.Sweeping, error) { return both.Sweep(a, subject.Sweep("n", 20)) },
		"no program, and":        func() (*subject.Sweeping, error) { return subject.RunOptions{}.Sweep(nil, nil) },
		"has no program": func() (*subject.Sweeping, error) {
			return subject.RunOptions{Binaries: []subject.BinaryPoint{{Point: subject.Point{"n": 20}}}}.Sweep(nil, nil)
		},
	} {
		if s, err := fails(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v, %v, want %q", s, err, want)
		}
	}
}
