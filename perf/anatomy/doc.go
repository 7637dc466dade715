// Package anatomy describes a program: its routines, loops, memory references and
// mix of instructions, how often each block and edge is executed, and drawings of
// its control flow.
package anatomy
