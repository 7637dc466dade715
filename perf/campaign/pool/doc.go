// Package pool has the jobs of a campaign done by processes on this machine, or by such
// as another command starts elsewhere.
//
// Each process does one job at a time, and further ones after it. Jobs begin in their
// order as soon as a host has the cores and the memory free that they need. When fewer
// jobs are left than a host has cores, they share its cores. A process that dies is
// replaced, and its job begun again, with twice the memory reserved.
package pool
