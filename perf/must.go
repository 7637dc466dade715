package perf

import (
	"fmt"
	"os"
)

// Must returns v, or prints err on one line of standard error and ends the process
// with status 1. It is for notebook cells and examples, in which an error is a
// message to a reader and no goroutine's stack helps; programs return errors.
func Must[T any](v T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	return v
}
