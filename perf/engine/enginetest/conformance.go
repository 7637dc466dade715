// Package enginetest tests engines against package engine's contract: an Engine and
// a program for it go in, test failures come out.
package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"presage/perf/engine"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// Subject is a program to test an engine with: one that runs for some hundred
// thousand instructions and ends with exit status 0.
type Subject struct {
	File  *objfile.File
	Input engine.Request // arguments, environment, grants, limits, seed
	Stdin []byte

	// Plan has references and basic blocks of the program. Every reference is in
	// a block, and the blocks cover everything that is executed. Nil for a
	// Discoverer, which has to find them.
	Plan *trace.Plan

	// Threads is the least number of threads that execute planned code.
	Threads int

	// Output is the program's standard output.
	Output string

	// Failing are arguments with which the program ends with FailingStatus; nil
	// if there are none.
	Failing       []string
	FailingStatus int

	// Trap is an executable that traps when run with TrapArgs and without input;
	// nil: there is none.
	Trap     *objfile.File
	TrapArgs []string
}

// Test checks every clause of the contract by running the subject on e.
func Test(t *testing.T, e engine.Engine, s Subject) {
	c := &conformance{engine: e, Subject: s}
	t.Run("Identity", c.identity)
	t.Run("Accepts", c.accepts)
	if c.discovered = c.Plan == nil; c.discovered {
		t.Run("Discover", c.discover)
		if c.Plan == nil {
			t.Fatal("without a plan there is nothing more to test")
		}
	}
	c.whole = c.record(t, engine.Request{})
	if len(c.whole.accesses) == 0 || len(c.whole.blocks) == 0 {
		t.Fatalf("%d accesses and %d blocks recorded: the subject shows nothing", len(c.whole.accesses), len(c.whole.blocks))
	}
	t.Run("Whole", c.wholeRun)
	t.Run("Repeats", c.repeats)
	t.Run("SideBySide", c.sideBySide)
	t.Run("Untraced", c.untraced)
	t.Run("Part", c.part)
	t.Run("Until", c.until)
	t.Run("Limit", c.limit)
	t.Run("Cancelled", c.cancelled)
	t.Run("Refused", c.refused)
	t.Run("Unsupported", c.unsupported)
	for name, capable := range map[string]struct {
		capability engine.Capabilities
		test       func(*testing.T)
	}{
		"Windows":   {engine.CapWindows, c.windows},
		"Snapshots": {engine.CapSnapshots, c.snapshots},
		"Flow":      {engine.CapFlow, c.flow},
	} {
		if e.Capabilities().Has(capable.capability) {
			t.Run(name, capable.test)
		}
	}
	if s.Failing != nil {
		t.Run("Failing", c.failing)
	}
	if s.Trap != nil {
		t.Run("Trap", c.trap)
	}
}

// conformance is a test of one engine on one subject.
type conformance struct {
	engine engine.Engine
	Subject
	discovered bool  // the engine discovered Plan
	whole      *tape // of the whole run
}

// run runs the subject and returns the outcome and the standard output.
func (c *conformance) run(ctx context.Context, r engine.Request) (*engine.Outcome, string, error) {
	var stdout bytes.Buffer
	input := c.Input
	input.Stdout = &stdout
	out, err := engine.Repeat(c.engine, c.File, input, c.Stdin)(ctx, r)
	return out, stdout.String(), err
}

// record runs the subject and records r.Plan, or the subject's whole plan if that
// is nil.
func (c *conformance) record(t *testing.T, r engine.Request) *tape {
	t.Helper()
	tp, err := c.tryRecord(t, r)
	if err != nil {
		t.Fatal(err)
	}
	return tp
}

func (c *conformance) tryRecord(t *testing.T, r engine.Request) (*tape, error) {
	t.Helper()
	if r.Plan == nil {
		r.Plan = c.Plan
	}
	tp := &tape{plan: r.Plan}
	r.Sink = trace.NewDirect(runs{tp}, tp)
	var err error
	tp.outcome, tp.output, err = c.run(t.Context(), r)
	for _, bad := range tp.bad {
		t.Error(bad)
	}
	return tp, err
}

