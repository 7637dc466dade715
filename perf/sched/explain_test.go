package sched

import (
	"fmt"
	"path"
	"strings"

	"presage/perf/cfg"
	"presage/perf/isa"
)

// Explain describes what limits a segment, and where: the instructions of the
// critical recurrence, or those that were waited for most, with their source lines
// if p is not nil.
//
//	9 cycles: a recurrence of 9 cycles in 1 iteration
//	  9 cycles  0x10f2a fadd.d (sum.c:7) → itself, 1 iteration later
func (g *Segment) Explain(p *cfg.Program) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.4g cycles: %s\n", g.Cycles, g.headline(p))
	if g.Limit == Recurrence {
		for _, e := range g.Bounds.Critical {
			edge := &g.Edges[e]
			fmt.Fprintf(&b, "  %d cycles  %s → %s%s\n", edge.Latency, g.name(p, edge.From), g.target(p, edge), later(edge.Distance))
		}
		return b.String()
	}
	for i := range g.Causes {
		if c := &g.Causes[i]; c.Cycles >= g.Cycles/20 {
			fmt.Fprintf(&b, "  %.3g cycles  %s\n", c.Cycles, g.cause(p, c))
		}
	}
	return b.String()
}

// headline names what limits the segment.
func (g *Segment) headline(p *cfg.Program) string {
	b := &g.Bounds
	n := len(g.Nodes)
	switch g.Limit {
	case Recurrence:
		distance := 0
		for _, e := range b.Critical {
			distance += g.Edges[e].Distance
		}
		return fmt.Sprintf("a recurrence of %.4g cycles in %s", b.Recurrence*float64(distance), count(distance, "iteration"))
	case UnitBusy:
		if g.Cycles <= b.Units*near {
			return fmt.Sprintf("%s, occupied for %.4g cycles each time", b.Unit, b.Units)
		}
		return "units that are occupied"
	case FetchWidth, IssueWidth, RetireWidth:
		return fmt.Sprintf("%v, of %s", g.Limit, count(n, g.noun()))
	case Latency:
		return "latencies"
	case ProgramOrder:
		if g.Slots != nil {
			text := fmt.Sprintf("units, width and dependences together, which ask for %.4g one by one", b.Max())
			if i := g.Slots.Hindered; i >= 0 {
				text += "; in less, there was no place for " + g.name(p, i)
			}
			return text
		}
	case WindowFull:
		return fmt.Sprintf("the window, full of instructions that wait: the longest chain of %s takes %d cycles", count(n, g.noun()), b.Chain)
	}
	return g.Limit.String()
}

// noun returns what to call the nodes of the graph.
func (g *Segment) noun() string {
	if n := len(g.Nodes); n > 0 && g.Nodes[n-1].At-g.Nodes[0].At != n-1 {
		return "micro-operation"
	}
	return "instruction"
}

func (g *Segment) cause(p *cfg.Program, c *Cause) string {
	switch {
	case c.Limit == Latency:
		return fmt.Sprintf("latency of %s, for %s", g.name(p, c.From), g.name(p, c.To))
	case c.Limit == UnitBusy:
		return fmt.Sprintf("%s, occupied by %s, for %s", c.Unit, g.name(p, c.From), g.name(p, c.To))
	case c.Limit == WriteOrder:
		return fmt.Sprintf("the result of %s, which that of %s may not overtake", g.name(p, c.From), g.name(p, c.To))
	case c.To >= 0:
		return fmt.Sprintf("%v: %s", c.Limit, g.name(p, c.To))
	}
	return c.Limit.String()
}

func (g *Segment) target(p *cfg.Program, e *Edge) string {
	if e.From == e.To {
		return "itself"
	}
	text := g.name(p, e.To)
	if e.throughMemory() {
		text += ", through memory"
		if e.Assumed {
			text += " as is assumed"
		}
	}
	return text
}

func later(distance int) string {
	if distance == 0 {
		return ""
	}
	return ", " + count(distance, "iteration") + " later"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// name names an instruction: "0x10f2a fadd.d (sum.c:7)".
func (g *Segment) name(p *cfg.Program, i int) string { return Name(p, g.Nodes[i].Inst) }

// Name returns a readable name of an instruction, with its source line if p is not
// nil and the line is known.
func Name(p *cfg.Program, in *isa.Inst) string {
	text := fmt.Sprintf("%#x %s", in.PC, strings.ToLower(in.Op))
	if p == nil {
		return text
	}
	if line, ok := p.File.LineAt(in.PC); ok && line.Line > 0 {
		text += fmt.Sprintf(" (%s:%d)", path.Base(line.File), line.Line)
	}
	return text
}
