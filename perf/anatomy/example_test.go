package anatomy_test

import (
	"context"
	"fmt"
	"os"

	"presage/perf/anatomy"
	"presage/perf/store"
	"presage/perf/subject"
)

// On its way down a heap a sort takes steps that no formula has: those that it took
// most often stand in the table, in bytes, with their share.
func ExampleObserveStrides() {
	if err := heap(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 14: store, 16 (observed: at least 0.11 of steps), observed in the run of n=1000, not derived
}

func heap() error {
	dir, err := os.MkdirTemp("", "presage")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	prog, err := subject.Open("../../datasets/quickstart/heapsort")
	if err != nil {
		return err
	}
	opt := subject.RunOptions{Args: "{n}", Store: store.Open(dir)}
	counts, err := anatomy.Count(context.Background(), prog, subject.Point{"n": 1000}, opt)
	if err != nil {
		return err
	}
	observed, err := anatomy.ObserveStrides(context.Background(), counts, opt)
	if err != nil {
		return err
	}
	rows, err := anatomy.References(prog, anatomy.ReferenceOptions{Routine: "sift", Counts: counts, Observed: observed})
	for _, r := range rows {
		if r.Loop != "sift" && r.Kind == "store" && r.Irregular {
			fmt.Printf("%d: %s, %s, %s\n", r.Line, r.Kind, r.Strides, r.StridesFrom)
		}
	}
	return err
}
