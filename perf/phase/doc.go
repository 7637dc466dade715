// Package phase divides a run into intervals by the code they execute, chooses
// intervals that stand for the whole, and simulates caches on these alone.
package phase
