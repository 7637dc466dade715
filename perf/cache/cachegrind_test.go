package cache

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/trace"
)

// event is a line of lackey's trace: I, L, S or M (a load and store of one
// datum), the address and the number of bytes.
type event struct {
	kind       byte
	addr, size uint64
}

func (e event) last() uint64 { return e.addr + e.size - 1 }

// TestCachegrind runs a program under valgrind's lackey for its addresses and
// under cachegrind for its misses, in several geometries. Our misses must be
// the same, of I1, D1 and LL.
//
// Cachegrind's LL sees the misses of instruction fetches too, in between: here
// they are floating-point loads, which pass by D1. It counts an access as one
// even if it lies in two lines; the program has no such data, and for
// instructions the test looks at both lines and counts a miss once.
func TestCachegrind(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	oracle.Need(t, "gcc")
	oracle.Need(t, "valgrind")
	program := filepath.Join(t.TempDir(), "walk")
	run(t, "gcc", "-O1", "-static", "-nostdlib", "-fno-stack-protector", "-fno-pie", "-no-pie", "-o", program, "testdata/walk.c")
	events := lackey(t, program)
	for _, tt := range []struct{ i1, d1, ll Level }{
		{line("I1", 64, 2, 32), line("D1", 128, 2, 32), line("LL", 512, 4, 64)},
		{line("I1", 2, 1, 32), line("D1", 256, 4, 64), line("LL", 1024, 8, 128)},
		{line("I1", 64, 4, 64), line("D1", 64, 1, 128), line("LL", 256, 2, 128)},
		{line("I1", 64, 4, 64), line("D1", 32, 32, 32), line("LL", 64, 64, 128)},
	} {
		t.Run(geometry(tt.d1)+" "+geometry(tt.ll), func(t *testing.T) {
			want := cachegrind(t, program, tt.i1, tt.d1, tt.ll)
			got := replay(t, events, tt.i1, tt.d1, tt.ll)
			for _, k := range []string{"I1mr", "ILmr", "D1mr", "D1mw", "DLmr", "DLmw"} {
				if got[k] != want[k] {
					t.Errorf("%s = %d, cachegrind has %d", k, got[k], want[k])
				}
			}
			t.Log(got)
			if want["D1mr"] < 1000 || want["DLmr"] < 100 {
				t.Errorf("too few misses to tell caches apart: %v", want)
			}
		})
	}
}

func line(name string, blocks uint64, ways int, bytes uint64) Level {
	return Level{Name: name, Blocks: blocks, BlockBytes: bytes, Ways: ways}
}

// geometry is the form in which cachegrind takes a cache.
func geometry(l Level) string {
	return fmt.Sprintf("%d,%d,%d", l.Blocks*l.BlockBytes, l.Ways, l.BlockBytes)
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// lackey returns the memory trace of program.
func lackey(t *testing.T, program string) []event {
	t.Helper()
	log := program + ".lackey"
	run(t, "valgrind", "--tool=lackey", "--trace-mem=yes", "--basic-counts=no", "--log-file="+log, program)
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var events []event
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		f := strings.Fields(s.Text())
		if len(f) != 2 || len(f[0]) != 1 || !strings.Contains("ILSM", f[0]) {
			continue
		}
		var e event
		if _, err := fmt.Sscanf(f[1], "%x,%d", &e.addr, &e.size); err != nil {
			t.Fatalf("lackey: %q: %v", s.Text(), err)
		}
		e.kind = f[0][0]
		if e.kind != 'I' && e.addr%e.size != 0 {
			t.Fatalf("lackey: %q is not aligned: cachegrind would count it differently", s.Text())
		}
		events = append(events, e)
	}
	return events
}

// cachegrind returns the totals of cachegrind's events.
func cachegrind(t *testing.T, program string, i1, d1, ll Level) map[string]uint64 {
	t.Helper()
	out := program + ".cachegrind"
	run(t, "valgrind", "--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file="+out,
		"--I1="+geometry(i1), "--D1="+geometry(d1), "--LL="+geometry(ll), program)
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	totals := make(map[string]uint64)
	for _, l := range strings.Split(string(text), "\n") {
		switch key, rest, _ := strings.Cut(l, ":"); key {
		case "desc":
			// cachegrind falls back to the host's caches in silence.
			for _, want := range []Level{d1, ll} {
				if f := strings.Fields(rest); f[0] == want.Name && f[2] != strconv.FormatUint(want.Blocks*want.BlockBytes, 10) {
					t.Fatalf("cachegrind simulates %s, want %s", l, geometry(want))
				}
			}
		case "events":
			names = strings.Fields(rest)
		case "summary":
			for i, f := range strings.Fields(rest) {
				n, err := strconv.ParseUint(f, 10, 64)
				if err != nil {
					t.Fatalf("cachegrind: %q: %v", l, err)
				}
				totals[names[i]] = n
			}
		}
	}
	if len(totals) == 0 {
		t.Fatalf("cachegrind printed no summary:\n%s", text)
	}
	return totals
}

// replay runs a trace through simulators of the instruction cache and of the
// data caches and counts misses by cachegrind's names.
func replay(t *testing.T, events []event, i1, d1, ll Level) map[string]uint64 {
	t.Helper()
	const load, store, fetch = 0, 1, 2
	plan := &trace.Plan{Refs: []trace.Ref{
		{PC: 1, Size: 1, Kind: trace.Load},
		{PC: 2, Size: 1, Kind: trace.Store},
		{PC: 3, Size: 1, Kind: trace.Load, Float: true},
	}}
	d1.BypassFloat = true
	ins, err := New(plan, Config{Levels: []Level{i1}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := New(plan, Config{Levels: []Level{d1, ll}})
	if err != nil {
		t.Fatal(err)
	}
	// missed makes the accesses and tells which levels missed.
	missed := func(s *Simulator, ref int, addrs ...uint64) (at [2]bool) {
		var before [2]uint64
		for i := range s.caches.levels {
			before[i] = s.caches.levels[i].counts[0].Misses
		}
		b := new(trace.Batch)
		for _, a := range addrs {
			b.Accesses = append(b.Accesses, accessOf(ref, a, 1))
		}
		s.Observe(b)
		for i := range s.caches.levels {
			at[i] = s.caches.levels[i].counts[0].Misses > before[i]
		}
		return at
	}
	n := make(map[string]uint64)
	count := func(name string, yes bool) {
		if yes {
			n[name]++
		}
	}
	for _, e := range events {
		switch e.kind {
		case 'I':
			if missed(ins, load, e.addr, e.last())[0] {
				n["I1mr"]++
				count("ILmr", missed(data, fetch, e.addr, e.last())[1])
			}
		case 'S':
			at := missed(data, store, e.addr)
			count("D1mw", at[0])
			count("DLmw", at[1])
		default: // cachegrind takes a modification for its load
			at := missed(data, load, e.addr)
			count("D1mr", at[0])
			count("DLmr", at[1])
		}
	}
	return n
}
