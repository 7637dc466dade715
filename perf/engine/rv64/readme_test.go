package rv64

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated parts of README.md")

// callKind classifies how the engine handles a system call.
type callKind string

const (
	works   callKind = ""
	ignored callKind = "accepted, without effect"
	refused callKind = "refused, so that programs fall back"
)

// callNote documents a system call for the README.
type callNote struct {
	name string
	kind callKind
	note string
}

// callNotes returns the notes on every system call in the engine's table, by
// number (include/uapi/asm-generic/unistd.h).
func callNotes() map[uint64]callNote {
	notes := make(map[uint64]callNote)
	add := func(kind callKind, list string) {
		for item := range strings.SplitSeq(list, ",") {
			var n uint64
			var name string
			if _, err := fmt.Sscan(item, &n, &name); err != nil {
				panic(item)
			}
			notes[n] = callNote{name: name, kind: kind}
		}
	}
	add(works, `17 getcwd, 19 eventfd2, 20 epoll_create1, 21 epoll_ctl, 22 epoll_pwait, 23 dup, 24 dup3, 25 fcntl,
		34 mkdirat, 35 unlinkat, 36 symlinkat, 37 linkat, 38 renameat, 43 statfs, 44 fstatfs, 45 truncate, 46 ftruncate, 47 fallocate, 48 faccessat, 49 chdir, 53 fchmodat,
		56 openat, 57 close, 59 pipe2, 61 getdents64, 62 lseek, 63 read, 64 write, 65 readv, 66 writev, 67 pread64, 68 pwrite64,
		69 preadv, 70 pwritev, 72 pselect6, 73 ppoll, 78 readlinkat, 79 newfstatat, 80 fstat, 93 exit, 94 exit_group,
		96 set_tid_address, 98 futex, 101 nanosleep, 102 getitimer, 103 setitimer, 107 timer_create, 108 timer_gettime,
		109 timer_getoverrun, 110 timer_settime, 111 timer_delete, 113 clock_gettime, 114 clock_getres, 115 clock_nanosleep, 121 sched_getparam, 123 sched_getaffinity,
		124 sched_yield, 129 kill, 130 tkill, 131 tgkill, 132 sigaltstack, 133 rt_sigsuspend, 134 rt_sigaction, 135 rt_sigprocmask,
		136 rt_sigpending, 137 rt_sigtimedwait, 139 rt_sigreturn, 148 getresuid, 150 getresgid, 153 times, 160 uname, 163 getrlimit,
		165 getrusage, 168 getcpu, 169 gettimeofday, 172 getpid, 173 getppid, 174 getuid, 175 geteuid, 176 getgid, 177 getegid,
		178 gettid, 179 sysinfo, 155 getpgid, 156 getsid, 158 getgroups, 141 getpriority, 120 sched_getscheduler, 166 umask,
		214 brk, 215 munmap, 216 mremap, 220 clone, 222 mmap, 226 mprotect, 232 mincore, 233 madvise, 258 riscv_hwprobe,
		259 riscv_flush_icache, 261 prlimit64, 276 renameat2, 278 getrandom, 283 membarrier, 291 statx, 436 close_range,
		439 faccessat2, 441 epoll_pwait2`)
	add(ignored, `32 flock, 52 fchmod, 55 fchown, 81 sync, 82 fsync, 83 fdatasync, 84 sync_file_range, 88 utimensat, 92 personality,
		99 set_robust_list, 118 sched_setparam, 119 sched_setscheduler,
		122 sched_setaffinity, 125 sched_get_priority_max, 126 sched_get_priority_min, 140 setpriority, 154 setpgid,
		164 setrlimit, 167 prctl, 223 fadvise64, 227 msync, 228 mlock, 229 munlock, 230 mlockall, 231 munlockall, 284 mlock2`)
	add(refused, `29 ioctl, 71 sendfile, 76 splice, 95 waitid, 112 clock_settime, 157 setsid, 221 execve, 260 wait4,
		277 seccomp, 281 execveat, 285 copy_file_range, 293 rseq, 424 pidfd_send_signal, 425 io_uring_setup, 434 pidfd_open,
		435 clone3, 449 futex_waitv`)
	for n, text := range map[uint64]string{
		43: "made-up numbers", 44: "made-up numbers",
		63: "blocks on pipes and event counters", 103: "expires at an exact instruction; 10 µs or more apart",
		107: "on the clocks of the process", 110: "expires at an exact instruction; 10 µs or more apart",
		36: "within the grant", 37: "within the grant", 47: "without modes",
		98:  "but for the priority-inheriting operations",
		113: "a nanosecond an instruction, from 2024-01-01", 123: "one processor", 220: "threads; no processes",
		222: "private; shared mappings are read-only", 29: "nothing is a terminal", 216: "not MREMAP_FIXED",
		258: "IMAFDC, Zba, Zbb, Zbc, Zbs, Zicond", 278: "seeded", 261: "tells limits, sets none", 276: "without flags",
	} {
		note := notes[n]
		note.note = text
		notes[n] = note
	}
	return notes
}

