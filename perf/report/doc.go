// Package report turns a program, sizes and machines into one page: what was run,
// misses predicted at larger sizes, predictions held against exact simulation, figures,
// and what is doubtful about all of it. It is what Profile, FitScaling, PredictMisses and
// Validate of package perf do, in one call.
package report
