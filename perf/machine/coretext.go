package machine

import (
	"fmt"
	"slices"

	"presage/perf/isa"
	"presage/perf/pipeline"
)

// coreText is a core in a file, with quantities as text.
type coreText struct {
	Frequency string `yaml:"frequency"`
	Order     string `yaml:"order"` // in or out
	Width     *struct {
		Fetch  int `yaml:"fetch"`
		Issue  int `yaml:"issue"`
		Retire int `yaml:"retire"`
	} `yaml:"width"`
	Window     int         `yaml:"window"`
	Queues     []queueText `yaml:"queues"`
	LoadQueue  int         `yaml:"load_queue"`
	StoreQueue int         `yaml:"store_queue"`
	Registers  *struct {
		Int   int `yaml:"int"`
		Float int `yaml:"float"`
	} `yaml:"registers"`
	Units   []unitText  `yaml:"units"`
	Classes []classText `yaml:"classes"`
	Branch  *branchText `yaml:"branch"`
	Source  []string    `yaml:"source"`
}

type queueText struct {
	Name    string   `yaml:"name"`
	Entries int      `yaml:"entries"`
	Classes []string `yaml:"classes"`
}

type unitText struct {
	Name  string `yaml:"name"`
	Count *int   `yaml:"count"` // default 1
}

// classText is the timing of one or several classes of instructions.
type classText struct {
	Of      []string  `yaml:"of"`
	Latency string    `yaml:"latency"`
	Uses    []useText `yaml:"uses"`
}

type useText struct {
	AnyOf []string `yaml:"any_of"`
	For   string   `yaml:"for"` // default 1 cycle
}

type branchText struct {
	Predictor      string `yaml:"predictor"`
	Entries        int    `yaml:"entries"`
	HistoryBits    int    `yaml:"history_bits"`
	LoopReach      int    `yaml:"loop_reach"`
	PatternReach   int    `yaml:"pattern_reach"`
	MispredictCost string `yaml:"mispredict_cost"`
}

// scheduled reports whether the text describes more of a core than its clock.
func (t *coreText) scheduled() bool {
	return t.Order != "" || t.Width != nil || t.Window != 0 || t.Queues != nil || t.LoadQueue != 0 || t.StoreQueue != 0 ||
		t.Registers != nil || t.Units != nil || t.Classes != nil || t.Branch != nil
}

// Bounds far beyond any core: larger numbers are typing errors.
const (
	maxCount   = 1 << 20 // of entries, registers, units
	maxLatency = 10_000  // cycles of an instruction
)

// core reads the parts of a core that a scheduler needs. If there are any,
// those that every schedule needs are required: the order, the issue width,
// units and the classes of requiredClasses.
func (r *reader) core(t *coreText) Core {
	const path = "$.core"
	c := Core{Source: t.Source, Window: t.Window, LoadQueue: t.LoadQueue, StoreQueue: t.StoreQueue}
	if !t.scheduled() {
		return c
	}
	switch t.Order {
	case "in":
		c.InOrder = true
	case "out":
	case "":
		r.fail(path, "order is missing: in, if instructions begin to execute in program order, else out")
	default:
		r.fail(path+".order", "order: %q is neither in nor out", t.Order)
	}
	if t.Width == nil || t.Width.Issue == 0 {
		r.fail(path+".width", "width.issue is missing: how many instructions can begin to execute in a cycle")
	} else {
		c.FetchWidth, c.IssueWidth, c.RetireWidth = t.Width.Fetch, t.Width.Issue, t.Width.Retire
	}
	if t.Registers != nil {
		c.IntRegisters, c.FloatRegisters = t.Registers.Int, t.Registers.Float
	}
	for _, n := range []struct {
		path  string
		value int
	}{
		{".width.fetch", c.FetchWidth},
		{".width.issue", c.IssueWidth},
		{".width.retire", c.RetireWidth},
		{".window", t.Window},
		{".load_queue", t.LoadQueue},
		{".store_queue", t.StoreQueue},
		{".registers.int", c.IntRegisters},
		{".registers.float", c.FloatRegisters},
	} {
		r.count(path+n.path, n.value)
	}
	c.Units = r.units(t.Units)
	c.Classes = r.classes(t.Classes, c.Units)
	c.Queues = r.queues(t.Queues)
	if t.Branch != nil {
		c.Branch = r.branch(t.Branch)
	}
	if r.err == nil {
		c.FallsBack = c.fallBack()
		r.plausible(&c)
	}
	return c
}

