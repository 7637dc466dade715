package fit

import "container/heap"

// queue yields candidates in the order of byError, of which a search mostly looks at
// the first few. The order is total, as no two candidates have the same terms.
type queue struct{ all []*candidate }

// begin resets q to all candidates, which stay as they are.
func (q *queue) begin(all []candidate) {
	q.all = q.all[:0]
	for i := range all {
		q.all = append(q.all, &all[i])
	}
	heap.Init(q)
}

// next takes the best candidate out.
func (q *queue) next() candidate { return *heap.Pop(q).(*candidate) }

// Len is the number of candidates left; with the methods that follow it implements
// heap.Interface.
func (q *queue) Len() int           { return len(q.all) }
func (q *queue) Less(i, k int) bool { return byError(*q.all[i], *q.all[k]) < 0 }
func (q *queue) Swap(i, k int)      { q.all[i], q.all[k] = q.all[k], q.all[i] }
func (q *queue) Push(c any)         { q.all = append(q.all, c.(*candidate)) }

func (q *queue) Pop() any {
	c := q.all[len(q.all)-1]
	q.all = q.all[:len(q.all)-1]
	return c
}
