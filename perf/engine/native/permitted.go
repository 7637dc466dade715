//go:build linux && amd64

package native

import (
	"encoding/binary"
	"maps"
	"slices"

	"golang.org/x/sys/unix"
)

// The system calls of a confined program. Whatever is not listed is denied, those of
// later kernels among it. Denied are above all
//
//   - calls that reach other processes: signals to them, ptrace, process_vm_readv, pidfd,
//     limits, priorities, processors and memory policies of others, IPC by number,
//     message queues; F_SETOWN, by which the kernel signals another;
//   - processes of its own, execve, and namespaces;
//   - sockets of all kinds;
//   - changes of files that Landlock does not judge: mode, owner, times, attributes,
//     locks, quotas, truncation; and watching what others do with files;
//   - the administrator's calls, and parts of the kernel that no computation needs and
//     that have let programs escape: io_uring, bpf, perf_event_open, userfaultfd, keys,
//     splice;
//   - calls that would change the engine's own memory: pkey_mprotect, remap_file_pages.
//
// Landlock judges the files that the permitted ones open.

// harmless are the permitted system calls whose arguments do not matter.
var harmless = []uint32{
	// Files and file descriptors.
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PREAD64, unix.SYS_PWRITE64, unix.SYS_PREADV, unix.SYS_PWRITEV, unix.SYS_PREADV2, unix.SYS_PWRITEV2,
	unix.SYS_CREAT, unix.SYS_CLOSE, unix.SYS_CLOSE_RANGE, unix.SYS_LSEEK, unix.SYS_DUP, unix.SYS_DUP2, unix.SYS_DUP3,
	unix.SYS_STAT, unix.SYS_FSTAT, unix.SYS_LSTAT, unix.SYS_NEWFSTATAT, unix.SYS_STATX, unix.SYS_STATFS, unix.SYS_FSTATFS, unix.SYS_ACCESS, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2,
	unix.SYS_READLINK, unix.SYS_READLINKAT, unix.SYS_GETDENTS, unix.SYS_GETDENTS64, unix.SYS_GETCWD, unix.SYS_CHDIR, unix.SYS_FCHDIR, unix.SYS_UMASK,
	unix.SYS_FTRUNCATE, unix.SYS_FALLOCATE, unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_FADVISE64, unix.SYS_READAHEAD, unix.SYS_SENDFILE, unix.SYS_COPY_FILE_RANGE,
	unix.SYS_PIPE, unix.SYS_PIPE2, unix.SYS_MEMFD_CREATE, unix.SYS_EVENTFD, unix.SYS_EVENTFD2, unix.SYS_SIGNALFD, unix.SYS_SIGNALFD4,
	unix.SYS_TIMERFD_CREATE, unix.SYS_TIMERFD_SETTIME, unix.SYS_TIMERFD_GETTIME,
	unix.SYS_SELECT, unix.SYS_PSELECT6, unix.SYS_POLL, unix.SYS_PPOLL,
	unix.SYS_EPOLL_CREATE, unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_WAIT, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2,

	// Memory.
	unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MREMAP, unix.SYS_MPROTECT, unix.SYS_BRK, unix.SYS_MADVISE, unix.SYS_MINCORE, unix.SYS_MSYNC,
	unix.SYS_MLOCK, unix.SYS_MLOCK2, unix.SYS_MUNLOCK, unix.SYS_MLOCKALL, unix.SYS_MUNLOCKALL,
	unix.SYS_MBIND, unix.SYS_SET_MEMPOLICY, unix.SYS_GET_MEMPOLICY, unix.SYS_MEMBARRIER,

	// Threads, and the signals and timers of the program.
	unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_ARCH_PRCTL, unix.SYS_SET_TID_ADDRESS, unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_FUTEX,
	unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_SCHED_GETPARAM, unix.SYS_SCHED_GETSCHEDULER, unix.SYS_SCHED_GETATTR,
	unix.SYS_SCHED_GET_PRIORITY_MAX, unix.SYS_SCHED_GET_PRIORITY_MIN, unix.SYS_SCHED_RR_GET_INTERVAL, unix.SYS_GETPRIORITY, unix.SYS_GETCPU,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_RT_SIGPENDING, unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_RT_SIGSUSPEND, unix.SYS_SIGALTSTACK,
	unix.SYS_RESTART_SYSCALL, unix.SYS_PAUSE, unix.SYS_ALARM, unix.SYS_SETITIMER, unix.SYS_GETITIMER,
	unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_GETTIME, unix.SYS_TIMER_GETOVERRUN, unix.SYS_TIMER_DELETE,
	unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_GETTIMEOFDAY, unix.SYS_TIME, unix.SYS_TIMES,
	unix.SYS_WAIT4, unix.SYS_WAITID,

	// What the system tells.
	unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_GETPPID, unix.SYS_GETPGID, unix.SYS_GETPGRP, unix.SYS_GETSID,
	unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETRESUID, unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_GETRESGID, unix.SYS_GETGROUPS, unix.SYS_CAPGET,
	unix.SYS_UNAME, unix.SYS_SYSINFO, unix.SYS_GETRUSAGE, unix.SYS_GETRLIMIT, unix.SYS_SETRLIMIT, unix.SYS_GETRANDOM,
}

