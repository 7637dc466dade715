//go:build unix

package rv64

import (
	"context"
	"testing"
	"time"

	"presage/perf/engine"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// BenchmarkFastForward runs the integer sort untraced, and with everything
// planned but recorded only in windows: the last hundredth of the run, and a
// hundred windows of a ten-thousandth each. x-untraced is the slowdown against
// the untraced run of the same iteration, recording included.
func BenchmarkFastForward(b *testing.B) {
	f, err := objfile.Open(program{name: "isort", tool: "go", args: []string{"build"}, after: []string{"./testdata/isort"}}.build(b))
	if err != nil {
		b.Fatal(err)
	}
	plan := planAll(f)
	run := func(b *testing.B, opt options) (*result, time.Duration) {
		if opt.Windows != nil {
			opt.Plan, opt.Sink = plan, trace.NewDirect(new(drain))
		}
		start := processorTime(b)
		r, err := run(context.Background(), f, opt)
		if err != nil {
			b.Fatal(err)
		}
		return r, processorTime(b) - start
	}
	whole, _ := run(b, options{})
	end := whole.Instructions
	var many []trace.Window
	for i := range uint64(100) {
		many = append(many, trace.Window{From: end / 100 * i, To: end/100*i + end/10_000})
	}
	for name, windows := range map[string][]trace.Window{"windows=1": {{From: end / 100 * 99, To: end}}, "windows=100": many} {
		b.Run(name, func(b *testing.B) {
			var untraced, windowed time.Duration
			for b.Loop() {
				_, t := run(b, options{})
				untraced += t
				r, t := run(b, options{Request: engine.Request{Windows: windows}})
				windowed += t
				if len(r.Windows) != len(windows) {
					b.Fatalf("%d windows of %d", len(r.Windows), len(windows))
				}
			}
			b.ReportMetric(windowed.Seconds()/untraced.Seconds(), "x-untraced")
		})
	}
}