func (c *conformance) identity(t *testing.T) {
	id := c.engine.Identity()
	if id.Name == "" {
		t.Errorf("identity %+v has no name", id)
	}
	text, err := json.Marshal(id)
	if err != nil {
		t.Fatal(err)
	}
	var back engine.Identity
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(back)
	if err != nil || !bytes.Equal(text, again) {
		t.Errorf("identity %s is read back as %s (%v)", text, again, err)
	}
	if c.engine.Identity() != id {
		t.Error("the identity changes")
	}
}

func (c *conformance) accepts(t *testing.T) {
	if err := c.engine.Accepts(c.File); err != nil {
		t.Error(err)
	}
	m, ok := c.engine.(engine.Moded)
	if !ok {
		return
	}
	for _, mode := range m.Modes() {
		if e, err := m.InMode(mode); err != nil || e.Identity() != c.engine.Identity() {
			t.Errorf("mode %q: %v, %v", mode, e, err)
		}
	}
	if _, err := m.InMode("no such mode"); err == nil {
		t.Error("a mode that there is not: no error")
	}
}

// discover discovers the plan, twice, with the same result.
func (c *conformance) discover(t *testing.T) {
	d, ok := c.engine.(engine.Discoverer)
	if !ok {
		t.Fatal("the subject has no plan, and the engine does not find one")
	}
	var digests []string
	for range 2 {
		input := c.Input
		input.Stdin = bytes.NewReader(c.Stdin)
		found, err := d.Discover(t.Context(), c.File, input)
		if err != nil {
			t.Fatal(err)
		}
		if err := found.Plan.Check(); err != nil {
			t.Fatal(err)
		}
		if n := found.Plan.Groups(); n != len(found.Plan.Refs) {
			t.Errorf("%d references in %d groups, want one each", len(found.Plan.Refs), n)
		}
		if !slices.IsSortedFunc(found.Modules, func(a, b engine.Module) int {
			if a.Base+trace.PC(a.Size) > b.Base {
				return 1
			}
			return -1
		}) {
			t.Errorf("modules overlap, or are not by ascending base: %+v", found.Modules)
		}
		digests = append(digests, found.Plan.Digest())
		c.Plan = found.Plan
	}
	if digests[0] != digests[1] {
		t.Errorf("two runs give plans %v", digests)
	}
	out := c.record(t, engine.Request{}).outcome
	if out.UnplannedRefs != 0 {
		t.Errorf("%d references were executed that discovery had not found", out.UnplannedRefs)
	}
}

func (c *conformance) wholeRun(t *testing.T) {
	out := c.whole.outcome
	if out.ExitCode != 0 || out.Signal != 0 || out.Stopped || c.whole.output != c.Output {
		t.Errorf("%+v with output %q, want %q", *out, c.whole.output, c.Output)
	}
	var executed uint64
	for _, b := range c.whole.blocks {
		executed += uint64(c.Plan.Blocks[b.id].Instructions)
	}
	// A signal or an exit may cut a few blocks short, and static analysis may miss
	// a little code. A discovered plan must be complete.
	n, slack := out.Instructions, out.Instructions/100
	if c.discovered {
		slack = 0
	}
	if executed > n+slack || executed < n-slack {
		t.Errorf("the blocks executed have %d instructions, the run %d", executed, n)
	}
	if threads := c.whole.threads(); threads < c.Threads || out.Threads < threads {
		t.Errorf("%d threads ran, and %d recorded something; want %d at least", out.Threads, threads, c.Threads)
	}
}

func (c *conformance) repeats(t *testing.T) { c.whole.same(t, "again", c.record(t, engine.Request{})) }

