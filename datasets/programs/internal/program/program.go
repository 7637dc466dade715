// Package program holds what the programs do alike around their kernels: the
// start, flags and their errors, the verdict, and the exit status.
//
//	func main() {
//		program.Begin()
//		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
//	}
//
//	func run(args []string, stdout, stderr io.Writer) int {
//		o, err := parse(args, stderr) // NewFlags, its own flags, Read, Within
//		if err != nil {
//			return program.Refuse(stderr, "cg", err)
//		}
//		...
//		return program.Conclude(stdout, verify(found))
//	}
//
// Calls are direct, so that an analysis of the code finds the way from main to
// the kernel.
package program

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime/debug"
)

// Exit statuses.
const (
	OK     = 0
	Failed = 1 // the program's checks of its own result failed
	Usage  = 2
)

// Begin turns the garbage collector off. The programs allocate everything before
// their kernel starts (sources does not, and has memory enough): a collection
// would find nothing to free and would only add its own memory accesses.
func Begin() { debug.SetGCPercent(-1) }

// Refuse prints why a command line was not accepted and returns the exit status:
// that of success if it asked for help, which is printed by then.
func Refuse(stderr io.Writer, name string, err error) int {
	if errors.Is(err, flag.ErrHelp) {
		return OK
	}
	fmt.Fprintf(stderr, "%s: %v\n", name, err)
	return Usage
}

// Conclude prints the verdict, the last line of output, and returns the exit
// status. err is what the program's checks of its own result found.
func Conclude(stdout io.Writer, err error) int {
	if err != nil {
		fmt.Fprintf(stdout, "verification: FAILED: %v\n", err)
		return Failed
	}
	fmt.Fprintln(stdout, "verification: successful")
	return OK
}
