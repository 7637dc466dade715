package rv64

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/engine"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// resumable is a program with the options of its runs.
type resumable struct {
	program
	opt    func() options // called for each run
	points int
}

// waitProgram waits in many ways and reads files.
func waitProgram() program {
	return program{
		name: "wait", tool: "riscv64-linux-gnu-gcc", args: []string{"-static", "-O2", "-pthread"},
		after: []string{"testdata/c/wait.c"},
	}
}

func waitOptions(t testing.TB) func() options {
	in := t.TempDir()
	for name, text := range map[string]string{"numbers.txt": "3\n14\n15\n92\n65\n35\n89\n", "letters.txt": "abcdefghijklmnop", "other": ""} {
		if err := os.WriteFile(filepath.Join(in, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return func() options {
		return options{Request: engine.Request{Args: []string{"-x"}, Env: []string{"LANG=C"}, Seed: 42, Stdin: strings.NewReader(strings.Repeat("a line of input\nand more\n", 400)), Grants: []engine.Grant{{Guest: "/in", Host: in}, {Guest: "/out", Host: t.TempDir(), Write: true}}}}
	}
}

// through writes a snapshot out and reads it back.
func through(t testing.TB, s *Snapshot) *Snapshot {
	t.Helper()
	var b bytes.Buffer
	n, err := s.WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		t.Fatalf("WriteTo: %d of %d bytes, %v", n, b.Len(), err)
	}
	back, err := readSnapshot(&b)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// TestSnapshots takes snapshots throughout a run and compares the resumed runs
// with the uninterrupted one: trace, output, files, counts, clock.
func TestSnapshots(t *testing.T) {
	text := func(argv ...string) func() options {
		return func() options {
			return options{Request: engine.Request{Args: argv, Stdin: strings.NewReader("one two three two\nfour\n")}}
		}
	}
	for _, p := range []resumable{
		{programNamed(t, "go"), text("a", "b c"), 3},
		{programNamed(t, "c-O3-rv64gc"), text("x"), 10},
		{waitProgram(), waitOptions(t), 40},
	} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			f, err := objfile.Open(p.build(t))
			if err != nil {
				t.Fatal(err)
			}
			testSnapshots(t, f, p)
		})
	}
}

// TestSnapshotsOfRandom compares resumed with uninterrupted runs of random programs
// that end by writing out every register and the floating-point state.
func TestSnapshotsOfRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for seed := range uint64(3) {
		testSnapshots(t, readFile(t, randomImage(200+seed, 2000)), resumable{opt: func() options { return options{} }, points: 15})
	}
}

func testSnapshots(t *testing.T, f *objfile.File, p resumable) {
	plan := planAll(f)
	keep := make(map[trace.PC]bool)
	for _, r := range plan.Refs {
		keep[r.PC] = true
	}
	whole, want, err := runGuest(t, f, p.opt())
	if err != nil {
		t.Fatal(err)
	}
	opt := p.opt()
	for i := range p.points {
		opt.SnapshotAt = append(opt.SnapshotAt, want.Instructions*uint64(i)/uint64(p.points))
	}
	var out bytes.Buffer
	var taken []*Snapshot
	var written []int
	var logs [][]byte
	opt.Snapshot = func(s engine.Snapshot) error {
		taken, written = append(taken, through(t, s.(*Snapshot))), append(written, out.Len())
		logs = append(logs, logOf(opt))
		return nil
	}
	opt.Stdout = &out
	r, err := run(t.Context(), f, opt)
	if err != nil || out.String() != whole || r.Instructions != want.Instructions || r.Clock != want.Clock {
		t.Fatalf("snapshots disturb the run: %d instructions, undisturbed %d (%v)\n%s", r.Instructions, want.Instructions, err, out.String())
	}
	if len(taken) != p.points {
		t.Fatalf("%d snapshots, asked for %d", len(taken), p.points)
	}
	full := logOf(opt)
	for i, s := range taken {
		tail := newHashSink(plan, keep)
		opt := p.opt()
		opt.Plan, opt.Sink, opt.Windows = plan, tail, []trace.Window{{From: s.Instructions(), To: math.MaxUint64}}
		if s.Instructions() == 0 {
			opt.Windows = nil
		}
		_, windowed, err := runGuest(t, f, opt)
		if err != nil {
			t.Fatal(err)
		}
		resumed := newHashSink(plan, keep)
		opt = p.opt()
		opt.Plan, opt.Sink, opt.Resume = plan, resumed, s
		if len(opt.Grants) > 1 && logs[i] != nil {
			if err := os.WriteFile(filepath.Join(opt.Grants[1].Host, "log.txt"), logs[i], 0o644); err != nil {
				t.Fatal(err)
			}
		}
		rest, r, err := runGuest(t, f, opt)
		if err != nil {
			t.Fatalf("from %d: %v", s.Instructions(), err)
		}
		if rest != whole[written[i]:] {
			t.Errorf("from %d: output\n%s\nwant\n%s", s.Instructions(), rest, whole[written[i]:])
		}
		if resumed.n != tail.n || resumed.sum != tail.sum {
			t.Errorf("from %d: %d accesses differ from the %d of the whole run's rest", s.Instructions(), resumed.n, tail.n)
		}
		if r.Instructions != want.Instructions || r.Clock != want.Clock || r.ExitCode != want.ExitCode || r.Threads != want.Threads ||
			r.MemoryPeak != want.MemoryPeak || r.UnplannedRefs != windowed.UnplannedRefs || len(r.UnknownSyscalls) != len(want.UnknownSyscalls) {
			t.Errorf("from %d: result %+v, whole run %+v", s.Instructions(), r, want)
		}
		if got := logOf(opt); !bytes.Equal(got, full) {
			t.Errorf("from %d: the file written is\n%s\nwant\n%s", s.Instructions(), got, full)
		}
	}
}

