// Package scaling turns reuse-distance histograms measured at several problem
// sizes into models that give the histogram at any size.
//
// For each group of references (2004 paper, section 2.3.2; 2005 paper, section
// 4.1):
//
//  1. Leading bins whose distance is the same at all sizes are modelled apart:
//     their distance is a constant, their frequency a function of the size.
//
//  2. The other accesses, in order of distance, are split in two at the
//     midpoint of their distance range, and each part again, until the parts'
//     average distances are close.
//
//  3. Neighbours that turned out alike are put together.
//
//  4. Each part becomes a bin with two functions: average distance and
//     frequency. The cold accesses and the total have a frequency each.
//
//     accesses, sorted      size 8    size 20   size 40          bin
//     by distance         ┌─────────┬─────────┬─────────┐
//     │  3 970  │ 25 100  │ 101 000 │  40 n²+…, f(n) = 1.6 n³
//     ├─────────┼─────────┼─────────┤
//     │ 95  120 │ 230 800 │ 460 3k  │  11 n,    f(n) = 2 n²
//     ├─────────┼─────────┼─────────┤
//     │    3    │    3    │    3    │  3,       f(n) = 14 n³
//     └─────────┴─────────┴─────────┘
//
// The papers split in the same ratio at all sizes, the median of the ratios at
// the midpoints. That is right for parts that all grow alike, and wrong for a
// surface beside a volume, whose share shrinks as the size grows: the cut then
// runs through a cluster of distances at some sizes, and a part's average mixes
// reuse within a row with reuse across the mesh. Here three cuts are tried in
// turn: along gaps between distances that match from size to size; at midpoints
// (arithmetic, geometric, or the widest gap) where the counts on both sides are
// smooth functions of the size; at last in the papers' ratio.
// Options.MedianRatio asks for the papers' rule throughout.
//
// Where no one function meets the data, because a plane of the mesh outgrew a
// page between two of the sizes, the largest sizes decide (see weights.go), and
// the function carries the doubt Pieces.
//
// The basis has terms for alignment (see alignment.go), and of two sums of terms
// that leave data out equally well the one whose terms cancel each other less is
// taken (see weights.go).
//
// TestPredictsBeyondTraining takes the relative error of the misses of five
// kernels (triad, matrix multiply plain and blocked, a stencil, a sweep), blocks
// of 64 bytes, sizes 60 and 80, fully associative caches of 32 to 8192 blocks;
// errors above 100% count as 100% in the mean:
//
//	                           6 sizes, 8 to 40    11 sizes, 10 to 40
//	                           median    mean      median    mean
//	default                     0.2%     2.1%       0.6%     5.6%
//	without terms of alignment  0.4%     3.6%       0.6%     7.6%
//	papers' ratio               0.9%     3.5%       0.8%     4.7%
//
// The eleven sizes leave remainders in blocks of four that the sizes judged do
// not have: more sizes are not better if they differ in kind from those to be
// predicted. The same holds for pages: a page holds several rows or planes of
// small meshes and a part of one of large ones, distances in pages stop growing
// once each plane has its own, and sizes before the change tell little about
// sizes after it. So choose training sizes whose planes relate to a page as those
// to be predicted do. `presage validate` tells how it is for a program;
// datasets/validation has that for three.
//
// A bin's distances were also taken as spread, by their own deviation and by the
// error of their model, so that a bin that straddles a capacity missed in part.
// It changed no median or mean for the better, and is left out.
//
// Not modelled: distances that cross each other as the size grows, steps in
// the size (a remainder of a blocking factor), and regimes that begin beyond the
// largest training size.
package scaling
