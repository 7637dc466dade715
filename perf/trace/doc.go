// Package trace is the contract between engines, which run a program, and
// collectors, which measure it: a Plan says what an engine shall record, a
// Batch holds what it recorded, in order, and a Sink takes full batches and
// gives back empty ones.
//
// An engine compiles the plan into its decoded code, so that a reference which
// is not planned costs nothing. A collector sees whole batches, never single
// events.
//
//	         Plan
//	           │
//	program ─ engine ── full ──▶ Sink ─ Collector, Collector, …
//	                 ◀─ empty ──
//
// Not modelled: memory that the operating system touches on the program's
// behalf (the buffers of read and write), and instruction fetches.
package trace