// logOf returns what the program has written to its log, if it has one.
func logOf(opt options) []byte {
	if len(opt.Grants) < 2 {
		return nil
	}
	data, _ := os.ReadFile(filepath.Join(opt.Grants[1].Host, "log.txt")) // may not exist yet
	return data
}

// snapshotOf takes a snapshot of a program.
func snapshotOf(t testing.TB, f *objfile.File, opt options, at uint64) *Snapshot {
	t.Helper()
	var taken *Snapshot
	stop := errors.New("seen enough")
	opt.SnapshotAt = []uint64{at}
	opt.Snapshot = func(s engine.Snapshot) error {
		taken = s.(*Snapshot)
		return stop
	}
	if _, _, err := runGuest(t, f, opt); !errors.Is(err, stop) {
		t.Fatalf("error %v, want the one that Snapshot returned", err)
	}
	return taken
}

func TestSnapshotRefused(t *testing.T) {
	f, err := objfile.Open(waitProgram().build(t))
	if err != nil {
		t.Fatal(err)
	}
	fresh := waitOptions(t)
	s := snapshotOf(t, f, fresh(), 200_000)
	other := *f
	other.SHA256 = strings.Repeat("0", 64)
	for want, change := range map[string]func(*options) *objfile.File{
		"another executable": func(*options) *objfile.File { return &other },
		"with arguments":     func(o *options) *objfile.File { o.Args = []string{"-y"}; return f },
		"with environment":   func(o *options) *objfile.File { o.Env = nil; return f },
		"with Memory":        func(o *options) *objfile.File { o.Memory = 1 << 30; return f },
		"with grants":        func(o *options) *objfile.File { o.Grants[1].Write = false; return f },
		"MemoryLimit":        func(o *options) *objfile.File { o.MemoryLimit = 1 << 20; return f },
		"no such file":       func(o *options) *objfile.File { o.Grants[0].Host = t.TempDir(); return f },
		"has changed": func(o *options) *objfile.File {
			o.Grants[0].Host = t.TempDir()
			for _, name := range []string{"numbers.txt", "letters.txt"} {
				if err := os.WriteFile(filepath.Join(o.Grants[0].Host, name), []byte("x"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			return f
		},
		"standard input ends": func(o *options) *objfile.File { o.Stdin = strings.NewReader("a"); return f },
	} {
		opt := fresh()
		opt.Resume = s
		// The log was there when the snapshot was taken.
		if err := os.WriteFile(filepath.Join(opt.Grants[1].Host, "log.txt"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		exe := change(&opt)
		if r, err := run(t.Context(), exe, opt); !errors.Is(err, engine.ErrSnapshot) || !strings.Contains(err.Error(), want) || r != nil {
			t.Errorf("want %q, got result %v, error %v", want, r, err)
		}
	}
}

// loopSnapshot is a small snapshot: of a loop in the smallest address space.
func loopSnapshot(t testing.TB) (*objfile.File, *Snapshot) {
	var a asm
	loop(&a)
	f := readFile(t, assemble(a.text, []byte("data"), pageBytes))
	return f, snapshotOf(t, f, options{Request: engine.Request{Memory: minMemory}}, 1000)
}

func encoded(t testing.TB, s *Snapshot) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := s.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestSnapshotDamage changes each byte of a snapshot, and truncates it at every
// length.
func TestSnapshotDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	_, s := loopSnapshot(t)
	data := encoded(t, s)
	for i := range data {
		bad := bytes.Clone(data)
		bad[i] ^= 0x10
		if s, err := readSnapshot(bytes.NewReader(bad)); !errors.Is(err, engine.ErrSnapshot) || s != nil {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		if s, err := readSnapshot(bytes.NewReader(data[:i])); !errors.Is(err, engine.ErrSnapshot) || s != nil {
			t.Fatalf("cut after %d bytes: %v", i, err)
		}
	}
	if _, err := readSnapshot(bytes.NewReader(append(data, 0))); !errors.Is(err, engine.ErrSnapshot) {
		t.Errorf("a byte too many: %v", err)
	}
	if len(data) > 12<<10 {
		t.Errorf("%d bytes for a program of a few pages", len(data))
	}
}

// sealed returns a snapshot file made of a state and pages, with a valid checksum.
func sealed(state, pages []byte) []byte {
	b := append([]byte(snapshotMagic), 0, 0, 0, 0, 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(b[len(snapshotMagic):], snapshotVersion)
	binary.LittleEndian.PutUint32(b[len(snapshotMagic)+4:], uint32(len(state)))
	b = append(append(b, state...), pages...)
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// FuzzSnapshot reads states and pages with a valid checksum, and resumes from those
// that are accepted: errors are fine, a crash is not.
func FuzzSnapshot(f *testing.F) {
	exe, s := loopSnapshot(f)
	state, err := json.Marshal(&s.state)
	if err != nil {
		f.Fatal(err)
	}
	data := encoded(f, s)
	head := len(snapshotMagic) + 8 + len(state)
	f.Add(state, data[head:len(data)-sha256.Size])
	// A thread that waits for a pipe, watched by an epoll.
	var busy snapshotState
	if err := json.Unmarshal(state, &busy); err != nil {
		f.Fatal(err)
	}
	th := &busy.Threads[0]
	th.Blocked, th.Polls, th.CallNumber, th.Call = true, true, 63, [6]uint64{3, testData, 1}
	busy.Files = append(busy.Files,
		fileState{Kind: kindPipe, Readers: true, Writers: true, Data: []byte("x")},
		fileState{Kind: kindEpoll, Watched: []watchState{{FD: 3, File: 3, Events: 1}}},
		fileState{Kind: kindDevice, Path: "/dev/zero"})
	for fd := uint64(3); fd < 6; fd++ {
		busy.Descriptors = append(busy.Descriptors, descriptorState{FD: fd, File: int(fd), Flags: 2})
	}
	if state, err = json.Marshal(&busy); err != nil {
		f.Fatal(err)
	}
	f.Add(state, data[head:len(data)-sha256.Size])
	f.Fuzz(func(t *testing.T, state, pages []byte) {
		if len(state) > 1<<16 || len(pages) > 1<<16 {
			return
		}
		s, err := readSnapshot(bytes.NewReader(sealed(state, pages)))
		if (s == nil) == (err == nil) {
			t.Fatalf("snapshot %v, error %v", s, err)
		}
		if err != nil {
			return
		}
		if s.state.Memory > 1<<30 {
			return // valid, but slow to map
		}
		opt := options{Request: engine.Request{Args: s.state.Args, Env: s.state.Env, Memory: s.state.Memory, Resume: s, MaxInstructions: s.Instructions() + 10_000}}
		r, err := run(t.Context(), exe, opt)
		if r == nil && err == nil {
			t.Error("neither result nor error")
		}
	})
}
