// Package wasmcache keeps the compiled Graphviz in a folder that only the user can
// write to.
//
// go-graphviz compiles its WebAssembly when it is initialised, before main, and keeps
// the machine code in the folder go-graphviz of $TMPDIR or /tmp. There another user's
// files make it panic, as they cannot be read, or are executed, as they can. A program
// that imports this package before go-graphviz has TMPDIR name another folder
// meanwhile: presage-graphviz of the user's cache folder, if the user owns it and
// nobody else can write to it, otherwise one that cannot be, so that Graphviz is
// compiled anew, which takes half a second.
//
// Of the packages that can be initialised, the one with the least import path comes
// first. This one imports only syscall and what that imports. So it precedes package
// time, which imports syscall and whose path is greater; and everything that imports
// os, hence time, follows.
package wasmcache

import "syscall"

const (
	variable = "TMPDIR"
	nowhere  = "/dev/null" // has no folders
)

var before, found = redirect()

// redirect sets the variable and returns what it was.
func redirect() (before string, found bool) {
	before, found = syscall.Getenv(variable)
	folder := own()
	if folder == "" {
		folder = nowhere
	}
	_ = syscall.Setenv(variable, folder) // fails only for names that cannot be
	return before, found
}

// Restore makes TMPDIR what it was. It is to be called once go-graphviz has been
// initialised, by the package that imports it.
func Restore() bool {
	if found {
		_ = syscall.Setenv(variable, before) // as above
	} else {
		_ = syscall.Unsetenv(variable)
	}
	return found
}
