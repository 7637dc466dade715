package main

import (
	"bytes"
	"strings"
	"testing"

	"presage/datasets/programs/internal/program"
)

// TestMendingChangesNoResult: every stage finds the same.
func TestMendingChangesNoResult(t *testing.T) {
	for _, n := range []string{"1", "5", "63", "130"} {
		for _, mend := range []string{"0", "1", "2", "3", "4"} {
			var out bytes.Buffer
			if status := run([]string{"-n", n, "-mend", mend}, &out, &out); status != program.OK || !strings.HasSuffix(out.String(), "verification: successful\n") {
				t.Errorf("n %s, mended %s: status %d: %s", n, mend, status, &out)
			}
		}
	}
}

// TestVerifySeesErrors: a result that is off in any part fails.
func TestVerifySeesErrors(t *testing.T) {
	good := results{
		field: sumField(newField(9), 9, false), particles: newParticles(9*perRow, false).move(),
		layers: newLayers(9*perRow, false).blend(), hits: countHits(9, false),
	}
	if err := good.verify(9); err != nil {
		t.Fatal(err)
	}
	for i, spoil := range []func(*results){
		func(r *results) { r.field++ }, func(r *results) { r.particles-- }, func(r *results) { r.layers++ }, func(r *results) { r.hits-- },
	} {
		bad := good
		spoil(&bad)
		if bad.verify(9) == nil {
			t.Errorf("error %d passes", i)
		}
	}
}

func TestArguments(t *testing.T) {
	for _, args := range [][]string{{"-n", "0"}, {"-n", "5000"}, {"-mend", "5"}, {"-mend", "-1"}, {"more"}, {"-x"}} {
		var out bytes.Buffer
		if status := run(args, &out, &out); status != program.Usage {
			t.Errorf("%v: status %d", args, status)
		}
	}
}
