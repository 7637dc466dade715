// Package notebook is what the cells of a Go notebook share: it shows tables and
// figures, reports the progress of runs, reads recordings, and prints, records
// and judges the headline numbers of the last cell.
//
// A cell ends at its first error: every function here that can fail prints the
// error on one line of stderr, without a stack trace, and exits with status 1, by
// which nbcheck tells that the cell failed. Outside of a notebook, in a plain Go
// program, tables are printed as text and figures are drawn but not shown.
//
// It is the only package that imports GoNB's library, and no package imports it.
package notebook