// sideBySide runs the subject several times concurrently.
func (c *conformance) sideBySide(t *testing.T) {
	tapes := make([]*tape, 3)
	var wg sync.WaitGroup
	for i := range tapes {
		wg.Go(func() {
			var err error
			if tapes[i], err = c.tryRecord(t, engine.Request{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, tp := range tapes {
		c.whole.same(t, "beside others", tp)
	}
}

// untraced checks that recording does not change what the program does.
func (c *conformance) untraced(t *testing.T) {
	out, output, err := c.run(t.Context(), engine.Request{})
	if err != nil {
		t.Fatal(err)
	}
	traced := *c.whole.outcome
	if out.Accesses+out.Blocks+out.Batches != 0 || out.UnplannedRefs != 0 || out.Flow != nil {
		t.Errorf("recorded without a plan: %+v", *out)
	}
	traced.Accesses, traced.Blocks, traced.Batches, traced.UnplannedRefs, traced.Unplanned, traced.Elapsed = 0, 0, 0, 0, nil, 0
	out.Elapsed = 0
	if output != c.whole.output || !reflect.DeepEqual(*out, traced) {
		t.Errorf("untraced %+v, traced %+v", *out, traced)
	}
}

// part plans every third reference and compares the recording with their accesses
// in the whole trace.
func (c *conformance) part(t *testing.T) {
	plan := new(trace.Plan)
	renamed := make(map[trace.RefID]trace.RefID)
	for i := 0; i < len(c.Plan.Refs); i += 3 {
		renamed[trace.RefID(i)] = trace.RefID(len(plan.Refs))
		plan.Refs = append(plan.Refs, c.Plan.Refs[i])
	}
	got := c.record(t, engine.Request{Plan: plan})
	var want []access
	for _, a := range c.whole.accesses {
		if id, ok := renamed[a.Ref()]; ok {
			want = append(want, access{trace.Tag(id, uint8(a.Size())) | trace.Access(a.Addr()), a.thread})
		}
	}
	if !slices.Equal(got.accesses, want) || len(got.blocks) > 0 {
		t.Errorf("%d accesses and %d blocks recorded, want %d and none, or others", len(got.accesses), len(got.blocks), len(want))
	}
	if got.outcome.UnplannedRefs == 0 && len(want) < len(c.whole.accesses) {
		t.Error("references are left out, and none is reported as unplanned")
	}
}

// until checks that a stopped run has recorded a prefix of the whole trace.
func (c *conformance) until(t *testing.T) {
	n := c.whole.outcome.Instructions
	for _, at := range []uint64{1, n / 3, n / 2, n - 1} {
		tp := c.record(t, engine.Request{Until: at})
		out := tp.outcome
		if !out.Stopped && out.Instructions != n || out.Instructions < at || out.ExitCode != 0 {
			t.Errorf("until %d of %d: %+v", at, n, *out)
		}
		c.whole.begins(t, fmt.Sprintf("until %d", at), tp)
	}
	if out := c.record(t, engine.Request{Until: 2*n + 1<<30}).outcome; out.Stopped || out.Instructions != n {
		t.Errorf("until after the end: %+v", *out)
	}
}

// limit checks that an instruction limit ends a run with an error, unless the
// program ends first.
func (c *conformance) limit(t *testing.T) {
	n := c.whole.outcome.Instructions
	limited := *c
	limited.Input.MaxInstructions = n / 2
	tp, err := limited.tryRecord(t, engine.Request{})
	if !errors.Is(err, engine.ErrInstructionLimit) || tp.outcome == nil {
		t.Fatalf("outcome %+v, error %v", tp.outcome, err)
	}
	c.whole.begins(t, "limited", tp)
	if _, err := limited.tryRecord(t, engine.Request{Until: n / 2}); !errors.Is(err, engine.ErrInstructionLimit) {
		t.Errorf("until the limit: error %v", err)
	}
	if tp, err := limited.tryRecord(t, engine.Request{Until: n / 4}); err != nil || !tp.outcome.Stopped {
		t.Errorf("until before the limit: %+v, error %v", tp.outcome, err)
	}
	limited.Input.MaxInstructions = n + 1<<30
	if _, err := limited.tryRecord(t, engine.Request{}); err != nil {
		t.Errorf("a limit after the end: %v", err)
	}
}

// canceller is a collector that cancels the run.
type canceller func()

func (c canceller) Observe(*trace.Batch) { c() }

func (c *conformance) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out, _, err := c.run(ctx, engine.Request{Plan: c.Plan, Sink: trace.NewDirect(canceller(cancel))})
	if !errors.Is(err, context.Canceled) || out == nil || out.Instructions >= c.whole.outcome.Instructions {
		t.Errorf("cancelled at the first batch: %+v, error %v", out, err)
	}
	if _, _, err := c.run(ctx, engine.Request{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: error %v", err)
	}
}

// refused checks that requests that contradict themselves are rejected.
func (c *conformance) refused(t *testing.T) {
	sink := trace.NewDirect()
	unordered := &trace.Plan{Refs: []trace.Ref{{PC: 8, Size: 8}, {PC: 4, Size: 8}}}
	for name, r := range map[string]engine.Request{
		"a plan without a sink": {Plan: c.Plan},
		"a sink without a plan": {Sink: sink},
		"a plan out of order":   {Plan: unordered, Sink: sink},
		"windows and no plan":   {Windows: []trace.Window{{From: 0, To: 1}}},
		"an empty window":       {Plan: c.Plan, Sink: sink, Windows: []trace.Window{{From: 5, To: 5}}},
		"windows that overlap":  {Plan: c.Plan, Sink: sink, Windows: []trace.Window{{From: 5, To: 9}, {From: 8, To: 10}}},
		"snapshots for nobody":  {SnapshotAt: []uint64{1}},
	} {
		if out, _, err := c.run(t.Context(), r); err == nil || out != nil {
			t.Errorf("%s: outcome %+v, error %v", name, out, err)
		}
	}
}

// unsupported checks that a request for a capability that the engine lacks is
// rejected and not ignored.
func (c *conformance) unsupported(t *testing.T) {
	sink := trace.NewDirect()
	for capability, r := range map[engine.Capabilities]engine.Request{
		engine.CapWindows:   {Plan: c.Plan, Sink: sink, Windows: []trace.Window{{From: 0, To: 1}}},
		engine.CapSnapshots: {SnapshotAt: []uint64{1}, Snapshot: func(engine.Snapshot) error { return nil }},
		engine.CapFlow:      {Plan: &trace.Plan{Flow: new(trace.FlowPlan)}},
		engine.CapSandbox:   {Grants: []engine.Grant{{Guest: "/data", Host: t.TempDir()}}},
		engine.CapMemory:    {Memory: engine.DefaultMemory},
		engine.CapChanges:   {Plan: &trace.Plan{Memory: new(trace.MemoryPlan)}, Sink: sink},
	} {
		has := c.engine.Capabilities().Has(capability) || capability == engine.CapChanges && c.engine.Capabilities().Has(engine.CapAllocations)
		r.Args = c.Input.Args
		_, err := c.engine.Run(t.Context(), c.File, r)
		if errors.Is(err, errors.ErrUnsupported) == has {
			t.Errorf("%v: the engine has it: %t; error %v", capability, has, err)
		}
	}
	if _, ok := c.engine.(engine.Snapshotter); ok != c.engine.Capabilities().Has(engine.CapSnapshots) {
		t.Errorf("a Snapshotter: %t; capabilities: %v", ok, c.engine.Capabilities())
	}
}

// failing checks that a program that fails by itself is not an error of the run.
func (c *conformance) failing(t *testing.T) {
	other := *c
	other.Input.Args = c.Failing
	out, _, err := other.run(t.Context(), engine.Request{})
	if err != nil || out.ExitCode != c.FailingStatus || out.Err() == nil {
		t.Errorf("%+v, error %v; want exit status %d", out, err, c.FailingStatus)
	}
}

func (c *conformance) trap(t *testing.T) {
	out, err := c.engine.Run(t.Context(), c.Trap, engine.Request{Args: c.TrapArgs})
	var fault *engine.Fault
	if !errors.As(err, &fault) || out == nil {
		t.Fatalf("outcome %+v, error %v, want a fault", out, err)
	}
	if out.Signal != fault.Signal || out.ExitCode != 128+fault.Signal || fault.Engine != c.engine.Identity().Name || !strings.HasPrefix(fault.Error(), fault.Engine+": ") {
		t.Errorf("%+v after the fault %+v", *out, *fault)
	}
}
