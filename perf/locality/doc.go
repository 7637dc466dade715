// Package locality profiles runs: a program and points go in, reuse-distance
// histograms come out, by group of references and block size. Groups of executables
// that were compiled for one size each are matched.
package locality
