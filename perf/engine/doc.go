// Package engine is the contract between engines, which run programs, and their
// callers: an Engine takes an executable and a Request, sends batches of events
// to the Request's trace.Sink, and returns an Outcome.
//
//	objfile.File ─┐
//	Request ──────┴─▶ Engine ─▶ Outcome
//	 Plan, Windows       │
//	                     └─ batches ─▶ Request.Sink ─▶ collectors
//
// Nothing above this package knows which engine runs; package engines chooses
// one for an executable. Optional features are listed in Capabilities and in the
// interfaces Snapshotter, Discoverer and Moded. An engine rejects a Request that
// needs a feature it lacks with errors.ErrUnsupported; it never ignores part of
// a Request.
//
// # Repeatable runs
//
// The same executable, input (Args, Env, Stdin, Grants and the files in them,
// Memory, Seed) and Identity give the same events: addresses, the order of the
// threads' batches, counts. Recording does not change the program's behaviour.
//
// # Code found by running
//
// A plan lists the references and blocks to record. It usually comes from static
// analysis of the whole executable. Where code is loaded or reached in ways that
// static analysis cannot see (shared libraries, computed jumps in stripped code),
// a Discoverer runs the program once, untraced, and returns the plan of what was
// executed; since runs are repeatable, the next run executes nothing else. So a
// plan is complete and fixed before the first batch: RefIDs follow the order of
// addresses rather than events, collectors allocate once, and the plan's digest
// is known when results are looked up in a store. The cost is one untraced run,
// whose result can be stored under the inputs alone.
//
// # Addresses
//
// An Access holds 40 bits of address. An engine whose programs use wider addresses
// maps modules, heap, stacks and mappings with trace.Regions. A trace.PC is 64
// bits wide, but the address of code in a shared library is no more stable than
// that of data: such an engine reports the synthetic base of each module
// (Discovery.Modules), and PCs are relative to it.
//
// # Runs
//
// An engine may record iterations of a loop as a trace.Run, and so pay once for
// many accesses. Whether and where it does must be as repeatable as the events
// themselves; it keeps each batch within trace.MaxExpansion.
//
// # Memory
//
// A plan may ask what memory is for (Plan.Memory): an engine with CapChanges then tells
// of files that are loaded, of the stack, and of each allocation with its callers, as
// changes that come before a batch's first event. What is recorded stays the same.
//
// # Threads
//
// A Batch holds events of one thread, and a Sink sees one batch at a time. An
// engine must deliver the threads' batches in a reproducible order, for instance
// by running one thread at a time in turns of a fixed number of instructions.
//
// With Request.FreeThreads threads run at the same time. Each thread's batches are then
// in its program order, and the batches of several threads in the order in which they
// arrive: Batch.Start counts the instructions in the batches before it, and what another
// thread did meanwhile may stand before or behind.
package engine
