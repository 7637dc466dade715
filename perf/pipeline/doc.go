// Package pipeline turns the batches of a run into processor cycles.
package pipeline
