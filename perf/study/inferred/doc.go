// Package inferred is the study of sections 2 to 4 of Wu and Lee (2012): regression
// over programs and processors together, trained by a campaign of simulations.
package inferred
