package replay

// Prospect says how much of a program is certain at a size before anything is replayed,
// in shares of its executions of blocks and accesses in the largest run.
type Prospect struct {
	Doubtful float64
	// Curable is the part that more sizes may make certain: coefficients with too few
	// sizes to spare, tiles of which there were too few, residue classes without a run,
	// and the calls of routines in which a branch is in doubt for these reasons.
	Curable float64
}

// Prospect returns that of the program at the size, of which Model.At must have made it.
func (in *Instance) Prospect() Prospect {
	var p Prospect
	total := 0.0
	cures := make([]bool, len(in.prog.Places))
	after := make([]bool, len(in.prog.Contexts))
	for i, d := range in.doubts {
		if in.gaps[i].at(in.N, in.trained) {
			d |= untested
		}
		n := float64(in.fitted.work[i])
		if total += n; d.any() {
			p.Doubtful += n
		}
		if cures[i] = in.curable(i, d); cures[i] && d&branching != 0 {
			after[in.prog.Places[i].Context] = true
		}
	}
	for c := 1; c < len(after); c++ {
		after[c] = after[c] || after[in.prog.Contexts[c].Parent]
	}
	for i, cure := range cures {
		if cure || after[in.prog.Places[i].Context] {
			p.Curable += float64(in.fitted.work[i])
		}
	}
	if total > 0 {
		p.Doubtful, p.Curable = p.Doubtful/total, p.Curable/total
	}
	return p
}

// curable reports whether more sizes may settle doubts about place i.
func (in *Instance) curable(i int, d doubt) bool {
	switch {
	case d&untested != 0 && in.gaps[i].modulus > 1, d&otherClass != 0:
		return true
	case d&(drawnAddress|drawnBranch) != 0:
		return in.fitted.bends[i]
	}
	return d&(fewSizes|fewBounds|failsTraining|failsHeldOut|otherWays) != 0
}

// bends reports whether what is affine nowhere in a run may be so in pieces.
func (p *RunPlace) bends() bool {
	for j := range p.Refs {
		if p.Refs[j].Bends.bent() {
			return true
		}
	}
	for k := range p.Branch {
		if p.Branch[k].Bends {
			return true
		}
	}
	return false
}

// Tiles returns what may be sizes of tiles at the program's size: how many steps of an
// inner loop lie between two of an outer one, ascending. See Fit.
func (in *Instance) Tiles() []int64 { return in.prog.Steps }
