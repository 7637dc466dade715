package sched

import (
	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/machine"
)

// Mispredictions returns how many conditional branches of each block of a routine
// are predicted wrongly, from how often their two ways are taken: by a table of
// counters, as often as the rarer way is, which is once an execution of a loop
// for the branch that leaves it. The end of loops of no more iterations than
// machine.Branch.Foresees says is foreseen, as if each had one branch; of what
// other branches do, nothing is known but their counts. A static predictor takes
// what leads back, and nothing else.
func Mispredictions(core *machine.Core, r *cfg.Routine, f *RoutineFrequencies) []float64 {
	wrong := make([]float64, len(r.Blocks))
	if cost, _ := core.Mispredict(); cost == 0 {
		return wrong
	}
	ways := make([][]float64, len(r.Blocks))
	taken, back := make([]float64, len(r.Blocks)), make([]bool, len(r.Blocks)) // how often, and whether that leads back
	leaves := make([]bool, len(r.Blocks))                                      // a loop, by one of its ways
	for e, n := range f.Edges {
		if from := r.Edges[e].From; r.Blocks[from].Last().Class == isa.Branch {
			ways[from] = append(ways[from], n)
			if r.Edges[e].Kind == cfg.Taken {
				taken[from], back[from] = n, r.Blocks[r.Edges[e].To].PC() <= r.Blocks[from].Last().PC
			}
		}
	}
	for l := range r.Loops {
		for _, e := range r.Loops[l].Exit {
			leaves[r.Edges[e].From] = true
		}
	}
	foreseen := float64(core.Branch.Foresees())
	for b, n := range ways {
		if len(n) < 2 {
			continue
		}
		if core.Branch.Predictor == "static" { // taken if it leads back
			wrong[b] = taken[b]
			if back[b] {
				wrong[b] = n[0] + n[1] - taken[b]
			}
			continue
		}
		rare, often := min(n[0], n[1]), max(n[0], n[1])
		if leaves[b] && rare > 0 && often/rare+1 <= foreseen {
			continue
		}
		wrong[b] = rare
	}
	return wrong
}
