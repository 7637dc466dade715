package replay

import (
	"slices"
	"strings"

	"presage/perf/trace"
)

// doubt is a set of reasons for which what a place does is not certain.
type doubt uint32

const (
	drawnAddress  doubt = 1 << iota // no function gives the addresses
	drawnBranch                     // no function gives the branch
	fewSizes                        // a coefficient is not an exact polynomial with sizes to spare
	failsTraining                   // the replay of a size that was run differs from the run
	failsHeldOut                    // so does that of the largest size, fitted without it
	otherAddress                    // differs from the first part of the run at the new size
	otherBranch                     //
	lostBase                        // where the data lie is not known
	untested                        // a branch could go where no run has been
	otherCount                      // was executed more or less often than the polynomial of counts says
	follows                         // comes after a branch of the same routine that is in doubt
	allocates                       // allocates memory, which may be done otherwise at another size
	otherClass                      // there was no run at a size of this residue class
	otherWays                       // branches of sizes that were run differ from the runs, and nothing else does
	fewBounds                       // a coefficient of a branch is not an exact polynomial with sizes to spare
	notShown                        // code of an executable of its own, and the start of the run has not shown that it does the same
	overlap                         // steps of a loop overlap that did not at any size that was run
	decided                         // is executed, or not, as a branch in doubt decides
	notCounted                      // the same, but that its addresses are those that are replayed its code says
	unstored                        // addresses follow from numbers of which it is not certain how they were stored
	elsewhereToo                    // is also executed where nothing is replayed: see elsewhere
	control                         // beside another doubt: it is about where control goes on
)

var doubtTexts = [...]string{
	"addresses that no affine function of the loops gives",
	"branches that depend on data",
	"coefficients that are no exact polynomial of the size, with two sizes to spare",
	"replays of sizes that were run differ from the runs",
	"a fit without the largest size does not replay that one",
	"addresses differ from the beginning of the run at this size",
	"branches differ from the beginning of the run at this size",
	"it is not known where the data lie at this size",
	"a branch could go where no run has been",
	"executions differ from the polynomial of their number",
	"comes after a branch that is in doubt",
	"memory is allocated while the replay goes on",
	"the code computes with remainders, and no run was at a size with this one's remainder modulo 8",
	"replays of sizes that were run take other branches than the runs",
	"bounds of branches that are no exact polynomial of the size, with two sizes to spare",
	"code of the size's own executable that the start of its run does not show",
	"what steps of a loop touch overlaps at this size and did not in the runs: tiles that there were too few of to tell",
	"whether they are executed depends on data",
	"how often code of the size's own executable is executed, that the start of its run does not show",
	"addresses follow from numbers in memory of which it is not certain how they come to be there",
	"other threads or handlers of signals execute it, too, and are not replayed",
}

func (d doubt) any() bool { return d != 0 }

// branching are the doubts about the branch at the end of a place: its own accesses come
// before.
const branching = drawnBranch | otherBranch | otherWays | fewBounds | untested | control

// access returns the doubts about the accesses of a place.
func (d doubt) access() doubt { return d &^ branching }

// texts returns the reasons in words.
func (d doubt) texts() []string {
	var list []string
	for i, t := range doubtTexts {
		if d&(1<<i) != 0 {
			list = append(list, t)
		}
	}
	return list
}

// Covers reports whether a reason for doubts is among others, or no worse than one of these:
// what comes after a branch in doubt may be executed or not as data decide, and code that
// is not shown to be the same need not be executed as often. And where no function of the size
// says what code does, it is the same in which of several ways that shows.
func Covers(reasons []string, why string) bool {
	if slices.Contains(reasons, why) {
		return true
	}
	had := func(d doubt) bool { return slices.Contains(reasons, d.texts()[0]) }
	switch why {
	case decided.texts()[0]:
		return had(follows)
	case notCounted.texts()[0]:
		return had(notShown)
	}
	return slices.Contains(unfitted.texts(), why) && slices.ContainsFunc(unfitted.texts(), func(t string) bool { return slices.Contains(reasons, t) })
}

// unfitted are the doubts that no function of the size says what code does.
const unfitted = fewSizes | failsTraining | failsHeldOut | otherCount | otherWays | fewBounds

// allocators are the routines of C libraries, and of Go's runtime, that place data.
var allocators = []string{
	"malloc", "calloc", "realloc", "memalign", "aligned_alloc", "posix_memalign", "valloc", "pvalloc",
	"mmap", "mremap", "brk", "sbrk",
	"runtime.mallocgc",
}

// allocatesMemory reports whether a routine is one that allocates memory.
func allocatesMemory(routine string) bool {
	return slices.Contains(allocators, strings.TrimLeft(strings.TrimPrefix(ownName(routine), "__libc_"), "_"))
}

// ownName returns the name that a routine has in its file; of code that only goes on to a
// routine of another file, that one's.
func ownName(routine string) string {
	if _, own, shared := strings.Cut(routine, "!"); shared {
		routine = own
	}
	return strings.TrimSuffix(routine, "@plt")
}

// refOf returns the reference of the plan that reference j of a place is.
func (c *Code) refOf(p *Place, j int) trace.RefID { return c.blocks[p.Block].firstRef + trace.RefID(j) }