// count checks a number that is 0 if it is left out.
func (r *reader) count(path string, n int) {
	if n < 0 || n > maxCount || n == 0 && r.position(path) != nil {
		r.fail(path, "%d is impossible: want a number from 1 to %d, or leave it out if it is not known", n, maxCount)
	}
}

func (r *reader) units(text []unitText) []Unit {
	var units []Unit
	for i, t := range text {
		path := fmt.Sprintf("$.core.units[%d]", i)
		r.need(path+".name", t.Name)
		count := 1
		if t.Count != nil {
			count = *t.Count
		}
		if count < 1 || count > maxCount {
			r.fail(path+".count", "%d units are impossible: want a number from 1 to %d", count, maxCount)
		}
		if slices.ContainsFunc(units, func(u Unit) bool { return u.Name == t.Name }) {
			r.fail(path+".name", "unit %q is listed twice: give it a count instead", t.Name)
		}
		units = append(units, Unit{t.Name, count})
	}
	if len(units) == 0 {
		r.fail("$.core", "units are missing: list the functional units, or the issue ports that they share")
	}
	return units
}

func (r *reader) classes(text []classText, units []Unit) map[isa.Class]Timing {
	timings := make(map[isa.Class]Timing)
	for i := range text {
		t := &text[i]
		path := fmt.Sprintf("$.core.classes[%d]", i)
		if len(t.Of) == 0 {
			r.fail(path, "of is missing: the classes of instructions that the timing is of")
		}
		r.need(path+".latency", t.Latency)
		timing := Timing{Latency: r.instructionCycles(path+".latency", t.Latency)}
		if len(t.Uses) > maxUses {
			r.fail(path+".uses", "%d uses are more than an instruction has (at most %d)", len(t.Uses), maxUses)
			break
		}
		for j, u := range t.Uses {
			timing.Uses = append(timing.Uses, r.use(fmt.Sprintf("%s.uses[%d]", path, j), u, units))
		}
		for j, name := range t.Of {
			class := r.class(fmt.Sprintf("%s.of[%d]", path, j), name)
			if _, twice := timings[class]; twice {
				r.fail(fmt.Sprintf("%s.of[%d]", path, j), "class %q is timed twice", name)
			}
			timings[class] = timing
		}
	}
	return timings
}

func (r *reader) use(path string, t useText, units []Unit) Use {
	u := Use{AnyOf: t.AnyOf, Cycles: 1}
	if len(t.AnyOf) == 0 {
		r.fail(path, "any_of is missing: the names of units, one of which is used")
	}
	for i, name := range t.AnyOf {
		at := fmt.Sprintf("%s.any_of[%d]", path, i)
		if !slices.ContainsFunc(units, func(u Unit) bool { return u.Name == name }) {
			r.fail(at, "no unit is called %q: list it under units:", name)
		}
		if slices.Index(t.AnyOf, name) < i {
			r.fail(at, "unit %q is named twice", name)
		}
	}
	if t.For != "" {
		u.Cycles = r.instructionCycles(path+".for", t.For)
	}
	return u
}

// instructionCycles reads the latency or repeat rate of an instruction.
func (r *reader) instructionCycles(path, text string) Cycles {
	v := r.quantity(path, text, cycleUnits)
	if v > maxLatency {
		r.fail(path, "%s are impossible for an instruction (at most %d cycles)", text, maxLatency)
	}
	return Cycles(v)
}

