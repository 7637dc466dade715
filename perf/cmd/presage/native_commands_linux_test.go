//go:build amd64

package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/cpu"

	"presage/perf/internal/oracle"
)

// relaxation is testdata/relax.c, executed with flags, and what is known of it.
type relaxation struct {
	path, args string // args has {n}
	flags      []string
	confined   bool
	granted    bool // the folder of FILE
	cpu        bool // chosen
}

const (
	relaxedTo = 120 // the size that is looked at
	trainedTo = 84  // the largest that is profiled
	trainedAt = "n=36:84:8"
)

// relaxations builds the program, and returns it as by default, confined and on another
// processor.
func relaxations(t *testing.T) []relaxation {
	t.Helper()
	dir := t.TempDir()
	path, file := filepath.Join(dir, "relax"), filepath.Join(dir, "file")
	if text, err := exec.Command(oracle.Need(t, "gcc"), "-g", "-O1", "-static", "-nostdlib", "-fno-stack-protector", "-o", path, "testdata/relax.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, status := runStatus(t.Context(), nil, "run", path, "9", file); status != 0 && strings.Contains(stderr, "ptrace") {
		t.Skip(stderr)
	}
	all := []relaxation{{}, {flags: []string{"--engine", "native", "--cpu", "x86-64-v2"}, cpu: true}}
	if _, stderr, status := runStatus(t.Context(), nil, "run", "--engine", "confined", path, "9", file); status == 0 {
		all = append(all,
			relaxation{flags: []string{"--engine", "confined"}, confined: true},
			relaxation{flags: []string{"--engine", "confined", "--dir", dir + "=" + dir + ":dev"}, confined: true, granted: true},
			relaxation{flags: []string{"--engine=confined", "--cpu=x86-64-v2"}, cpu: true, confined: true})
	} else if !strings.Contains(stderr, "cannot confine") {
		t.Errorf("confined: %s", stderr)
	}
	for i := range all {
		all[i].path, all[i].args = path, "{n} "+file
	}
	return all
}

// accesses returns how many the program makes, but for some at its start.
func (r *relaxation) accesses(n float64) float64 {
	times := 1.0
	if cpu.X86.HasAVX2 && !r.cpu {
		times++
	}
	if !r.confined || r.granted {
		times++
	}
	return n*n + 5*(n-2)*(n-2)*times
}

// lines returns how many blocks of 64 bytes it accesses, each a miss in a cache that
// holds all of them.
func (r *relaxation) lines(n float64) float64 { return (n*n + n*(n-2)) / 8 }

// at returns the arguments at n.
func (r *relaxation) at(n int) string { return strings.ReplaceAll(r.args, "{n}", fmt.Sprint(n)) }

// ran returns what presage run says of the program at n.
func (r *relaxation) ran(t *testing.T, n int) map[string]float64 {
	t.Helper()
	words := append([]string{"run", "--trace", "--stats"}, append(r.flags, r.path)...)
	_, stderr, status := runStatus(t.Context(), nil, append(words, strings.Fields(r.at(n))...)...)
	if status != 0 {
		t.Fatal(stderr)
	}
	facts := make(map[string]float64)
	for field := range strings.FieldsSeq(stderr) {
		if name, value, ok := strings.Cut(field, "="); ok && name != "traced" {
			facts[name] = number(t, value)
		}
	}
	return facts
}

// executed is a command that executes the program, or asks what is known of it, and the
// bounds of the sum of a column of its table, in rows that have some values.
type executed struct {
	command     string
	rows        map[string]string
	column      string
	least, most float64
}

// about returns a value's bounds at a relative distance.
func about(value, distance float64) [2]float64 {
	return [2]float64{value * (1 - distance), value * (1 + distance)}
}

// commands returns the commands that execute the program, and what their tables must say
// if presage run counts so many instructions and accesses at relaxedTo and trainedTo.
func (r *relaxation) commands(ran, trained map[string]float64) []executed {
	lines := about(r.lines(relaxedTo), 0.01)
	hits := about(1-r.lines(relaxedTo)/ran["references"], 0.001)
	program := map[string]string{"level": "L2", "of": "program"}
	same := func(value float64) [2]float64 { return about(value, 0) }
	list := []executed{}
	add := func(command string, rows map[string]string, column string, bounds [2]float64) {
		list = append(list, executed{command, rows, column, bounds[0], bounds[1]})
	}
	add("profile --sweep "+trainedAt+" --machine zen4,golden-cove --output PROFILES", map[string]string{"n": fmt.Sprint(trainedTo)}, "accesses", same(trained["references"]))
	add("simulate --machine zen4 --by program", map[string]string{"level": "L1"}, "sim_accesses", same(ran["references"]))
	add("simulate --machine zen4 --by program", map[string]string{"level": "L2"}, "sim_misses", lines)
	add("simulate --machine zen4 --by program --time", nil, "sim_instructions", same(ran["instructions"]))
	add("explain --machine zen4", map[string]string{"level": "L1"}, "sim_accesses", same(ran["references"]))
	add("analyze --run --table mix", nil, "executed_instructions", same(ran["instructions"]))
	add("simpoint --interval 10000 --table timeline", nil, "interval_instructions", same(ran["instructions"]))
	add("metasim --interval 10000 --machine zen4 --full", map[string]string{"level": "L2", "sampling": "full"}, "sim_hit_ratio", hits)
	add("metasim --interval 10000 --machine zen4 --full", map[string]string{"level": "L2", "sampling": "simpoint"}, "sim_hit_ratio", about(hits[0], 0.02)) // later sweeps execute what the first does, and miss less
	add("validate --train "+trainedAt+" --at n=120 --machine zen4", program, "sim_misses", lines)
	add("validate --train "+trainedAt+" --at n=120 --machine zen4", program, "pred_misses", lines)
	return list
}

