//go:build linux && amd64

package native

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A confined program is kept from everything but its computation: the kernel's
// Landlock denies it files other than the system's programs and libraries, and its
// own, and all writing to files; the engine, which sees every system call, denies it
// the network and other processes.

const (
	landlockRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	landlockWrite = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
)

// readable are the folders that a confined program can read. The engine's own
// accesses to the program, in /proc, are confined with it.
var readable = []string{"/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc", "/dev"}

// ErrConfine means that the kernel cannot confine a program.
var ErrConfine = errors.New("native: this kernel cannot confine programs (Landlock, from Linux 5.13): run the program in a container or a virtual machine")

// confine confines the calling thread, for good, and the processes that it starts.
// program is the path of the executable.
func confine(program string) error {
	const version = 1 // LANDLOCK_CREATE_RULESET_VERSION
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, version)
	if errno != 0 || abi < 1 {
		return fmt.Errorf("%w: %w", ErrConfine, errno)
	}
	rules := unix.LandlockRulesetAttr{Handled_access_fs: landlockRead | landlockWrite}
	size := unsafe.Sizeof(rules.Handled_access_fs) // as the first version has it
	if abi >= 2 {
		rules.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		rules.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&rules)), size, 0)
	if errno != 0 {
		return fmt.Errorf("%w: %w", ErrConfine, errno)
	}
	defer unix.Close(int(fd))
	for _, path := range readable {
		if err := allow(int(fd), path, landlockRead); err != nil {
			return err
		}
	}
	if err := allow(int(fd), "/proc", landlockRead|unix.LANDLOCK_ACCESS_FS_WRITE_FILE); err != nil {
		return err
	}
	if err := allow(int(fd), program, unix.LANDLOCK_ACCESS_FS_EXECUTE|unix.LANDLOCK_ACCESS_FS_READ_FILE); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("%w: %w", ErrConfine, err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("%w: %w", ErrConfine, errno)
	}
	return nil
}

// allow adds a rule for what lies at or beneath a path, if there is such a path.
func allow(rules int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("native: confine to %s: %w", path, err)
	}
	defer unix.Close(fd)
	const pathBeneath = 1
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), pathBeneath, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("native: confine to %s: %w", path, errno)
	}
	return nil
}

// forbidden are the system calls that a confined program may not make: they reach
// other programs, other machines, or parts of the kernel that a computation does not
// need.
var forbidden = map[uint64]bool{
	unix.SYS_SOCKET: true, unix.SYS_CONNECT: true, unix.SYS_BIND: true, unix.SYS_SENDTO: true, unix.SYS_SENDMSG: true,
	unix.SYS_FORK: true, unix.SYS_VFORK: true, unix.SYS_EXECVE: true, unix.SYS_EXECVEAT: true,
	unix.SYS_PTRACE: true, unix.SYS_PROCESS_VM_READV: true, unix.SYS_PROCESS_VM_WRITEV: true, unix.SYS_PIDFD_OPEN: true, unix.SYS_PIDFD_GETFD: true,
	unix.SYS_IO_URING_SETUP: true, unix.SYS_BPF: true, unix.SYS_PERF_EVENT_OPEN: true, unix.SYS_KEYCTL: true, unix.SYS_ADD_KEY: true, unix.SYS_REQUEST_KEY: true,
	unix.SYS_SHMGET: true, unix.SYS_SHMAT: true, unix.SYS_MSGGET: true, unix.SYS_SEMGET: true, unix.SYS_MQ_OPEN: true, unix.SYS_USERFAULTFD: true,
	unix.SYS_MOUNT: true, unix.SYS_UMOUNT2: true, unix.SYS_UNSHARE: true, unix.SYS_SETNS: true, unix.SYS_CHROOT: true, unix.SYS_PIVOT_ROOT: true,
	unix.SYS_CHMOD: true, unix.SYS_FCHMOD: true, unix.SYS_FCHMODAT: true, unix.SYS_CHOWN: true, unix.SYS_FCHOWN: true, unix.SYS_LCHOWN: true, unix.SYS_FCHOWNAT: true,
	unix.SYS_UTIME: true, unix.SYS_UTIMES: true, unix.SYS_UTIMENSAT: true, unix.SYS_FUTIMESAT: true, unix.SYS_SETXATTR: true, unix.SYS_LSETXATTR: true, unix.SYS_FSETXATTR: true,
	unix.SYS_IOPRIO_SET: true, unix.SYS_SETPRIORITY: true, unix.SYS_SCHED_SETSCHEDULER: true,
	unix.SYS_REBOOT: true, unix.SYS_KEXEC_LOAD: true, unix.SYS_INIT_MODULE: true, unix.SYS_FINIT_MODULE: true, unix.SYS_DELETE_MODULE: true, unix.SYS_SETTIMEOFDAY: true, unix.SYS_CLOCK_SETTIME: true,
}

// denied reports whether a confined program may not make the system call that thread
// t is about to make.
func (m *machine) denied(t *thread) bool {
	if !m.confined {
		return false
	}
	switch t.regs.Rax {
	case unix.SYS_CLONE:
		return t.regs.Rdi&unix.CLONE_THREAD == 0
	case unix.SYS_CLONE3:
		flags, ok := t.word(t.regs.Rdi)
		return !ok || flags&unix.CLONE_THREAD == 0
	case unix.SYS_KILL, unix.SYS_TGKILL, unix.SYS_TKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO:
		id := int32(t.regs.Rdi)
		return m.realID(id) == id
	}
	return forbidden[t.regs.Rax]
}