// class reads the name of a class of instructions that execute.
func (r *reader) class(path, name string) isa.Class {
	var names []string
	for _, c := range isa.Classes() {
		if c == isa.Illegal {
			continue
		}
		if c.String() == name {
			return c
		}
		names = append(names, c.String())
	}
	r.fail(path, "there is no class of instructions %q; there are %s", name, list(names))
	return isa.Illegal
}

func (r *reader) queues(text []queueText) []Queue {
	var queues []Queue
	seen := make(map[isa.Class]string)
	for i, t := range text {
		path := fmt.Sprintf("$.core.queues[%d]", i)
		r.need(path+".name", t.Name)
		if t.Entries == 0 {
			r.fail(path, "entries is missing: how many instructions can wait in the queue")
		}
		r.count(path+".entries", t.Entries)
		if len(t.Classes) == 0 {
			r.fail(path, "classes is missing: the classes of instructions that wait in the queue")
		}
		q := Queue{Name: t.Name, Entries: t.Entries}
		for j, name := range t.Classes {
			at := fmt.Sprintf("%s.classes[%d]", path, j)
			class := r.class(at, name)
			if other, twice := seen[class]; twice {
				r.fail(at, "class %q waits in queue %q already", name, other)
			}
			seen[class] = t.Name
			q.Classes = append(q.Classes, class)
		}
		queues = append(queues, q)
	}
	return queues
}

// predictors lists the kinds of branch predictors that can be simulated.
var predictors = []string{"bimodal", "gshare", "tage", "static", "perfect"}

func (r *reader) branch(t *branchText) Branch {
	const path = "$.core.branch"
	b := Branch{Predictor: t.Predictor, Entries: t.Entries, HistoryBits: t.HistoryBits, LoopReach: t.LoopReach, PatternReach: t.PatternReach}
	r.need(path+".predictor", t.Predictor)
	if !slices.Contains(predictors, t.Predictor) {
		r.fail(path+".predictor", "predictor: %q is none of %s", t.Predictor, list(predictors))
	}
	r.count(path+".entries", t.Entries)
	if t.Entries&(t.Entries-1) != 0 {
		r.fail(path+".entries", "%d entries are not a power of two", t.Entries)
	}
	table := t.Predictor == "bimodal" || t.Predictor == "gshare" || t.Predictor == "tage"
	if t.Entries != 0 && !table {
		r.fail(path+".entries", "a %s predictor has no entries", t.Predictor)
	}
	switch {
	case t.Predictor == "tage":
		if t.HistoryBits != 0 && t.HistoryBits < pipeline.MinTAGEHistory || t.HistoryBits > pipeline.MaxTAGEHistory {
			r.fail(path+".history_bits", "a tage predictor combines %d to %d directions, not %d", pipeline.MinTAGEHistory, pipeline.MaxTAGEHistory, t.HistoryBits)
		}
	case t.HistoryBits != 0 && t.Predictor != "gshare":
		r.fail(path+".history_bits", "a %s predictor has no history: that is for gshare and tage", t.Predictor)
	case t.HistoryBits < 0 || t.HistoryBits > 30 || t.Entries != 0 && 1<<t.HistoryBits > t.Entries:
		r.fail(path+".history_bits", "%d bits of history cannot index %d entries", t.HistoryBits, t.Entries)
	}
	r.count(path+".loop_reach", t.LoopReach)
	if t.LoopReach != 0 && !table {
		r.fail(path+".loop_reach", "a %s predictor learns no ends of loops: loop_reach is for bimodal, gshare and tage", t.Predictor)
	}
	r.count(path+".pattern_reach", t.PatternReach)
	if t.PatternReach != 0 && t.Predictor != "tage" {
		r.fail(path+".pattern_reach", "a %s predictor learns no patterns by their length: pattern_reach is for tage", t.Predictor)
	}
	b.MispredictCost = r.instructionCycles(path+".mispredict_cost", t.MispredictCost)
	return b
}
