package catalog

import (
	"presage/perf/frame"
	"presage/perf/isa"
	"presage/perf/machine"

	"github.com/go-gota/gota/dataframe"
)

// CoreFrame returns a row for each class of instructions that a machine's core
// is described for; none if it is not described.
//
//   - latency_cycles: until a dependent instruction can begin
//   - per_cycle: how many of this class, and of no other, can begin in a cycle
//   - units: what one needs; queue: where it waits, "" if in none
//   - timed_as: the class whose timing stands for this one, itself if it has its
//     own
func CoreFrame(m *machine.Machine) dataframe.DataFrame {
	type row struct {
		Machine  string  `frame:"machine"`
		Class    string  `frame:"class"`
		Latency  float64 `frame:"latency_cycles"`
		PerCycle float64 `frame:"per_cycle"`
		Units    string  `frame:"units"`
		Queue    string  `frame:"queue"`
		TimedAs  string  `frame:"timed_as"`
	}
	c := &m.Core
	var rows []row
	for _, class := range isa.Classes() {
		t, ok := c.Classes[class]
		if !ok {
			continue
		}
		as := class
		if other, ok := c.FallsBack[class]; ok {
			as = other
		}
		rows = append(rows, row{
			m.Name, class.String(), float64(t.Latency), c.Throughput(class),
			t.UnitsOf(), c.QueueOf(class), as.String(),
		})
	}
	return frame.Of(rows)
}

// MachineDiff returns a row for each property in which two machines differ:
//
//   - property, unit: such as "L2 latency" in cycles; unit is "" for counts and
//     words
//   - a, b: its values, "" where a machine has no such part or it is not known
func MachineDiff(a, b *machine.Machine) dataframe.DataFrame {
	type row struct {
		Property string `frame:"property"`
		Unit     string `frame:"unit"`
		A        string `frame:"a"`
		B        string `frame:"b"`
	}
	var rows []row
	for _, d := range machine.Diff(a, b) {
		rows = append(rows, row{d.Property, d.Unit, d.A, d.B})
	}
	return frame.Of(rows)
}
