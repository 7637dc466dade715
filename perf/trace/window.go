package trace

import "fmt"

// Window is an interval of a run: [From, To) in instructions executed since the
// program's start, summed over its threads.
type Window struct{ From, To uint64 }

// CheckWindows returns an error unless the windows are ascending, disjoint and
// nonempty.
func CheckWindows(windows []Window) error {
	var last uint64
	for i, w := range windows {
		if w.To <= w.From {
			return fmt.Errorf("trace: window %d, [%d, %d), is empty", i, w.From, w.To)
		}
		if w.From < last {
			return fmt.Errorf("trace: window %d begins at %d, before the end of the previous one at %d", i, w.From, last)
		}
		last = w.To
	}
	return nil
}
