package notebook

import (
	"fmt"
	"html"

	"github.com/janpfeifer/gonb/gonbui"

	"presage/perf"
	"presage/perf/progress"
)

// Run returns the options of runs with the given arguments, a template such as
// "-n {n} -iterations 2", that report their progress; see Progress.
func Run(args string) perf.RunOptions { return perf.RunOptions{Args: args, Progress: Progress()} }

// Progress returns a function that keeps a line below the cell which says how far
// long work is. Results found in the store show no line, and work that ends erases
// its own, so that a notebook looks the same whatever the store held; if work
// fails, the line remains and names the step.
func Progress() progress.Func {
	id := gonbui.UniqueId()
	shown := ""
	return func(r progress.Report) {
		line := progressLine(r)
		if line == shown {
			return
		}
		shown = line
		gonbui.UpdateHTML(id, line)
		if line == "" {
			sync()
		}
	}
}

// progressLine returns what to say about a step: nothing if its result was stored,
// nor when no step is left.
func progressLine(r progress.Report) string {
	if r.Stored || r.Finished() {
		return ""
	}
	line := html.EscapeString(r.Task)
	if r.Total > 0 {
		line = fmt.Sprintf("%d of %d: %s", r.Done+1, r.Total, line)
	}
	if r.Share > 0 {
		line += fmt.Sprintf(", %d%%", int(100*r.Share))
	}
	if r.Instructions > 0 {
		line += fmt.Sprintf(", %d million instructions", r.Instructions/1e6)
	}
	return line
}
