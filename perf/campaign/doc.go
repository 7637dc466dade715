// Package campaign has many independent jobs done: by a pool of processes on this
// machine (package pool), on hosts that ssh reaches (package ssh), or by Slurm
// (package slurm).
//
// A Job names its kind of work and describes what is computed of which inputs. Its
// results are entries of a store, under keys that depend on these inputs alone. So a
// job is done once its entries are there, whoever put them there: nothing is locked,
// a job that two workers do gives the same entry twice, and a campaign that is
// repeated does what is still missing.
//
//	users: locality, misses, timing, anatomy, …
//	   │ Map(tasks)
//	   ▼
//	Runner ── jobs whose results are missing ──▶ Executor ──▶ Serve, in other processes
//	   │                                                          │ entries
//	   └── collects: each task's own function, which finds ◀──── store
//
// Without a Runner, Map calls the tasks' own functions one after the other, here:
// campaigns change where work is done, and no result.
//
// A campaign leaves a folder in the store, campaigns/ID: its jobs, a journal of those
// that ended, and a log of each that failed. The ID follows from the jobs.
package campaign