// syscallTable returns the README's table of system calls.
func syscallTable() string {
	notes := callNotes()
	var s strings.Builder
	s.WriteString("| number | system call | |\n| --: | --- | --- |\n")
	for _, n := range slices.Sorted(maps.Keys(notes)) {
		c := notes[n]
		var parts []string
		for _, p := range []string{string(c.kind), c.note} {
			if p != "" {
				parts = append(parts, p)
			}
		}
		fmt.Fprintf(&s, "| %d | `%s` | %s |\n", n, c.name, strings.Join(parts, "; "))
	}
	return s.String()
}

// TestSyscallNotes checks the notes against the table of system calls: the numbers
// are the same, and calls noted as without effect or refused respond that way
// whatever their arguments.
func TestSyscallNotes(t *testing.T) {
	var a asm
	loop(&a)
	m, err := newMachine(readFile(t, assemble(a.text, nil, pageBytes)), options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	notes := callNotes()
	for n := range m.calls {
		if notes[n].name == "" {
			t.Errorf("system call %d has no note", n)
		}
	}
	for n, c := range notes {
		call := m.calls[n]
		if call == nil {
			t.Errorf("system call %d, %s, does not exist", n, c.name)
			continue
		}
		if c.kind == works {
			continue
		}
		for _, arg := range []uint64{0, 1, testData, ^uint64(0)} {
			v := call(m.threads[0], [6]uint64{arg, arg, arg, arg, arg, arg})
			if c.kind == ignored && v != 0 || c.kind == refused && v >= 0 {
				t.Errorf("system call %d, %s, with %#x returns %d", n, c.name, arg, v)
			}
		}
	}
}

// programTable returns the README's table of programs run.
func programTable() string {
	prints := map[string]string{
		"gomix":   "trees under the garbage collector, goroutines, recovered faults, timers, floating point, sorted input",
		"mix.c":   "sums and roundings in every mode, threads with conditions and time-outs, signals, a fault caught, input lines",
		"mix.cc":  "containers, exceptions, threads, streams",
		"mix.f90": "matrix and complex arithmetic, formatted input and output",
		"pie.c":   "a table reached relative to the program counter",
	}
	var s strings.Builder
	s.WriteString("| program | compiler | flags | prints | against qemu |\n| --- | --- | --- | --- | --- |\n")
	for _, p := range programs() {
		source := p.after[0]
		what := prints[source[strings.LastIndex(source, "/")+1:]]
		flags := strings.TrimPrefix(strings.Join(p.args, " "), "build")
		if strings.HasSuffix(p.name, "rva22") {
			flags = "GORISCV64=rva22u64"
		}
		fmt.Fprintf(&s, "| %s | %s | %s | %s | same output and status |\n",
			strings.TrimPrefix(source, "./"), strings.TrimPrefix(p.tool, "riscv64-linux-gnu-"), flags, what)
	}
	return s.String()
}

// TestReadme checks that the generated parts of README.md are up to date.
func TestReadme(t *testing.T) {
	const file = "README.md"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for name, table := range map[string]string{"programs": programTable(), "system calls": syscallTable()} {
		begin, end := "<!-- generated: "+name+" -->\n", "<!-- end -->"
		before, rest, ok1 := strings.Cut(text, begin)
		old, after, ok2 := strings.Cut(rest, end)
		if !ok1 || !ok2 {
			t.Fatalf("%s has no part %q", file, name)
		}
		if old != table && !*update {
			t.Errorf("%s: the table of %s is out of date; run go test -run TestReadme -update", file, name)
		}
		text = before + begin + table + end + after
	}
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
