// Package predict turns the reuse-distance histograms of a scaling model into
// the misses of a cache or TLB, and answers the converse questions: which cache
// stays within a number of misses, and how far a problem may grow without
// exceeding a miss ratio. Predicted misses have intervals, drawn from the
// functions compatible with the data (Intervals).
//
//	model ── size ──▶ histogram per group ── sets, ways ──▶ misses per group
//
// A fully associative LRU cache of C blocks misses the accesses with a distance
// of C or more (2005 paper, section 5.1). A set-associative one counts as fully
// associative too, unless MethodBinomial is asked for: then an access misses with
// the probability that enough of the blocks since the last use fell into its set,
// if blocks fall into sets independently and evenly (section 5.2). A TLB is a fully
// associative cache of pages. Cold accesses always miss.
//
// Not modelled: conflicts that a regular layout of the data causes, replacement
// other than LRU, prefetching, and write policies that do not allocate.
package predict
