// Package calibration describes the machine at hand: micro-benchmarks of package
// host go in; a machine description, rows and figures come out.
package calibration
