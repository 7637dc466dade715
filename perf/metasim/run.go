package metasim

import (
	"context"
	"fmt"

	"presage/perf/engine"
	"presage/perf/trace"
)

// record runs the program under a request, feeding the collectors. A program
// that fails by itself gives an error. The warnings list what was executed but not
// recorded or not emulated.
func record(ctx context.Context, run engine.Runner, r engine.Request, collectors ...trace.Collector) (*engine.Outcome, []error, error) {
	sink := trace.NewPipeline(collectors...)
	r.Sink = sink
	out, err := run(ctx, r)
	if closed := sink.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = out.Err()
	}
	if err != nil {
		return nil, nil, err
	}
	var warnings []error
	if len(r.Plan.Refs) > 0 && out.UnplannedRefs > 0 {
		warnings = append(warnings, fmt.Errorf("metasim: %d memory references that the plan does not have were executed and not recorded", out.UnplannedRefs))
	}
	if text := out.Unrecorded(); text != "" {
		warnings = append(warnings, fmt.Errorf("metasim: %s", text))
	}
	for _, s := range out.UnknownSyscalls {
		warnings = append(warnings, fmt.Errorf("metasim: %v", s))
	}
	return out, warnings, nil
}
