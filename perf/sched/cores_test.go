package sched

import (
	"testing"

	"presage/perf/isa"
	"presage/perf/machine"
)

// The cores of the tests. Their numbers are those of the tools that answers are
// compared with, or round ones; they do not claim to be those of hardware.

func on(latency, cycles machine.Cycles, units ...string) machine.Timing {
	return machine.Timing{Latency: latency, Uses: []machine.Use{{AnyOf: units, Cycles: cycles}}}
}

func describe(timings map[string]machine.Timing) map[isa.Class]machine.Timing {
	all := make(map[isa.Class]machine.Timing)
	for _, class := range isa.Classes() {
		if t, ok := timings[class.String()]; ok {
			all[class] = t
		}
	}
	return all
}

// described reads a core of the machines that the project describes.
func described(t testing.TB, name string) *machine.Core {
	t.Helper()
	m, err := machine.Load("../../machines/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return &m.Core
}

// mcaU74 has llvm-mca predict for the core described in sifive-u74-llvm14.
var mcaU74 = []string{"-mtriple=riscv64", "-mattr=+m,+a,+f,+d,+c", "-mcpu=sifive-u74"}

// wide is a small out-of-order core.
func wide() *machine.Core {
	alu, mem, fp := on(1, 1, "alu"), on(4, 1, "mem"), on(4, 1, "fp")
	return &machine.Core{
		FetchWidth: 4, IssueWidth: 8, RetireWidth: 4, Window: 64,
		Units: []machine.Unit{{Name: "alu", Count: 3}, {Name: "mem", Count: 2}, {Name: "fp", Count: 2}},
		Classes: describe(map[string]machine.Timing{
			"nop": {}, "alu": alu, "shift": alu, "compare": alu, "multiply": on(3, 1, "alu"), "divide": on(20, 20, "alu"),
			"fp add": fp, "fp multiply": fp, "fp fused": fp, "fp convert": fp, "fp move": on(1, 1, "fp"),
			"fp divide": on(15, 10, "fp"), "fp sqrt": on(20, 20, "fp"),
			"load": mem, "fp load": mem, "store": on(1, 1, "mem"), "fp store": on(1, 1, "mem"),
			"branch": alu, "jump": alu, "indirect jump": alu, "call": alu, "return": alu,
		}),
	}
}
