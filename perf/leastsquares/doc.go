// Package leastsquares solves linear least squares by QR factorisation: columns
// and data go in, coefficients, residuals and the columns that depend on others
// come out. It knows nothing about what the columns mean.
//
// Solve takes all columns at once, by Householder reflections. Growing adds and
// removes one column at a time, by Gram-Schmidt orthogonalisation, and knows
// the leverages; a search over subsets of columns is made with it. Both take
// columns in the order given and set aside one that depends on those before it,
// so columns that matter more come first. Pivoting for the largest remaining
// length (Golub and Businger) would keep an arbitrary one of them.
package leastsquares
