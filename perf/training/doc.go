// Package training chooses the sizes that models are fitted to, and checks the
// extrapolation with runs that the models have not seen.
//
//	From ─▶ five sizes ─▶ fit ─▶ judge at the largest, held out ─▶ good enough? ─▶ Trained
//	                       ▲                                           │ no
//	                       └── run where models differ most per cost ◀─┘
//
// A round fits two models: one to all runs, and one to all but the largest. The
// second is judged at the largest, where its predictions are true ones, by the
// misses of the whole program in fully associative caches of all capacities; and
// the two are held against each other at the size that is asked for. If both
// differences are within the error requested, training ends. Otherwise it runs the
// program at another size: of those that fit into the budget, the one where models
// of the same runs differ most, divided by what the run costs. Once
// no larger exact run fits, a last one with sampled blocks, which is faster, judges the
// models beyond the exact ones.
//
// What is not checked: how blocks collide in the sets of a cache, which depends on
// the size in ways that a sweep does not follow; and what changes only beyond the
// largest size run, such as a row that outgrows a page. Predictions warn of both.
package training
