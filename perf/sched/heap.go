package sched

// heap is a binary min-heap by key; of equal keys the older entry comes first.
type heap []entry

type entry struct{ key, inst int32 }

func (e entry) before(o entry) bool { return e.key < o.key || e.key == o.key && e.inst < o.inst }

func (h *heap) push(e entry) {
	*h = append(*h, e)
	q := *h
	for i := len(q) - 1; i > 0 && q[i].before(q[(i-1)/2]); i = (i - 1) / 2 {
		q[i], q[(i-1)/2] = q[(i-1)/2], q[i]
	}
}

func (h *heap) pop() entry {
	q := *h
	top, last := q[0], len(q)-1
	q[0] = q[last]
	q = q[:last]
	*h = q
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2; c++ {
			if c < len(q) && q[c].before(q[least]) {
				least = c
			}
		}
		if least == i {
			return top
		}
		q[i], q[least] = q[least], q[i]
		i = least
	}
}
