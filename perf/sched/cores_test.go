package sched

import (
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

// u74 is SiFive's U74 as llvm-mca 14 describes it, which is what it prints
// under "Instruction Info" and "Resource pressure": two pipes, A with the
// memory and B with branches, multiplication and floating-point.
func u74() *machine.Core {
	a, b, either := on(1, 1, "A"), on(1, 1, "B"), on(3, 1, "A", "B")
	div := func(latency machine.Cycles, unit string) machine.Timing {
		return machine.Timing{Latency: latency, Uses: []machine.Use{{AnyOf: []string{"B"}, Cycles: 1}, {AnyOf: []string{unit}, Cycles: latency - 1}}}
	}
	return &machine.Core{
		InOrder: true, IssueWidth: 2,
		Units: []machine.Unit{{Name: "A", Count: 1}, {Name: "B", Count: 1}, {Name: "IDiv", Count: 1}, {Name: "FDiv", Count: 1}},
		Classes: describe(map[string]machine.Timing{
			"nop": on(1, 1, "A", "B"), "alu": either, "shift": either, "compare": either, "multiply": on(3, 1, "B"), "divide": div(66, "IDiv"),
			"fp add": on(7, 1, "B"), "fp multiply": on(7, 1, "B"), "fp fused": on(7, 1, "B"), "fp convert": on(3, 1, "B"), "fp move": on(3, 1, "B"),
			"fp divide": div(56, "FDiv"), "fp sqrt": div(56, "FDiv"),
			"load": on(3, 1, "A"), "fp load": on(2, 1, "A"), "store": a, "fp store": a,
			"branch": b, "jump": b, "indirect jump": b, "call": b, "return": b,
		}),
	}
}

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
