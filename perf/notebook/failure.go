package notebook

import (
	"fmt"
	"os"

	"github.com/janpfeifer/gonb/gonbui"
)

// Must returns v, or ends the cell with err if it is not nil.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

// Check ends the cell with err if it is not nil.
func Check(err error) {
	if err != nil {
		fail(err)
	}
}

// fail waits until everything that was displayed has reached the kernel, so that
// the reader sees what led to the error, then ends the process. Status 1 makes
// GoNB add "exit status 1" to the cell's stderr.
func fail(err error) {
	gonbui.Sync()
	fmt.Fprintln(os.Stderr, "error:", err)
	os.Exit(1)
}
