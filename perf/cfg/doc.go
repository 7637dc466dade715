// Package cfg turns an executable into the control-flow graphs of its routines,
// with dominators, loops and source lines, and places the counters that measure
// how often every block and edge is executed.
//
// After Marin and Mellor-Crummey, "Cross-Architecture Performance Predictions
// for Scientific Applications Using Parameterized Models" (SIGMETRICS 2004),
// sections 2.1, 2.2.1 and 2.3.1. It knows no instruction set: a decoder turns
// bytes into generic instructions.
//
// A routine such as
//
//	10: li   a0, 0          ┌───────────┐
//	14: beqz a1, 28         │ B0  10-14 │───────┐
//	18: add  a0, a0, a1     └─────┬─────┘       │ taken
//	1c: jal  f                    ▼ fall        │
//	20: addi a1, a1, -1     ┌───────────┐       │
//	24: bnez a1, 18      ┌─▶│ B1  18-1c │       │
//	28: ret              │  └─────┬─────┘       │
//	                     │        ▼ call        │
//	               taken │  ┌───────────┐       │
//	                     └──│ B2  20-24 │       │
//	                        └─────┬─────┘       │
//	                              ▼ fall        ▼
//	                            ┌───────────────────┐
//	                            │ B3  28-28 returns │
//	                            └───────────────────┘
//
// has a loop with the header B1, the body B1 and B2, and the back edge B2 → B1.
//
// A block ends at every transfer of control, including calls and system calls,
// and before every target of one. An edge from a call leads to its return site,
// if the call returns.
//
// Code is found by recursive descent from the entries of routines, so that data
// in code sections are not mistaken for instructions; bytes not reached are in
// Routine.Gaps. Not modelled: faulting instructions; self-modifying code.
package cfg
