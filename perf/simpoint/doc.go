// Package simpoint chooses a few intervals of a run to represent all of it: it
// takes basic-block vectors and returns intervals with weights.
//
//	vectors ─ normalise ─ project ─▶ points in 15 dimensions
//	        ─ k-means for each k, several times ─▶ clusterings with their BIC
//	        ─ the smallest k with a good score ─▶ clusters
//	        ─ the interval nearest each centre ─▶ simulation points and weights
//
// It follows SimPoint 3.2, and reads and writes its files, but draws its own
// random numbers and scores a little differently, so results agree in quality and not
// digit by digit; with Rules SimPoint32 or SimPoint31 they are the published
// program's. The same seed gives the same result, bit by bit, on any number of processors.
//
// The score of a clustering is the Bayesian information criterion of a mixture
// of spherical Gaussians of one variance, with each interval in one cluster
// (see bic).
//
// Clusters are phases of executed code. Not modelled: intervals that execute
// the same blocks equally often but behave differently, because of other data
// or colder caches.
package simpoint
