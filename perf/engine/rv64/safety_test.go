package rv64

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"presage/perf/engine"
	"presage/perf/objfile"
)

func hostile(t *testing.T) *objfile.File {
	t.Helper()
	p := program{name: "hostile", tool: "riscv64-linux-gnu-gcc", args: []string{"-static", "-O1"}, after: []string{"testdata/c/hostile.c"}}
	f, err := objfile.Open(p.build(t))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestHostileSegments loads segments that no linker makes. objfile rejects some of
// them earlier; the loader does not rely on that.
func TestHostileSegments(t *testing.T) {
	whole := readFile(t, assemble(make([]byte, 8), nil, pageBytes))
	code := objfile.Segment{Addr: testText, MemSize: 8, Data: []byte{0x6f, 0, 0, 0, 0, 0, 0, 0}, Read: true, Execute: true}
	seg := func(addr, size uint64, data int) objfile.Segment {
		return objfile.Segment{Addr: addr, MemSize: size, Data: make([]byte, data), Read: true, Write: true}
	}
	many := make([]objfile.Segment, 1170)
	for i := range many {
		many[i] = seg(testData, 1<<32-1<<28, 1)
	}
	for name, test := range map[string]struct {
		segments []objfile.Segment
		opt      options
		want     string
	}{
		"larger than the address space":  {segments: []objfile.Segment{code, seg(testData, 1<<40, 0)}, want: "outside of the address space"},
		"negative size":                  {segments: []objfile.Segment{code, seg(testData, math.MaxUint64-4096, 0)}, want: "makes no sense"},
		"negative address":               {segments: []objfile.Segment{code, seg(math.MaxUint64-4095, 4096, 0)}, want: "makes no sense"},
		"just below the top":             {segments: []objfile.Segment{code, seg(math.MaxUint64-8191, 4096, 0)}, want: "outside of the address space"},
		"on the stack":                   {segments: []objfile.Segment{code, seg(1<<32-1<<20, 4096, 0)}, want: "raise Memory"},
		"null page":                      {segments: []objfile.Segment{seg(8, 4096, 0), code}, want: "null pointers"},
		"more data than memory":          {segments: []objfile.Segment{code, seg(testData, 4, 8)}, want: "makes no sense"},
		"more than it may use":           {segments: []objfile.Segment{code, seg(testData, 1<<30, 0)}, opt: options{Request: engine.Request{MemoryLimit: 64 << 20}}, want: "MemoryLimit"},
		"stack more than it may use":     {segments: []objfile.Segment{code}, opt: options{Request: engine.Request{MemoryLimit: 1 << 20}}, want: "MemoryLimit"},
		"overlapping, of 3.75 GiB each":  {segments: append([]objfile.Segment{code}, many...), want: "overlaps"},
		"overlapping code":               {segments: []objfile.Segment{code, seg(testText+7, 8, 8)}, want: "overlaps"},
		"out of order":                   {segments: []objfile.Segment{seg(testData, 8, 8), code}, want: "overlaps"},
		"no segments":                    {want: "not executable"},
		"an address space of 64 GiB":     {segments: []objfile.Segment{code}, opt: options{Request: engine.Request{Memory: 1 << 36}}, want: "instruction limit"},
		"all of the address space taken": {segments: []objfile.Segment{code, seg(testData, 1<<32-testData, 0)}, want: "raise Memory"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			opt := test.opt
			opt.MaxInstructions = 1000
			f := *whole
			f.Entry, f.Segments = testText, test.segments
			_, err := run(t.Context(), &f, opt)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			// One byte per page of the address space, and the rest.
			if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
				t.Errorf("%d bytes allocated", n)
			}
		})
	}
}

