package cfg

// resolve looks for the targets of the indirect jump at pc.
func (x *explorer) resolve(d *draft, pc uint64) {
	d.partial[pc] = true
	x.mark(d) // it may leave the routine
}
