// Package simpoint chooses a few intervals of a run that stand for all of it:
// basic-block vectors go in, intervals with weights come out.
//
//	vectors ─ normalise ─ project ─▶ points in 15 dimensions
//	        ─ k-means for each k, several times ─▶ clusterings with their BIC
//	        ─ the smallest k with a good score ─▶ clusters
//	        ─ the interval nearest each centre ─▶ simulation points and weights
//
// It follows what SimPoint 3.2 does, and reads and writes its files, but draws
// its own random numbers, so that results agree in quality and not digit by
// digit. The same seed gives the same result, bit by bit, however many
// processors take part.
//
// The score of a clustering is the Bayesian information criterion of a mixture
// of spherical Gaussians of one variance, with each interval in one cluster
// (see bic).
//
// Clusters are phases of what code is executed. Not modelled: intervals that
// execute the same blocks the same number of times and behave differently, as
// with other data or colder caches.
package simpoint
