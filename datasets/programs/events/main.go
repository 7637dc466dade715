// Events simulates a network of waiting lines by discrete events: jobs go from
// station to station, wait there in order of arrival, and are served for random
// times. It is our own writing of what textbooks call next-event simulation with
// an event list, made to be profiled. All times are integers, so that every
// machine does the same.
//
//	simulate             takes the next event from the heap
//	  ├─ depart          a service ends: the job goes elsewhere, the next begins
//	  ├─ arrive          a job comes to a station: served, or waits
//	  └─ schedule, next  the heap of events
//
// Networks: ring (each station leads to the next), star (all lead to the first
// and from there anywhere), random (anywhere).
//
// # What is checked
//
// Jobs are neither lost nor made; times never go back; and, at every station, the
// number of jobs added up over time is the sum of the times that they stayed
// (Little's law, exactly). The last line of output is "verification: successful",
// or "verification: FAILED" with the reason and exit status 1.
package main

import (
	"fmt"
	"io"
	"os"

	"presage/datasets/programs/internal/program"
)

func main() {
	program.Begin() // all memory is allocated once
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments. It returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	var quiet bool
	flags := program.NewLoudFlags("events", stderr, &quiet, "print the verdict only")
	n := flags.Int("n", 200000, "events, 1 to 1000000000")
	stations := flags.Int("stations", 64, "stations, 1 to 1000000")
	jobs := flags.Int("jobs", 256, "jobs, 1 to 1000000")
	network := flags.String("network", "random", "ring, star or random")
	err := flags.Parse(args)
	switch {
	case err == nil && (*n < 1 || *n > 1e9 || *stations < 1 || *stations > 1e6 || *jobs < 1 || *jobs > 1e6 || flags.NArg() > 0):
		err = program.ErrFlags
	case err == nil && *network != "ring" && *network != "star" && *network != "random":
		err = fmt.Errorf("there is no network %q; use ring, star or random", *network)
	}
	if err != nil {
		return program.Refuse(stderr, "events", err)
	}
	s := newSimulation(*stations, *jobs, *network)
	s.simulate(*n)
	if !quiet {
		s.report(stdout)
	}
	return program.Conclude(stdout, s.verify())
}
