package subject

import (
	"strings"
	"testing"

	"presage/perf/access"
	"presage/perf/trace"
)

// TestSamePlaces: a plan whose references are not those of the program, one by
// one, is refused: its RefIDs could not be taken for Refs.
func TestSamePlaces(t *testing.T) {
	all := []access.Reference{{PC: 4}, {PC: 8}}
	for _, c := range []struct {
		plan []trace.Ref
		want string
	}{
		{[]trace.Ref{{PC: 4}, {PC: 8}}, ""},
		{[]trace.Ref{{PC: 4}}, "plan of 1 references, and there are 2"},
		{[]trace.Ref{{PC: 4}, {PC: 12}}, "reference 1 of the plan is at pc 0xc, of the program at 0x8"},
	} {
		err := samePlaces(&trace.Plan{Refs: c.plan}, all)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.plan, err, c.want)
		}
	}
}