// bound is what an argument of a system call must be: one of values, where mask is set.
// The kernel takes these arguments to have 32 bits.
type bound struct {
	argument int
	mask     uint32
	values   []uint32
}

func oneOf(argument int, values ...uint32) bound { return bound{argument, ^uint32(0), values} }

// bounded returns the system calls that are permitted to process pid, confined by a
// version of Landlock, with some arguments.
func bounded(pid uint32, version int) map[uint32]bound {
	const (
		fioClex, fioNclex, fioNread, fioNbio = 0x5451, 0x5450, 0x541b, 0x5421
		askPersonality                       = 0xffffffff

		// What a library asks for when it starts a thread.
		threadFlags = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_SYSVSEM | unix.CLONE_SETTLS |
			unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_SETTID | unix.CLONE_CHILD_CLEARTID | unix.CLONE_DETACHED
	)
	own, itself := oneOf(0, pid), oneOf(0, 0)
	calls := map[uint32]bound{
		unix.SYS_KILL: own, unix.SYS_TGKILL: own, unix.SYS_RT_SIGQUEUEINFO: own, unix.SYS_RT_TGSIGQUEUEINFO: own,
		unix.SYS_PRLIMIT64: itself, unix.SYS_SCHED_SETAFFINITY: itself,
		unix.SYS_CLONE:       {0, ^uint32(threadFlags), []uint32{unix.CLONE_THREAD}},
		unix.SYS_PERSONALITY: oneOf(0, askPersonality),
		unix.SYS_IOCTL:       oneOf(1, unix.TCGETS, unix.TIOCGWINSZ, fioNread, fioNbio, fioClex, fioNclex),
		unix.SYS_FCNTL: oneOf(1, unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL,
			unix.F_GETPIPE_SZ, unix.F_SETPIPE_SZ, unix.F_GET_SEALS, unix.F_ADD_SEALS),
		unix.SYS_PRCTL: oneOf(0, unix.PR_SET_NAME, unix.PR_GET_NAME, unix.PR_SET_VMA, unix.PR_GET_DUMPABLE, unix.PR_CAPBSET_READ, unix.PR_GET_NO_NEW_PRIVS,
			unix.PR_GET_SECCOMP, unix.PR_GET_TSC, unix.PR_SET_TIMERSLACK, unix.PR_GET_TIMERSLACK, unix.PR_SET_THP_DISABLE, unix.PR_GET_THP_DISABLE),
	}
	mask, modes := openModes(version)
	calls[unix.SYS_OPEN], calls[unix.SYS_OPENAT] = bound{1, mask, modes}, bound{2, mask, modes}
	return calls
}

// openModes returns which flags decide whether a file may be opened, and their values. A
// file that is opened neither to read nor to write, but by the fourth access mode
// (O_ACCMODE, for ioctl), needs no right that a version of Landlock knows.
func openModes(version int) (mask uint32, values []uint32) {
	mask, values = unix.O_ACCMODE, []uint32{unix.O_RDONLY, unix.O_WRONLY, unix.O_RDWR}
	if version < 3 { // then Landlock lets a file that is not opened to write be truncated
		return mask | unix.O_TRUNC, append(values, unix.O_WRONLY|unix.O_TRUNC, unix.O_RDWR|unix.O_TRUNC)
	}
	return mask, values
}

