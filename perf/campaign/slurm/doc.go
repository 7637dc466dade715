// Package slurm has the jobs of a campaign done by Slurm.
//
// Jobs are packed into tasks of some minutes, by the times that earlier ones took, and
// tasks are submitted as arrays by sbatch. Each task does its jobs one after the other
// and keeps a journal. Execute follows tasks by squeue, and asks sacct, or scontrol where
// accounting is off, how those ended that left jobs undone: these it submits again.
//
// All that is known of a campaign lies in its folder in the store, which the nodes share:
//
//	arrays/0001/plan.json     tasks of the array, and what they need
//	arrays/0001/task-0.jsonl  jobs of a task
//	arrays/0001/slurm         Slurm's ID of the array
//	arrays/0001/out-0         what the task printed
//	journal/a0001-t0.jsonl    jobs that the task began and ended
//
// so that Execute goes on where a process stopped that died. Nothing is locked: folders
// of arrays are claimed by mkdir, which is atomic over NFS, and files are renamed into
// their places. Processes that follow one campaign at once do no harm.
//
// Forecast simulates a campaign before it is submitted, with the same packing of jobs
// into tasks. On a thousand nodes of 64 cores, a million jobs of half a minute take 8
// hours by the defaults of Config, since no more than a thousand tasks are submitted at a
// time, each of ten minutes; with 64,000 tasks of two minutes they take 25 minutes (tasks
// that begin after 2 s, 100 started in a second, 20,000 operations on files in a second).
package slurm
