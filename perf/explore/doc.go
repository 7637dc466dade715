// Package explore turns profiles of a program into a page in which a model of them
// is changed by hand: its basis, the shape of its functions, the sizes that it is
// fitted to, and the cache whose misses it predicts. Curves, residuals, histograms
// and errors follow.
//
// A Session holds the profiles, and what was computed from them. A State is what the
// controls say; it is the query of the page's address, so that a link holds it. A
// View is what a state shows. Handler serves the page; Serve does so on this computer
// alone, to those who have the address with its secret.
//
// Misses here follow from reuse distances alone: fully associative, or by the papers'
// binomial formula. Nothing is replayed, as PredictMisses does, for that runs the
// program.
//
// Sizes without a tick are held out. Their runs are drawn beside the model: that is
// how far it extrapolates.
package explore