// TestHostilePrograms runs programs that try to exhaust every resource.
func TestHostilePrograms(t *testing.T) {
	f := hostile(t)
	const limit = 96 << 20
	for _, test := range []struct {
		what string
		opt  options
		out  string
		err  error
	}{
		{"mmap", options{}, "mmap 1\n", engine.ErrMemoryLimit},
		{"mmap", options{Request: engine.Request{MemoryLimit: limit}}, "mmap 1\n", engine.ErrMemoryLimit},
		{"protect", options{Request: engine.Request{MemoryLimit: limit}}, "mprotect 1\n", engine.ErrMemoryLimit},
		{"brk", options{}, "brk 1\n", engine.ErrMemoryLimit},
		{"brk", options{Request: engine.Request{MemoryLimit: limit}}, "brk 1\n", engine.ErrMemoryLimit},
		{"checkers", options{}, "1, enough 1\nwhole again 0\n", nil},
		{"unmap checkers", options{}, "1, enough 1\nwhole again 0\n", nil},
		{"descriptors", options{}, "open 1021 1\ndup 1 pipe 1 pipe 1 eventfd 5 epoll 1\n", nil},
	} {
		t.Run(test.what, func(t *testing.T) {
			opt := test.opt
			opt.Args = []string{test.what}
			if opt.Memory == 0 {
				opt.Memory = 1200 << 20
			}
			out, r, err := runGuest(t, f, opt)
			if out != test.out || !errors.Is(err, test.err) {
				t.Errorf("output %q, error %v; want %q, %v", out, err, test.out, test.err)
			}
			if err == nil && r.ExitCode != 0 {
				t.Errorf("exit status %d", r.ExitCode)
			}
			if most := cmp.Or(opt.MemoryLimit, opt.Memory); r.MemoryPeak > most {
				t.Errorf("%d bytes of memory accessible, limit %d", r.MemoryPeak, most)
			}
		})
	}
}

// countWriter counts the bytes written and discards them.
type countWriter int64

func (c *countWriter) Write(p []byte) (int, error) {
	*c += countWriter(len(p))
	return len(p), nil
}

func TestOutputFlood(t *testing.T) {
	var n countWriter
	r, err := run(t.Context(), hostile(t), options{Request: engine.Request{Args: []string{"flood"}, Stdout: &n}})
	if err != nil || r.ExitCode != 0 || n != 4096<<16 {
		t.Errorf("%d bytes, status %d, %v", n, r.ExitCode, err)
	}
	// Writing to a closed stream must not kill the host process.
	pr, pw := io.Pipe()
	pr.Close()
	if r, err := run(t.Context(), hostile(t), options{Request: engine.Request{Args: []string{"flood"}, Stdout: pw}}); err != nil || r.ExitCode != 1 {
		t.Errorf("closed stream: %+v, %v", r, err)
	}
}

// TestHostRefusesToUnmap makes the host refuse to release memory that the program
// unmaps: the run must end in an error, and the process survive.
func TestHostRefusesToUnmap(t *testing.T) {
	var a asm
	a.set(regA0, testData)
	a.set(regA1, pageBytes)
	a.call(215)
	loop(&a)
	m, err := newMachine(readFile(t, assemble(a.text, nil, pageBytes)), options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	base := m.mem.host.base
	m.mem.host.base = unsafe.Add(base, 1) // no page begins there
	err = m.run(t.Context())
	m.mem.host.base = base
	if err == nil || !strings.Contains(err.Error(), "the host refused guest memory") {
		t.Errorf("error %v", err)
	}
}

// TestThreadBomb starts spinning threads until clone fails.
func TestThreadBomb(t *testing.T) {
	_, r, err := assembled(t, options{Request: engine.Request{MaxInstructions: 1e9}}, func(a *asm) {
		const next, count = 9, 8
		a.set(count, 0)
		again := len(a.text)
		a.set(regA0, cloneVM|cloneThread)
		a.set(regA1, 0)
		a.call(220)
		a.word(wordB(0, regA0, 0, 0)) // the new thread stays here: beq a0, x0, .
		a.word(wordB(4, regA0, 0, 12))
		a.word(wordI(opcodeImm, 0, count, count, 1))
		a.word(wordJ(0, int32(again-len(a.text))))
		// exit_group with 1 if it was EAGAIN after maxThreads-1 threads
		a.word(wordI(opcodeImm, 0, next, regA0, eAGAIN))
		a.set(5, maxThreads-1)
		a.word(wordR(opcodeReg, 0, 32, 5, 5, count), wordR(opcodeReg, 6, 0, 5, 5, next))
		a.word(wordI(opcodeImm, 3, regA0, 5, 1)) // sltiu: is it zero?
		a.call(94)
	})
	if err != nil || r.ExitCode != 1 || r.Threads != maxThreads {
		t.Errorf("status %d, %d threads, %v; want 1, %d", r.ExitCode, r.Threads, err, maxThreads)
	}
}

// TestCancellationInCalls cancels a program that only makes long system calls.
func TestCancellationInCalls(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	var a asm
	const free = 0x2000000
	again := len(a.text)
	a.set(regA0, free)
	a.set(regA1, -free-pageBytes)
	a.word(wordI(opcodeImm, 1, regA1, regA1, 32), wordI(opcodeImm, 5, regA1, regA1, 32)) // to 4 GiB - 4096
	a.call(215)
	a.word(wordJ(0, int32(again-len(a.text))))
	start := time.Now()
	_, err := run(ctx, readFile(t, assemble(a.text, nil, pageBytes)), options{})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	// Unless every call checks the context, a turn takes half a minute.
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("cancelled after %v", d)
	}
}

