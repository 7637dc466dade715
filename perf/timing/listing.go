package timing

import (
	"maps"

	"presage/perf/internal/num"
	"presage/perf/subject"
)

// summed sums up the rows, the longest first, that the listing gives no row of
// their own. Loops with those inside them are left out instead: they do not add up.
func (t *timer) summed(rows []Row) []Row {
	parts := make([]float64, len(rows))
	for i := range rows {
		parts[i] = rows[i].Cycles
	}
	n := t.opt.Listing.Listed(parts)
	if n == len(rows) || t.of.nested() {
		return rows[:n]
	}
	other := rows[n]
	other.Scope, other.Limit, other.Waits = subject.OtherScopes, "", maps.Clone(other.Waits)
	for _, r := range rows[n+1:] {
		other.Instructions += r.Instructions
		other.Schedule += r.Schedule
		other.Flow += r.Flow
		other.Branch += r.Branch
		for level, cycles := range r.Waits {
			other.Waits[level] += cycles
		}
		other.Cycles += r.Cycles
		other.Seconds += r.Seconds
	}
	other.CPI = num.Ratio(other.Cycles, other.Instructions)
	return append(rows[:n:n], other)
}

// listed does the same for simulated rows.
func (s *simulation) listed(rows []SimulatedRow) []SimulatedRow {
	parts := make([]float64, len(rows))
	for i := range rows {
		parts[i] = rows[i].Cycles
	}
	n := s.list.Listed(parts)
	if n == len(rows) || s.of.nested() {
		return rows[:n]
	}
	other := rows[n]
	other.Scope = subject.OtherScopes
	for _, r := range rows[n+1:] {
		other.Instructions += r.Instructions
		other.Cycles += r.Cycles
		other.Seconds += r.Seconds
	}
	other.CPI = num.Ratio(other.Cycles, other.Instructions)
	return append(rows[:n:n], other)
}
