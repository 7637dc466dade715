package kernels

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"presage/perf/host/measure"
	"presage/perf/store"
)

// A checkpoint is a text file: the key of the timing, then the time of each run in
// seconds, a line each, in the order in which runs are made.

// key identifies a timing: host, executables, points and arguments. Rounds of
// timings with different keys do not mix.
func (t *timer) key() string {
	h := sha256.New()
	fmt.Fprintln(h, measure.Host(), t.out.Built)
	for _, c := range t.commands {
		fmt.Fprintln(h, c.build, c.point, c.command.Args)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// resume reads the finished rounds of an interrupted timing, if there are any.
func (t *timer) resume() error {
	if t.opt.Checkpoint == "" {
		return nil
	}
	text, err := os.ReadFile(t.opt.Checkpoint)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("perf: time kernels: %w", err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if lines[0] != t.key() {
		return fmt.Errorf("perf: time kernels: %s is of other programs, sizes or another machine: remove it", t.opt.Checkpoint)
	}
	for i, line := range lines[1:] {
		seconds, err := strconv.ParseFloat(line, 64)
		if err != nil {
			return fmt.Errorf("perf: time kernels: %s:%d: %w", t.opt.Checkpoint, i+2, err)
		}
		t.add(i, seconds)
	}
	runs := len(t.out.Runs)
	if runs%len(t.commands) != 0 || runs > t.opt.Rounds*len(t.commands) {
		return fmt.Errorf("perf: time kernels: %s: %d runs are no whole rounds of %d: remove it", t.opt.Checkpoint, runs, len(t.commands))
	}
	t.done = runs / len(t.commands)
	return nil
}

// save writes the finished rounds.
func (t *timer) save() error {
	if t.opt.Checkpoint == "" {
		return nil
	}
	var b strings.Builder
	fmt.Fprintln(&b, t.key())
	for _, r := range t.out.Runs {
		fmt.Fprintln(&b, strconv.FormatFloat(r.Seconds, 'g', -1, 64))
	}
	return store.WriteFile(t.opt.Checkpoint, []byte(b.String()))
}

// forget removes the checkpoint of a timing that has ended.
func (t *timer) forget() error {
	if t.opt.Checkpoint == "" {
		return nil
	}
	if err := os.Remove(t.opt.Checkpoint); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("perf: time kernels: %w", err)
	}
	return nil
}
