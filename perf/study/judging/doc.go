// Package judging holds predictions against exact simulation on a suite of programs:
// in go a suite, a list of small programs with the sizes to fit to and to judge at,
// and machines; out come rows of misses and cycles, predicted and simulated, and how
// far off they are as a whole.
//
// Beside each prediction stands a baseline that knows nothing of caches: what was
// simulated at the largest training size, times the cube of the ratio of the sizes.
//
// Half of a suite can be closed: nobody looks at its predictions while methods are
// being changed, so that they tell at the end how well predictions hold on programs
// that nothing was tuned to. Fresh programs are of neither half: they are written after that,
// second ones once predictions of those had been looked at, and third ones after these.
package judging
