// Package scaling turns reuse-distance histograms measured at several problem
// sizes into models that give the histogram at any size.
//
// For each group of references (2004 paper, section 2.3.2; 2005 paper, section
// 4.1) it divides the accesses into bins and fits two functions of the size to
// each bin, its average distance and its number of accesses:
//
//	accesses by        size 8   size 20   size 40      bin
//	distance          ┌────────┬─────────┬─────────┐
//	                  │ 3  970 │ 25  100 │ 101 000 │   distance 40 n²+…, count 1.6 n³
//	                  ├────────┼─────────┼─────────┤
//	                  │ 95 120 │ 230 800 │ 460  3k │   distance 11 n,    count 2 n²
//	                  ├────────┼─────────┼─────────┤
//	                  │      3 │       3 │       3 │   distance 3,       count 14 n³
//	                  └────────┴─────────┴─────────┘
//
// Accesses are divided by these rules:
//
//   - Leading bins whose distance is the same at all sizes have a constant
//     distance.
//   - The other accesses, in order of distance, are split in two, and each part
//     again, until the average distances within a part are close. A split
//     follows, in order of preference, gaps between distances that match from
//     size to size; midpoints at which the counts on both sides are smooth
//     functions of the size; the median ratio of the counts at the midpoints,
//     which is the papers' rule (Options.MedianRatio).
//   - Neighbouring parts that turn out alike are merged.
//   - Cold accesses, and accesses in total, have a function each.
//
// Where no function fits all sizes, the largest sizes decide if a function meets three
// of them, or if they would have foretold larger ones better, and the function carries
// the doubt Pieces. Counts that are no function of the size are the share of all
// accesses that they are. Distances grow no faster than the memory touched. The default
// basis has terms for alignment. Of two functions with nearly the same leave-one-out
// error, the one whose terms cancel each other less is chosen, and where none meets the
// data, the one that is more certain at larger sizes.
//
// Choose training sizes that relate to blocks and pages as the sizes to be
// predicted do: planes larger or smaller than a page, rows that fill lines or
// leave remainders.
//
// Not modelled: distances that cross each other as the size grows, steps in
// the size (a remainder of a blocking factor), and regimes that begin beyond the
// largest training size.
package scaling
