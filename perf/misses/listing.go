package misses

import (
	"presage/perf/internal/num"
	"presage/perf/subject"
)

// listed sums up the rows of one level and point, those with the most misses
// first, that a listing gives no row of their own. The bounds of the sum are the
// sums of the bounds: the interval is wider than it need be.
func listed(rows []Row, l subject.Listing) []Row {
	parts := make([]float64, len(rows))
	for i := range rows {
		parts[i] = rows[i].Misses
	}
	n := l.Listed(parts)
	if n == len(rows) {
		return rows
	}
	other := rows[n]
	other.Scope, other.Doubtful = subject.OtherScopes, other.Doubtful*other.Misses
	for _, r := range rows[n+1:] {
		other.Accesses += r.Accesses
		other.Misses += r.Misses
		other.Low += r.Low
		other.High += r.High
		other.FullyAssoc += r.FullyAssoc
		other.Cold += r.Cold
		other.Doubtful += r.Doubtful * r.Misses
	}
	other.Ratio, other.Doubtful = num.Ratio(other.Misses, other.Accesses), num.Ratio(other.Doubtful, other.Misses)
	return append(rows[:n:n], other)
}

// listedSimulated is listed for simulated rows.
func listedSimulated(rows []SimulatedRow, l subject.Listing) []SimulatedRow {
	parts := make([]float64, len(rows))
	for i := range rows {
		parts[i] = rows[i].Misses
	}
	n := l.Listed(parts)
	if n == len(rows) {
		return rows
	}
	other := rows[n]
	other.Scope = subject.OtherScopes
	for _, r := range rows[n+1:] {
		other.Accesses += r.Accesses
		other.Misses += r.Misses
		other.Full += r.Full
		other.Cold += r.Cold
	}
	other.Ratio = num.Ratio(other.Misses, other.Accesses)
	return append(rows[:n:n], other)
}
