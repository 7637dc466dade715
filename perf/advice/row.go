// Package advice turns reuse patterns into changes of a program that would make
// reuses short, each with the misses and cycles that it would save, or says that there
// is nothing to gain.
//
// What a pattern suggests follows from the loop that carries it:
//
//	carrier                               advice
//	none, or one iteration of it, and     fuse the two loops
//	another loop accessed the block
//	likewise, and a library routine       initialise: let the loop set what it uses first
//	cleared the block
//	encloses the scope and no other       interchange: make it the innermost loop
//	loop, and the scope's own loops
//	carry no reuse that this would end
//	encloses loops that access the same   tile its steps: keep it inside blocks of the data
//	data each time
//	encloses the scope otherwise          tile the nest
//	is the scope's own innermost loop     none: the accesses are irregular
//
// From the objects follow other changes: records and strides of which a loop uses always
// the same part suggest to split them, misses that a fully associative cache would not
// have to pad them, and misses of a TLB to use huge pages, if it maps all of these.
//
// Of a program of several threads, objects in whose lines each thread uses bytes of its own
// suggest to bring these together and pad them to lines. The gain is that of a simulation of
// the threads on a core each, with the bytes laid out so (sharing.SimulateApart); Misses are
// those of that simulation, and prefetchers are left out of it.
//
// Loops of libraries stay as they are: none is changed, nor fused with the program's.
//
// Where prefetchers are simulated, a change is worth the demand misses that they leave, and
// the waits for what they fetch too late; misses that they cover promise no cycles. What
// they leave of each pattern is simulated, or modelled over the size. Where loops are
// interchanged so that neighbours are accessed one after the other, the misses that stay
// are those of a walk through memory, of which the machine's prefetchers leave what Walk
// in package patterns says.
//
// A gain is what the program has of such misses, less what the change leaves: a tile of
// T by T elements one reuse in T. It assumes that the change is possible (nothing here
// knows dependences), that it makes the reuse short enough to hit, and that nothing
// else becomes long. Gains of several pieces of advice do not add up: they may be about
// the same misses.
package advice

import (
	"cmp"
	"slices"

	"presage/perf/patterns"
)

// Kind is a change of a program or its memory.
type Kind string

// The kinds of advice.
const (
	Fuse        Kind = "fuse loops"
	Initialise  Kind = "initialise at first use"
	Interchange Kind = "interchange loops"
	TileSteps   Kind = "tile steps"
	Tile        Kind = "tile the nest"
	Split       Kind = "split records"
	Pad         Kind = "pad arrays"
	HugePages   Kind = "use huge pages"
	Privatise   Kind = "pad or privatise per-thread data"
	Nothing     Kind = "nothing to gain"
)

// Row is a piece of advice about a level of a machine at a point.
type Row struct {
	Program string             `frame:"program"`
	Point   map[string]float64 `frame:",each"`
	Machine string             `frame:"machine"`
	Level   string             `frame:"level"`
	Misses  float64            `frame:"misses"` // of the level, as predicted or simulated; Privatise: of all threads, on a core each
	Advice  Kind               `frame:"advice"`
	Where   string             `frame:"scope"`  // the loop to change; empty for data
	With    string             `frame:"with"`   // Fuse: the other loop; Initialise: the routine that clears; otherwise where the reuses are, or empty
	Object  string             `frame:"object"` // with the most misses of these
	// Gain is the misses that the change would save; Low and High hold what is known of
	// how well it can be done and, of predictions, of the patterns.
	Gain  float64 `frame:"pred_gain_misses"`
	Low   float64 `frame:"pred_gain_misses_low"`
	High  float64 `frame:"pred_gain_misses_high"`
	Share float64 `frame:"pred_gain_share"` // of Misses, from 0 to 1
	// Ahead is Gain with the machine's prefetchers: the demand misses that they leave
	// now and that the change would save, those on which they are late, and those that
	// they cover, which save nothing. Left is the demand misses that are left of the
	// level. Without prefetchers, all of Gain and Misses are left. Columns has them for
	// tables if prefetchers are simulated.
	Ahead   patterns.Prefetched
	Left    float64
	Columns map[string]float64 `frame:",each"`
	// CyclesLow and CyclesHigh are what the same change would save at all levels, if
	// as many misses overlap as the machine can have under way, and if none do: the
	// latency of the demand misses left, and the waits for late blocks. They are missing
	// if no latency is known.
	CyclesLow  float64 `frame:"pred_gain_cycles_low"`
	CyclesHigh float64 `frame:"pred_gain_cycles_high"`
	// CyclesLate is the part of CyclesHigh that is waits for late blocks.
	CyclesLate float64
	Text       string `frame:"suggestion"`
	Warning    string `frame:"warning"`

	straight patterns.Prefetched // of Ahead: of misses that stay, once they are a walk
	rows     float64             // TileSteps: iterations of the loop inside that go together; 0: as many as fit
}

// least is the share of a level's misses from which advice is given.
const least = 0.05

// sorted orders the rows of one level by their gain, with prefetchers first.
func sorted(rows []Row) []Row {
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(-cmp.Compare(a.Ahead.Left, b.Ahead.Left), -cmp.Compare(a.Gain, b.Gain), cmp.Compare(a.Advice, b.Advice), cmp.Compare(a.Where, b.Where), cmp.Compare(a.With, b.With))
	})
	return rows
}
