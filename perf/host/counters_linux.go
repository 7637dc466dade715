package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// event is a hardware event that Linux can count.
type event struct {
	kind   uint32
	config uint64
}

// hardwareEvents are the events of Counts, in its order.
var hardwareEvents = []event{
	{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES},
	{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS},
	{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CACHE_MISSES},
	{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_BRANCH_MISSES},
}

// counterSet is open counters of a thread and of the processes that it starts.
type counterSet struct{ fds []int }

// openCounters opens counters that start in a process started by this thread,
// once it executes a program.
func openCounters(events []event) (*counterSet, error) {
	set := new(counterSet)
	for _, e := range events {
		attr := unix.PerfEventAttr{
			Type: e.kind, Config: e.config, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
			Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
			Bits:        unix.PerfBitDisabled | unix.PerfBitInherit | unix.PerfBitEnableOnExec | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
		}
		const thisThread, anyProcessor, noGroup = 0, -1, -1
		fd, err := unix.PerfEventOpen(&attr, thisThread, anyProcessor, noGroup, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			set.close()
			return nil, whyNoCounters(err)
		}
		set.fds = append(set.fds, fd)
	}
	return set, nil
}

func whyNoCounters(err error) error {
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV):
		return fmt.Errorf("no hardware counters: this processor, or the virtual machine that it is in, shows none (%w)", err)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return fmt.Errorf("no hardware counters: not permitted (%w); see /proc/sys/kernel/perf_event_paranoid", err)
	case errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("no hardware counters: this system has no perf_event_open (%w)", err)
	}
	return fmt.Errorf("no hardware counters: %w", err)
}

// read returns the counts, and the least share of the time in which an event
// was counted, from which counts are extrapolated.
func (s *counterSet) read() (values []float64, running float64, err error) {
	running = 1
	for _, fd := range s.fds {
		var data [24]byte
		if n, err := unix.Read(fd, data[:]); err != nil || n != len(data) {
			return nil, 0, fmt.Errorf("no hardware counters: %d bytes of %d were read, error %v", n, len(data), err)
		}
		value, enabled, ran := binary.NativeEndian.Uint64(data[:]), binary.NativeEndian.Uint64(data[8:]), binary.NativeEndian.Uint64(data[16:])
		if ran == 0 {
			return nil, 0, errors.New("no hardware counters: an event never had one; other programs use them all")
		}
		share := float64(ran) / float64(enabled)
		values, running = append(values, float64(value)/share), min(running, share)
	}
	return values, running, nil
}

func (s *counterSet) close() {
	for _, fd := range s.fds {
		_ = unix.Close(fd) // opened for reading
	}
}
