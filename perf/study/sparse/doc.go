// Package sparse is the study of section 5 of Wu and Lee, "Inferred Models for
// Dynamic and Sparse Hardware-Software Spaces" (MICRO 2012): the best block sizes
// and caches for sparse matrix-vector products.
//
// Samples simulates products of matrices with random block sizes and caches; Fit
// fits models of performance and power to them; Model.Tune searches the models for
// the best points and verifies them by simulation. Options.Run does all of it for
// several matrices, Tune for one. Advise recommends a block size on the machine at
// hand without simulations.
package sparse
