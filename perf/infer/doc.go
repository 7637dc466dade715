// Package infer turns sparse profiles of programs on machines into one
// performance model over software and hardware: it fits regressions whose
// variables, transformations and interactions are chosen by a genetic search.
//
//	table ─ basis ─ terms of a Spec ─ Fit ─ Model ─ Predict
//	          │                        ▲
//	          └──── Search ── best Spec┘
//
//	table ─ coordinates ─ Kernel ─ Process ─ Predict
//	                                  └─ Extend: a few rows of new software
//
// A Table is named columns, a response and a group (the application) for each
// row; nothing here depends on what the columns mean, but for a Process, which
// tells variables of software from those of hardware. A Spec, the chromosome of
// the search, states for each variable whether it is left out, linear,
// quadratic, cubic or piecewise cubic, and lists the pairs that interact. For a
// Spec of x (2: quadratic) and y (1: linear) with the interaction x-y the model
// is
//
//	z = β0 + β1 x + β2 x² + β3 y + β4 x y
//
// The method is that of Wu and Lee, "Inferred Models for Dynamic and Sparse
// Hardware-Software Spaces" (MICRO 2012), sections 3.1 to 3.4, cited below as
// 2012. Variables are first raised to the power of the ladder that makes them
// most symmetric, and then scaled to [-1, 1]; see Scale. A Process is not theirs:
// it has no terms to search for, products of any number of variables, and what is
// left over near rows that it knows.
//
// Not modelled by a Spec: interactions of more than two variables, and correlation
// between the errors of rows of one application.
package infer
