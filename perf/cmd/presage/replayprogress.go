package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"presage/perf/progress"
)

// betweenLines is the time between two lines about the same task where there is no
// terminal.
const betweenLines = 10 * time.Second

// replayProgress returns a callback that says which loops are being learned or replayed,
// and how far that is: on a terminal in one line that is erased in the end, otherwise in
// a line when a task begins and every ten seconds.
func replayProgress(w io.Writer, terminal bool) progress.Func {
	if terminal {
		return replayLine(w)
	}
	shown := ""
	var last time.Time
	return func(p progress.Report) {
		if p.Finished() || p.Task == shown && time.Since(last) < betweenLines {
			return
		}
		shown, last = p.Task, time.Now()
		fmt.Fprintln(w, replayText(p))
	}
}

// replayText says what is done and how far it is: of steps whose number is known, all
// together.
func replayText(p progress.Report) string {
	share := p.Share
	if p.Total > 0 {
		share = (float64(p.Done) + p.Share) / float64(p.Total)
	}
	return fmt.Sprintf("%s: %.0f%% …", p.Task, 100*share)
}

// replayLine keeps one line of a terminal up to date.
func replayLine(w io.Writer) progress.Func {
	shown := ""
	return func(p progress.Report) {
		text := ""
		if !p.Finished() {
			text = replayText(p)
		}
		if text == shown {
			return
		}
		blank := strings.Repeat(" ", max(0, len([]rune(shown))-len([]rune(text))))
		shown = text
		fmt.Fprintf(w, "\r%s%s", text, blank)
		if text == "" {
			fmt.Fprint(w, "\r")
		}
	}
}
