// Package walltime holds predicted wall times of native programs against measured
// ones: programs in C, C++ and Fortran go in, compiled by this computer's compilers,
// with a description of this computer; out come, for each program at sizes beyond
// those of its models, the predicted time, the least and median of measured ones, and
// what a power of the size says.
//
// The time of a run is predicted as the sum of three parts: the cycles that package
// timing predicts, the time to start a process, and the time in which the operating
// system provides the pages that are touched for the first time. The last two are
// measured with a program that does nothing else (see System).
package walltime
