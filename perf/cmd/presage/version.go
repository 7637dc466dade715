package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// release is the version of which CHANGELOG.md tells.
const release = "0.7.0"

// version returns the release, the commit if the build recorded one, and what the
// program was built with and for.
func version() string {
	commit := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = " (commit " + s.Value + ")"
			}
		}
	}
	return fmt.Sprintf("%s%s, %s %s/%s", release, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