// stored returns the commands that take the program's profiles, which execute it again.
func (r *relaxation) stored(ran map[string]float64) []executed {
	lines, all := about(r.lines(relaxedTo), 0.01), about(ran["instructions"], 0.001)
	misses := map[string]string{"level": "L2"}
	list := []executed{
		{"query --at n=120 --machine zen4 --level L2", misses, "pred_misses", lines[0], lines[1]},
		{"predict --at n=120 --machine zen4", misses, "pred_misses", lines[0], lines[1]},
	}
	for _, machine := range []string{"zen4", "golden-cove"} {
		command := "time --at n=120 --machine " + machine
		// Both finish six instructions in a cycle at most, and wait less than four
		// cycles for an instruction where a twentieth misses.
		list = append(list, executed{command, nil, "pred_instructions", all[0], all[1]}, executed{command, nil, "pred_cpi", 1 / 6., 4})
	}
	return list
}

// TestNativeCommands holds the commands against presage run, and against what follows
// from the program's text, as programs are executed by default, and confined on another
// processor, or with a folder: none of that may be lost on the way to other processes, to stored results, and
// to the runs that predictions make.
func TestNativeCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; package subject has tests of choices of engines")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	for _, r := range relaxations(t) {
		t.Run(strings.Join(r.flags, " "), func(t *testing.T) {
			ran := r.ran(t, relaxedTo)
			if want := r.accesses(relaxedTo); math.Abs(ran["references"]-want) > 0.001*want {
				t.Fatalf("%v accesses, want %v", ran["references"], want)
			}
			profiles := filepath.Join(t.TempDir(), "profiles")
			for _, c := range r.commands(ran, r.ran(t, trainedTo)) {
				if r.cpu == r.confined || strings.HasPrefix(c.command, "simulate") {
					c.check(t, r.words(c.command, profiles))
				}
			}
			if r.cpu != r.confined {
				return // what is made of profiles has been seen
			}
			for _, c := range r.stored(ran) {
				words := strings.Fields(c.command)
				c.check(t, append([]string{words[0], profiles}, words[1:]...))
			}
		})
	}
}

// words returns the arguments of presage for a command of the program, which may keep
// profiles in a folder.
func (r *relaxation) words(command, profiles string) []string {
	args := r.at(relaxedTo)
	if strings.Contains(command, trainedAt) {
		args = r.args
	}
	words := strings.Fields(strings.ReplaceAll(command, "PROFILES", profiles))
	return append([]string{words[0], r.path, "--args", args, "-q"}, append(words[1:], r.flags...)...)
}

// check executes a command and sums up the column.
func (c *executed) check(t *testing.T, words []string) {
	t.Helper()
	sum, found := 0.0, false
	for _, row := range records(t, must(t, append(words, "--format", "csv")...)) {
		chosen := true
		for name, value := range c.rows {
			chosen = chosen && row[name] == value
		}
		if chosen {
			sum, found = sum+number(t, row[c.column]), true
		}
	}
	if !found || sum < c.least || sum > c.most {
		t.Errorf("presage %s: %s of %v is %v, want %v to %v", c.command, c.column, c.rows, sum, c.least, c.most)
	}
}

// TestChoicesOfEngines: an engine or a processor that a program cannot have is an error
// that names the flag, and what there is.
func TestChoicesOfEngines(t *testing.T) {
	for _, c := range []struct{ program, flag, value, want string }{
		{guestFolder, "--engine", "native", `--engine "native": want auto, interp or jit, as the program is for riscv64`},
		{guestFolder, "--cpu", "x86-64-v3", `--cpu "x86-64-v3": the engine rv64@`},
		{"/usr/bin/true", "--engine", "jit", `--engine "jit": want auto or confined, as the program is for amd64`},
		{"/usr/bin/true", "--cpu", "486", `--cpu "486": want x86-64-v2, x86-64-v3 or x86-64-v4`},
	} {
		for _, command := range []string{"run", "simulate --machine zen4 --args x", "profile --sweep n=1 --args x{n} -o " + filepath.Join(t.TempDir(), "unwritten")} {
			words := append(strings.Fields(command), c.flag, c.value, c.program)
			if _, stderr, status := runStatus(t.Context(), nil, words...); status == 0 || !strings.Contains(stderr, c.want) {
				t.Errorf("%v: status %d, %swant %s", words, status, stderr, c.want)
			}
		}
	}
	all := must(t, "__complete", "metasim", "--engine", "") + must(t, "__complete", "run", "--cpu", "")
	if want := "auto\ninterp\njit\nconfined\n:4\nx86-64-v2\nx86-64-v3\nx86-64-v4\n:4\n"; all != want {
		t.Errorf("completions are %q, want %q", all, want)
	}
}
