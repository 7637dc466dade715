package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"presage/perf/subject"
)

// defaultMinShare is the share of a column's total at which a routine, loop or
// reference has a row of its own.
const defaultMinShare = 0.01

// registerListing adds --min-share and --limit. total names what shares are of.
func registerListing(cmd *cobra.Command, l *subject.Listing, total string) {
	f := cmd.Flags()
	f.Float64Var(&l.MinShare, "min-share", defaultMinShare, fmt.Sprintf("sum up routines, loops or references with less than this share of %s in one row, %q; 0: list all", total, subject.OtherScopes))
	f.IntVar(&l.Limit, "limit", 0, "list at most this many of them, and sum up the others; 0: any number")
}
