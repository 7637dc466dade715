package sched

import (
	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/machine"
)

// Mispredictions returns the number of mispredicted conditional branches in each
// block of a routine, estimated from the frequencies of their two directions. A
// table of counters mispredicts a branch as often as it takes its rarer direction,
// which for a loop's exit branch is once per execution of the loop. The exit of a
// loop with no more iterations than machine.Branch.Foresees is predicted, as if
// each loop had one branch; of all other branches only the counts are known. A
// static predictor predicts backward branches taken and all others not taken.
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
