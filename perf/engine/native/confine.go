//go:build linux && amd64

package native

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"

	"presage/perf/engine"
)

// A confined program is kept from everything but its computation, by the kernel and in
// the program's own process, before its first instruction: by Landlock from files, other
// processes and the network, by a filter of system calls (seccomp) from whatever Landlock
// does not judge: see permitted.go. Neither can be taken off again, and the threads that
// the program starts have both. The engine is outside: Landlock lets no process within
// bounds look into one that is not.
//
//	newConfinement ─ the files, as a set of rules
//	launch         ─ the set of rules is file fdRules of the new process
//	confine        ─ the new process restricts itself, by injected system calls
//
// What the engine itself does to the program's system calls is no part of this, so a
// program that tampers with the translated code gains nothing.

const (
	landlockRead  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	landlockWrite = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
)

// readable are the files and folders that a confined program can read, beside its own
// executable and what /proc tells of its own process. Of /etc, /dev and /proc it is what
// programs and libraries look up: for root they hold secrets, too.
var readable = []string{
	"/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin",
	"/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/localtime", "/etc/timezone",
	"/etc/locale.alias", "/etc/ssl/openssl.cnf", "/etc/python3*", "/etc/perl",
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
	"/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems", "/proc/version", "/proc/sys/vm/overcommit_memory", "/proc/sys/kernel/osrelease",
}

// ErrConfine means that the kernel cannot confine a program.
var ErrConfine = errors.New("native: this kernel cannot confine programs (Landlock, from Linux 5.13, and seccomp): run the program in a container or a virtual machine")

// confinement is the set of rules for the files of a confined program.
type confinement struct {
	version int // of Landlock
	rules   int // file descriptor

	// The kernel forgets a file of /proc, and the rule for it, that nobody has open.
	held []int
}

// newConfinement returns the rules for a program, given by the path of its executable,
// that may read some folders, too, by at most version latest of Landlock unless that is 0.
func newConfinement(program string, folders []engine.Grant, latest int) (*confinement, error) {
	const askVersion = 1 // LANDLOCK_CREATE_RULESET_VERSION
	found, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, askVersion)
	if errno != 0 || found < 1 {
		return nil, fmt.Errorf("%w: %w", ErrConfine, errno)
	}
	version := int(found)
	if latest > 0 {
		version = min(version, latest)
	}
	attr, size := handled(version)
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return nil, fmt.Errorf("%w: %w", ErrConfine, errno)
	}
	b := &confinement{version: version, rules: int(fd)}
	err := b.allowSystem(program)
	for _, g := range folders {
		if err == nil {
			err = b.allow(g.Host, landlockRead)
		}
	}
	if err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// handled returns what a version of Landlock can deny, all of which is denied unless a
// rule allows it, and the size of the part of the structure that this version has.
func handled(version int) (unix.LandlockRulesetAttr, uintptr) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: landlockRead | landlockWrite | unix.LANDLOCK_ACCESS_FS_EXECUTE}
	size := unsafe.Offsetof(attr.Handled_access_net)
	if version >= 2 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= 4 {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		size = unsafe.Offsetof(attr.Scoped)
	}
	if version >= 5 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
		size = unsafe.Offsetof(attr.Quiet_access_fs)
	}
	return attr, size
}

func (b *confinement) allowSystem(program string) error {
	for _, pattern := range readable {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			return fmt.Errorf("native: confine to %s: %w", pattern, err)
		}
		for _, path := range paths {
			err := b.allow(path, landlockRead)
			if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrPermission) {
				return err
			}
		}
	}
	if err := b.allow(os.DevNull, landlockRead|unix.LANDLOCK_ACCESS_FS_WRITE_FILE); err != nil {
		return err
	}
	return b.allow(program, landlockRead)
}

// allow adds a rule for the file at a path, or for all that lies beneath a folder.
func (b *confinement) allow(path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("native: confine to %s: %w", path, err)
	}
	b.held = append(b.held, fd)
	var status unix.Stat_t
	if err := unix.Fstat(fd, &status); err != nil {
		return fmt.Errorf("native: confine to %s: %w", path, err)
	}
	if status.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	}
	const pathBeneath = 1 // LANDLOCK_RULE_PATH_BENEATH
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(b.rules), pathBeneath, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("native: confine to %s: %w", path, errno)
	}
	return nil
}

// close closes the files of the rules, when the program has ended.
func (b *confinement) close() {
	for _, fd := range append(b.held, b.rules) {
		unix.Close(fd)
	}
}

// confine restricts the new process, which has the engine's memory, for good. It closes
// all files there but the three standard streams: the rules, and what the process has
// inherited from whoever started the engine.
func (c *child) confine(b *confinement) error {
	if err := b.allow(fmt.Sprintf("/proc/%d", c.pid), landlockRead); err != nil {
		return err
	}
	// The filter lies in the first buffer until the kernel has it.
	const programBytes = 16 // struct sock_fprog
	room := c.mem[fileBuffers:][:bufferBytes]
	filter := filterBytes(filterFor(uint32(c.pid), b.version))
	binary.LittleEndian.PutUint16(room, uint16(len(filter)/filterStepBytes))
	binary.LittleEndian.PutUint64(room[8:], buffersAt+programBytes)
	copy(room[programBytes:], filter)
	defer clear(room[:programBytes+len(filter)])
	for _, call := range [][]uint64{
		{unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0},
		{unix.SYS_LANDLOCK_RESTRICT_SELF, fdRules, 0},
		{unix.SYS_CLOSE_RANGE, fdProgram, math.MaxUint32, 0},
		// Otherwise older kernels make the program's branches and loads slower.
		{unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW, buffersAt},
	} {
		if _, err := c.inject(call[0], call[1:]...); err != nil {
			return fmt.Errorf("%w: %w", ErrConfine, err)
		}
	}
	return nil
}
