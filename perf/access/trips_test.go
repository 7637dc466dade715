package access

import (
	"testing"

	"pgregory.net/rapid"

	"presage/perf/isa"
)

// TestSolveAgainstIteration compares trip counts with going through the
// iterations, for a comparison that begins a constant apart and for one that
// begins a register apart.
func TestSolveAgainstIteration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := &routineAnalysis{symbols: make([]symbol, 1), known: make(map[symbolKey]symbolID), operations: make(map[string]symbolID)}
		op := rapid.SampledFrom([]isa.Operator{isa.Equal, isa.NotEqual, isa.Less, isa.GreaterEqual}).Draw(t, "operator")
		taken := rapid.Bool().Draw(t, "stays when taken")
		by := rapid.Int64Range(-5, 5).Filter(func(n int64) bool { return n != 0 }).Draw(t, "by")
		begin := rapid.Int64Range(-50, 50).Draw(t, "begin")
		stays := func(k int64) bool {
			return isa.Value{Op: op, A: 1, B: 2}.Eval(begin+k*by, 0) != 0 == taken
		}
		if !stays(0) {
			return // the count is defined for loops whose condition holds at first
		}
		want, most := int64(0), int64(200)
		for want < most && stays(want) {
			want++
		}
		condition := op
		if !taken {
			condition = opposite[op]
		}
		got, ok := a.solve(condition, constant(begin), by)
		if ok && (!got.isConstant() || got.constant != want) {
			t.Fatalf("%v, taken %t, from %d by %d: %+v, want %d", op, taken, begin, by, got, want)
		}
		s := a.symbolFor(symbolKey{kind: atEntry, place: register(10)})
		symbolic, ok := a.solve(condition, single(s), by)
		if n := evaluate(a, map[symbolID]int64{s: begin}, symbolic); ok && want < most && n != want {
			t.Fatalf("%v, taken %t, from a0 = %d by %d: %+v is %d, want %d", op, taken, begin, by, symbolic, n, want)
		}
		if unit := by == 1 || by == -1; unit && want < most && !ok && (op != isa.Equal || !taken) && !(op == isa.NotEqual && !taken) {
			t.Fatalf("%v, taken %t, from a0 by %d is not solved", op, taken, by)
		}
	})
}
