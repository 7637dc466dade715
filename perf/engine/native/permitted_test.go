//go:build linux && amd64

package native

import (
	"encoding/binary"
	"slices"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// TestFilter asks the filter about system calls, by another implementation of the
// machine that executes it.
func TestFilter(t *testing.T) {
	const (
		pid   = 4711
		allow = unix.SECCOMP_RET_ALLOW
		eperm = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
		none  = unix.SECCOMP_RET_ERRNO | uint32(unix.EOPNOTSUPP)
		esys  = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
		x32   = 0x40000000
		i386  = 0x40000003
		amd64 = unix.AUDIT_ARCH_X86_64
	)
	for version := 1; version <= 7; version++ {
		vm := filterVM(t, version)
		truncated := uint32(allow)
		if version < 3 {
			truncated = eperm
		}
		for _, c := range []struct {
			machine, number uint32
			args            [3]uint32
			want            uint32
		}{
			{amd64, unix.SYS_READ, [3]uint32{}, allow},
			{i386, unix.SYS_READ, [3]uint32{}, eperm},
			{amd64, unix.SYS_READ | x32, [3]uint32{}, esys},
			{amd64, unix.SYS_KILL, [3]uint32{pid, 9}, allow},
			{amd64, unix.SYS_KILL, [3]uint32{0, 9}, eperm},
			{amd64, unix.SYS_KILL, [3]uint32{^uint32(0), 9}, eperm},
			{amd64, unix.SYS_KILL, [3]uint32{pid + 1, 9}, eperm},
			{amd64, unix.SYS_CLONE, [3]uint32{0x3d0f00}, allow}, // pthread_create of GNU C
			{amd64, unix.SYS_CLONE, [3]uint32{0x3d0f00 | unix.CLONE_UNTRACED}, eperm},
			{amd64, unix.SYS_CLONE, [3]uint32{0x3d0f00 | unix.CLONE_NEWNET}, eperm},
			{amd64, unix.SYS_CLONE, [3]uint32{uint32(unix.SIGCHLD)}, eperm},
			{amd64, unix.SYS_CLONE3, [3]uint32{}, esys},
			{amd64, unix.SYS_OPEN, [3]uint32{0, unix.O_RDONLY}, allow},
			{amd64, unix.SYS_OPEN, [3]uint32{0, unix.O_RDONLY | unix.O_TRUNC}, truncated},
			{amd64, unix.SYS_OPENAT, [3]uint32{0, 0, unix.O_TRUNC}, truncated},
			{amd64, unix.SYS_OPENAT, [3]uint32{0, 0, unix.O_TRUNC | unix.O_ACCMODE}, eperm},
			{amd64, unix.SYS_OPENAT, [3]uint32{0, 0, unix.O_ACCMODE | unix.O_CLOEXEC}, eperm},
			{amd64, unix.SYS_OPENAT, [3]uint32{0, 0, unix.O_RDWR | unix.O_NOFOLLOW}, allow},
			{amd64, unix.SYS_OPEN, [3]uint32{0, unix.O_ACCMODE}, eperm},
			{amd64, unix.SYS_OPENAT, [3]uint32{0, 0, unix.O_TRUNC | unix.O_CREAT | unix.O_WRONLY}, allow}, // which Landlock judges
			{amd64, unix.SYS_FCNTL, [3]uint32{0, unix.F_SETFL}, allow},
			{amd64, unix.SYS_FCNTL, [3]uint32{0, unix.F_SETOWN}, eperm},
			{amd64, unix.SYS_PRLIMIT64, [3]uint32{}, allow},
			{amd64, unix.SYS_PRLIMIT64, [3]uint32{pid}, eperm},
		} {
			if got := ask(t, vm, c.machine, c.number, c.args); got != c.want {
				t.Errorf("version %d, machine %#x, call %d %v: %#x, want %#x", version, c.machine, c.number, c.args, got, c.want)
			}
		}
		for number := range uint32(1000) {
			_, judged := bounded(pid, version)[number]
			want := eperm
			switch {
			case judged && slices.Contains(harmless, number):
				t.Errorf("call %d is both permitted and bounded", number)
				continue
			case judged:
				continue
			case slices.Contains(harmless, number):
				want = allow
			case number >= newCalls:
				want = esys
			case number >= unix.SYS_SETXATTR && number <= unix.SYS_FREMOVEXATTR:
				want = none
			}
			if got := ask(t, vm, amd64, number, [3]uint32{}); got != want {
				t.Errorf("version %d, call %d: %#x, want %#x", version, number, got, want)
			}
		}
	}
}

// filterVM returns the filter of a version of Landlock, to be executed.
func filterVM(t *testing.T, version int) *bpf.VM {
	t.Helper()
	var program []bpf.Instruction
	for _, s := range filterFor(4711, version) {
		program = append(program, bpf.RawInstruction{Op: s.Code, Jt: s.Jt, Jf: s.Jf, K: s.K}.Disassemble())
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	return vm
}

// ask returns what the filter says. Its input is a struct seccomp_data, in the byte
// order of networks, as bpf.VM has it.
func ask(t *testing.T, vm *bpf.VM, machine, number uint32, args [3]uint32) uint32 {
	t.Helper()
	var data [64]byte
	binary.BigEndian.PutUint32(data[0:], number)
	binary.BigEndian.PutUint32(data[4:], machine)
	for i, a := range args {
		binary.BigEndian.PutUint32(data[16+8*i:], a)
	}
	got, err := vm.Run(data[:])
	if err != nil {
		t.Fatal(err)
	}
	return uint32(got)
}
