// Package engine is the contract between what runs programs and what wants
// them run: an executable and a Request go into an Engine, batches of events
// go to the Request's trace.Sink, and an Outcome comes back.
//
//	objfile.File ─┐
//	Request ──────┴─▶ Engine ─▶ Outcome
//	 Plan, Windows       │
//	                     └─ batches ─▶ Request.Sink ─▶ collectors
//
// Nothing above this package knows which engine runs; package engines chooses
// one for an executable. What not every engine can do stands in Capabilities,
// and in interfaces that an Engine may implement besides: Snapshotter,
// Discoverer, Moded. An engine refuses a Request that asks for more than it can
// do with an error that is errors.ErrUnsupported; it never ignores a part of it.
//
// # Runs repeat
//
// The same executable, input (Args, Env, Stdin, Grants and the files in them,
// Memory, Seed) and Identity give the same events: addresses, the order of the
// threads' batches, counts. What is recorded does not change what happens.
//
// # Code that is found by running
//
// A plan names the references and blocks to record, and static analysis of a
// whole executable yields it. Where code is loaded or reached in ways that no
// analysis sees (shared libraries, computed jumps in stripped code), a
// Discoverer runs the program once, untraced, and returns the plan of what was
// executed; since runs repeat, the next run executes nothing else. So a plan is
// complete and fixed before the first batch: RefIDs follow the order of
// addresses and not of events, collectors allocate once, and the plan's digest
// is known when a store is asked for the results. The price is an untraced run,
// whose result can be stored under the inputs alone.
//
// # Addresses
//
// An Access holds 40 bits of address. An engine whose programs use more maps
// modules, heap, stacks and mappings with trace.Regions. A trace.PC is 64 bits
// wide, but the address of code in a shared library is no more stable than that
// of data: such an engine reports the synthetic base of each module
// (Discovery.Modules), and PCs count from it.
//
// # Threads
//
// A Batch holds events of one thread, and a Sink sees one batch at a time. An
// engine that runs threads side by side has to put their batches into an order
// that repeats; running one at a time, in turns of a fixed number of
// instructions, does.
package engine