// TestWatchesOfClosedFiles adds ever new files to an epoll and closes them.
func TestWatchesOfClosedFiles(t *testing.T) {
	opt := options{Request: engine.Request{Args: []string{"watches"}}}
	m, err := newMachine(hostile(t), opt)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	if err := m.run(t.Context()); err != nil || m.exitCode != 0 {
		t.Fatalf("status %d, %v", m.exitCode, err)
	}
	if e := m.files.get(3).(*epoll); len(e.entries) != 1 {
		t.Errorf("%d files watched, 1 was not replaced", len(e.entries))
	}
}

// TestEscapes tries to leave granted folders.
func TestEscapes(t *testing.T) {
	in, out, secret := t.TempDir(), t.TempDir(), t.TempDir()
	for path, text := range map[string]string{in + "/a.txt": "alpha", out + "/mine": "mine", secret + "/s.txt": "secret"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		in + "/link": secret + "/s.txt", in + "/folder": secret, out + "/folder": secret, in + "/up": "../..",
	} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	got, _, err := runGuest(t, hostile(t), options{Request: engine.Request{Args: []string{"e", "/etc/passwd", "/in/../etc/passwd", "../../../../../../etc/passwd", "/in/link", "/in/up/etc/passwd", "/in/./a.txt"}, Grants: []engine.Grant{{Guest: "/in", Host: in}, {Guest: "/out", Host: out, Write: true}}}})
	if err != nil {
		t.Fatal(err)
	}
	const denied, missing, readOnly = " Permission denied\n", " No such file or directory\n", " Read-only file system\n"
	want := "/etc/passwd" + missing + "/in/../etc/passwd" + missing + "../../../../../../etc/passwd" + missing +
		"/in/link" + denied + "/in/up/etc/passwd" + denied + "/in/./a.txt done\n" +
		"openat ../s.txt" + missing + "through a link" + denied + "stat of a link's target" + denied +
		"create through a link" + denied + "mkdir through a link" + denied + "unlink through a link" + denied +
		"rename out" + denied + "rename up" + missing + "rename in" + denied +
		"symlink" + denied + "link" + denied +
		"truncate what is read-only" + readOnly + "create where is read-only" + readOnly + "unlink where is read-only" + readOnly +
		"chmod where is read-only" + readOnly + "/proc" + missing + "chdir out" + missing + "readlink done\nsocket 1, fork 1, exec 1\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	entries, err := filepath.Glob(secret + "/*")
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder outside now holds %v (%v)", entries, err)
	}
	if data, _ := os.ReadFile(secret + "/s.txt"); string(data) != "secret" {
		t.Errorf("the file outside now holds %q", data)
	}
}

// TestUnmappedMemoryIsForgotten maps a page, writes to it, makes it inaccessible,
// unmaps it and maps it again: it must read as zeros.
func TestUnmappedMemoryIsForgotten(t *testing.T) {
	const at = 0x4000000
	mapAt := func(a *asm) {
		a.set(regA0, at)
		a.set(regA1, pageBytes)
		a.set(regA2, 3)
		a.set(13, mapAnonymous|mapFixed|2)
		a.set(14, -1)
		a.set(15, 0)
		a.call(222)
	}
	_, r, err := assembled(t, options{}, func(a *asm) {
		mapAt(a)
		a.set(6, at)
		a.word(wordS(opcodeStore, 3, 6, 6, 8))
		a.set(regA0, at)
		a.set(regA2, 0)
		a.call(226)
		a.set(regA0, at)
		a.call(215)
		mapAt(a)
		a.word(wordI(opcodeLoad, 3, regA0, 6, 8))
		a.word(wordR(opcodeReg, 3, 0, regA0, 0, regA0)) // snez
		a.call(93)
	})
	if err != nil || r.ExitCode != 0 {
		t.Errorf("status %d (%v): old contents came back", r.ExitCode, err)
	}
}
