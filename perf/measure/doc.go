// Package measure times native runs of programs on this machine.
package measure