// Extended attributes seem to be missing, too, as where a file system has none: programs
// ask for those of every file that they list.

// newCalls is the number of the first system call that programs expect some kernels not
// to have (pidfd_send_signal, Linux 5.1): from there on, a denied one seems to be missing.
const newCalls = 424

// filterStepBytes is the size of an instruction of a filter (struct sock_filter).
const filterStepBytes = 8

// filterFor returns the filter of system calls for process pid, confined by a version of
// Landlock: a program of the classic Berkeley packet filter, which returns what is to be
// done about the call that lies before it as a struct seccomp_data.
func filterFor(pid uint32, version int) []unix.SockFilter {
	const (
		numberAt   = 0
		machineAt  = 4
		argumentAt = 16 // of 8 bytes each

		load, and, equal, least, result = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_ALU | unix.BPF_AND | unix.BPF_K,
			unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	)
	do := func(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }
	allow, deny := do(result, unix.SECCOMP_RET_ALLOW), do(result, unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM))
	unless := func(code uint16, k uint32, steps int) unix.SockFilter { // skips steps
		return unix.SockFilter{Code: code, Jf: uint8(steps), K: k}
	}
	filter := []unix.SockFilter{
		do(load, machineAt),
		{Code: equal, Jt: 1, K: unix.AUDIT_ARCH_X86_64}, // not int 0x80
		deny,
		do(load, numberAt),
	}
	calls := bounded(pid, version)
	for _, number := range slices.Sorted(maps.Keys(calls)) {
		b := calls[number]
		filter = append(filter, unless(equal, number, 3+2*len(b.values)), do(load, argumentAt+8*uint32(b.argument)), do(and, b.mask))
		for _, v := range b.values {
			filter = append(filter, unless(equal, v, 1), allow)
		}
		filter = append(filter, deny)
	}
	for _, number := range harmless {
		filter = append(filter, unless(equal, number, 1), allow)
	}
	return append(filter,
		unless(least, newCalls, 1), do(result, unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS)),
		unless(least, unix.SYS_SETXATTR, 1),
		unless(least, unix.SYS_FREMOVEXATTR+1, 1), deny, // the numbers of xattr lie together
		do(result, unix.SECCOMP_RET_ERRNO|uint32(unix.EOPNOTSUPP)))
}

// filterBytes returns a filter as the kernel reads it.
func filterBytes(filter []unix.SockFilter) []byte {
	var b []byte
	for _, s := range filter {
		b = binary.LittleEndian.AppendUint16(b, s.Code)
		b = append(b, s.Jt, s.Jf)
		b = binary.LittleEndian.AppendUint32(b, s.K)
	}
	return b
}

// instead returns a system call, its number first, that a confined program makes in
// place of the one that thread t is about to make, because the filter cannot judge the
// arguments of that; nil: there is no such call.
func (m *machine) instead(t *thread) []uint64 {
	r := &t.regs
	if !m.confined {
		return nil
	}
	switch r.Rax {
	case unix.SYS_TKILL:
		return []uint64{unix.SYS_TGKILL, uint64(m.child.pid), r.Rdi, r.Rsi}
	case unix.SYS_CLONE3:
		// As struct clone_args has them. What clone cannot express stays clone3, which
		// is denied.
		const flags, childAt, parentAt, signal, stack, stackBytes, local, beyond = 0, 2, 3, 4, 5, 6, 7, 8
		var a [11]uint64
		for i := range min(uint64(len(a)), r.Rsi/8) {
			a[i], _ = t.word(r.Rdi + 8*i)
		}
		if a[flags]>>32 != 0 || a[signal] != 0 || slices.Max(a[beyond:]) != 0 {
			return nil
		}
		return []uint64{unix.SYS_CLONE, a[flags], a[stack] + a[stackBytes], a[parentAt], a[childAt], a[local]}
	}
	return nil
}
