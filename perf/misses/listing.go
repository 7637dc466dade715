package misses

import (
	"presage/perf/internal/num"
	"presage/perf/subject"
)

// listedBy sums up the rows of one level and point, those with the most misses first,
// that a listing gives no row of their own: add adds a row to the sum.
func listedBy[T any](rows []T, l subject.Listing, misses func(*T) float64, add func(other, row *T)) []T {
	parts := make([]float64, len(rows))
	for i := range rows {
		parts[i] = misses(&rows[i])
	}
	n := l.Listed(parts)
	if n == len(rows) {
		return rows
	}
	other := rows[n]
	for i := range rows[n+1:] {
		add(&other, &rows[n+1+i])
	}
	return append(rows[:n:n], other)
}

// listed is listedBy for predictions. The bounds of the sum are the sums of the bounds:
// the interval is wider than it need be.
func listed(rows []Row, l subject.Listing) []Row {
	return listedBy(rows, l, func(r *Row) float64 { return r.Misses }, func(other, r *Row) {
		doubtful := other.Doubtful*other.Misses + r.Doubtful*r.Misses
		other.Scope = subject.OtherScopes
		other.Accesses += r.Accesses
		other.Misses += r.Misses
		other.Low += r.Low
		other.High += r.High
		other.FullyAssoc += r.FullyAssoc
		other.Cold += r.Cold
		other.Ratio, other.Doubtful = num.Ratio(other.Misses, other.Accesses), num.Ratio(doubtful, other.Misses)
	})
}

// listedSimulated is listedBy for simulated rows.
func listedSimulated(rows []SimulatedRow, l subject.Listing) []SimulatedRow {
	return listedBy(rows, l, func(r *SimulatedRow) float64 { return r.Misses }, func(other, r *SimulatedRow) {
		other.Scope = subject.OtherScopes
		other.Accesses += r.Accesses
		other.Misses += r.Misses
		other.Full += r.Full
		other.Cold += r.Cold
		other.Ratio = num.Ratio(other.Misses, other.Accesses)
	})
}
