// Package sched predicts how long code takes if every access hits in the first
// level of cache: in go control-flow graphs with execution frequencies, the
// dependences of instructions and the description of a core, out come cycles by
// path, loop, routine and program, and for each path what it is that limits it.
//
// After Marin and Mellor-Crummey, "Cross-Architecture Performance Predictions
// for Scientific Applications Using Parameterized Models" (SIGMETRICS 2004),
// sections 2.4 and 3.2: "Scheduler latency" in their Figures 7 and 8.
package sched
