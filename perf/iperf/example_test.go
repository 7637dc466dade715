package iperf_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"presage/machines"
	"presage/perf/fit"
	"presage/perf/iperf"
)

// Times that grow with n², and that a physically indexed L2 makes peak where
// rows meet in its sets.
func ExampleSearch() {
	kernel, err := iperf.FindKernel("increment-ij")
	if err != nil {
		log.Fatal(err)
	}
	system, err := iperf.FindSystem("ultrasparc-1", machines.Files)
	if err != nil {
		log.Fatal(err)
	}
	var times []iperf.Measurement
	for n := 8.0; n <= 800; n += 8 {
		seconds := 2e-7 * n * n
		if n == 512 || n == 640 || n == 768 {
			seconds += 1e-7 * n * n
		}
		times = append(times, iperf.Measurement{Point: fit.Point{"n": n}, Time: seconds})
	}
	request := iperf.Request{AbsErr: 0.005, Share: 0.95, Criterion: iperf.Cheapest}
	answer, err := iperf.Search(context.Background(), times, kernel, system, iperf.DefaultDatabase(), request, iperf.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(request)
	fmt.Println("best:", answer.Model.Name())
	for _, s := range answer.Lattice.Sensitivities(answer.Model, times, request) {
		fmt.Printf("%s: %.0f%% of the time\n", s.Model.Name, math.Abs(100*s.TimeShare))
	}
	fmt.Println("pruned:", answer.Lattice.Pruned[2])
	// Output:
	// Prob(AE <= 0.005 s) >= 95%, cheapest
	// best: CPU+L2b
	// CPU: 90% of the time
	// L2b: 10% of the time
	// pruned: model L1b: it describes a blocking L1: L1_nonblocking == 0 does not hold (L1_nonblocking = 1)
}
