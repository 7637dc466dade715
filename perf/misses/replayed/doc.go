// Package replayed corrects predicted misses by replaying a program, at a size that
// was never run as a whole, through the caches of a machine: it takes the profiles of
// a program and a machine, and returns a misses.Corrector.
//
// It runs the program once more at each size of the profiles, to learn its loop
// nests; see package replay. At a new size it takes the start of the real run and
// generates the rest, simulates the machine's hierarchy on both, and gives the groups
// of references of which all accesses are certified the misses that were counted.
// Groups that are not certified stay as they are predicted, with a warning that
// says why: a row may be part replay, part model, and its method names both.
//
// Of accesses in doubt some do not matter: which of many like rows an elimination chooses
// as its pivot, say, or where a few elements of a stencil are left out. They are replayed
// too, as data chose in the runs, if a trial shows that this is right: the largest run,
// replayed by what the others teach, must have its misses on the machine, group by group,
// and in fully associative caches of all sizes. The method of such rows is MethodTested.
//
// Groups that stay as they are predicted are held against the start of the real run, up to
// half of it: of these accesses it is known what misses. Where it has many conflicts, as
// large a share of theirs conflicts; and where models of a TLB or another level without sets say far more of the
// rest than it shows, or less of all than it had, the rest goes on as it did. The method of
// such rows is MethodStart.
//
// A level that holds all that the program touches has the first uses of blocks that the
// models say where a replay, with the models of the other groups, has more or fewer: what a
// replay leaves out may be what uses them first.
//
// Where loops stay in doubt for want of sizes, as those of tiles do with the five or six
// that a model of distances takes, and one executable is of all sizes, the program is run
// at up to 16 more for each size that is predicted: none above the largest profiled, and
// together of about as many instructions as the profiled, at most. Options.TrainedSizesOnly
// leaves that out; rows say at which sizes loops were learned, and whether that helped.
//
// Of what is not certified, memory that grows in steps, as tables do that double when they
// are full, has a model of runs at halves of the size in place of that of the profiles, and
// programs whose size is the number of elements one with square roots, where these foretell
// the largest runs better. Where the largest run is not foretold well from the others, as
// counts have noise if work depends on data, it is of runs at sizes between, too; see
// Corrector.Substitutes.
//
// What was learned and what was counted at a size are kept in the store, under all that
// they depend on: executables, what was run, the machine's hierarchy, limits, and
// versions that are raised when one of these comes to mean something else.
//
// Where each size has an executable of its own, one of the size that is predicted
// (Options.Executables) does what one executable of all sizes does. Without it, one of
// the profiled ones stands in, its variables where the symbol tables of the others
// suggest, and the library's start as in these.
package replayed
