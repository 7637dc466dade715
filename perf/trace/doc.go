// Package trace is the contract between engines, which run a program, and
// collectors, which measure it: a Plan specifies what an engine records, a Batch
// holds events in order, and a Sink takes full batches and returns empty ones.
//
// An engine compiles the plan into its decoded code, so an unplanned reference
// costs nothing. A collector sees whole batches, never single events.
//
//	         Plan
//	           │
//	program ─ engine ── full ──▶ Sink ─ Collector, Collector, …
//	                 ◀─ empty ──
//
// Not modelled: memory that the operating system touches on the program's
// behalf (the buffers of read and write), and instruction fetches.
package trace
