package rv64

import (
	"path"
	"slices"

	"presage/perf/trace"
)

// maxExecuted bounds counts and times in a snapshot, so that their sums do not
// wrap: a century of instructions.
const maxExecuted = 1 << 62

// check returns an error if the state is impossible: snapshots are untrusted. A
// state that passes may still be unreachable; the guest then misbehaves within
// its bounds.
func (s *Snapshot) check() error {
	st := &s.state
	switch {
	case st.Memory < minMemory || st.Memory > trace.AddrLimit || st.Memory%pageBytes != 0:
		return badSnapshot("an address space of %d bytes", st.Memory)
	case st.Executed > maxExecuted || st.Idle > maxExecuted || st.TurnEnd > st.Executed+quantum:
		return badSnapshot("its clock shows %d instructions, %d ns idle, a turn up to %d", st.Executed, st.Idle, st.TurnEnd)
	case st.MmapTop > st.Memory || st.BrkStart > st.BrkEnd || st.BrkEnd > st.BrkMax || st.BrkMax > st.Memory || st.BrkStart%pageBytes != 0 || st.BrkMax%pageBytes != 0:
		return badSnapshot("its memory's bounds are out of order")
	case len(st.Unknown) > maxUnknown+1:
		return badSnapshot("%d unknown system calls", len(st.Unknown))
	}
	for _, check := range []func() error{st.checkThreads, st.checkSignals, st.checkFiles, s.checkMemory} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// pollingCalls returns the system calls that wait by polling: read, write, readv,
// writev, epoll_pwait, pselect6, ppoll, rt_sigtimedwait, epoll_pwait2.
func pollingCalls() []uint64 { return []uint64{63, 64, 65, 66, 22, 72, 73, 137, 441} }

func (st *snapshotState) checkThreads() error {
	n := len(st.Threads)
	if n == 0 || n > maxThreads || st.Current < 0 || st.Current >= n || st.Created < n || st.NextID < firstID+n {
		return badSnapshot("thread %d of %d, of %d created, has its turn", st.Current, n, st.Created)
	}
	ids := make(map[int]bool)
	for i := range st.Threads {
		t := &st.Threads[i]
		if ids[t.ID] || t.ID < firstID || t.ID >= st.NextID || t.Index < 0 || int(t.Index) >= st.Created {
			return badSnapshot("thread %d has number %d, id %d", i, t.Index, t.ID)
		}
		ids[t.ID] = true
		if t.Flags > 31 || t.Mode > 7 || t.X[0] != 0 {
			return badSnapshot("thread %d has registers that cannot be", i)
		}
		if t.Polls && (!t.Blocked || !slices.Contains(pollingCalls(), t.CallNumber)) {
			return badSnapshot("thread %d polls in system call %d", i, t.CallNumber)
		}
		if t.CallAt > maxExecuted || !t.Blocked && t.Deadline != never {
			return badSnapshot("thread %d waits from %d until %d", i, t.CallAt, t.Deadline)
		}
	}
	waits := make(map[int]bool)
	for _, w := range st.Waits {
		if w.Thread < 0 || w.Thread >= n || waits[w.Thread] || !st.Threads[w.Thread].Blocked {
			return badSnapshot("thread %d waits in two lines, or in none", w.Thread)
		}
		waits[w.Thread] = true
	}
	return nil
}

func (st *snapshotState) checkSignals() error {
	if len(st.Actions) != signals+1 {
		return badSnapshot("%d signal actions", len(st.Actions))
	}
	if n := len(st.Timers); n > 0 && n < itimers || n > itimers+maxTimers {
		return badSnapshot("%d timers", n)
	}
	for i, t := range st.Timers {
		if t.Made && (t.Signal < 1 || t.Signal > signals) || !t.Made && t.Next != never || t.Interval > maxExecuted || t.Next != never && t.Next > maxExecuted {
			return badSnapshot("timer %d of signal %d expires at %d, then every %d ns", i, t.Signal, t.Next, t.Interval)
		}
	}
	for i := range st.Threads {
		if len(st.Threads[i].Pending) > maxPending {
			return badSnapshot("%d pending signals of thread %d", len(st.Threads[i].Pending), i)
		}
		for _, p := range st.Threads[i].Pending {
			if p.Number < 1 || p.Number > signals {
				return badSnapshot("pending signal %d", p.Number)
			}
		}
	}
	return nil
}

func (st *snapshotState) checkFiles() error {
	if len(st.Files) > maxFiles || len(st.Descriptors) > maxFiles || !path.IsAbs(st.Cwd) {
		return badSnapshot("%d files, %d descriptors in folder %q", len(st.Files), len(st.Descriptors), st.Cwd)
	}
	used := make([]bool, len(st.Files))
	for i, d := range st.Descriptors {
		if d.FD >= maxFiles || i > 0 && d.FD <= st.Descriptors[i-1].FD || d.File < 0 || d.File >= len(st.Files) {
			return badSnapshot("descriptor %d of file %d", d.FD, d.File)
		}
		used[d.File] = true
	}
	for i := range st.Files {
		f := &st.Files[i]
		if !used[i] || f.Name < 0 || f.Name > 2 || f.Taken > maxExecuted || f.Next < 0 || f.Offset < 0 || len(f.Data) > pipeBytes {
			return badSnapshot("file %d of kind %q", i, f.Kind)
		}
		if len(f.Watched) > 0 && f.Kind != kindEpoll {
			return badSnapshot("file %d of kind %q watches others", i, f.Kind)
		}
		for _, w := range f.Watched {
			if w.File < 0 || w.File >= len(st.Files) {
				return badSnapshot("file %d watches file %d", i, w.File)
			}
		}
	}
	return nil
}

func (s *Snapshot) checkMemory() error {
	var end uint64
	next := 0
	for _, r := range s.state.Regions {
		pages := s.state.Memory / pageBytes
		if r.Start < max(end, 1) || r.Pages == 0 || r.Start > pages || r.Pages > pages-r.Start {
			return badSnapshot("%d pages of memory at page %d", r.Pages, r.Start)
		}
		end = r.Start + r.Pages
		valid := r.Perm&pageMapped != 0 && r.Perm < pageUsed<<1 && (r.Perm&pageAccess == 0 || r.Perm&(pageRead|pageUsed) == pageRead|pageUsed)
		if !valid {
			return badSnapshot("page %d has permissions %#x", r.Start, r.Perm)
		}
		for ; next < len(s.pages) && s.pages[next].number < end; next++ {
			if s.pages[next].number < r.Start || r.Perm&pageUsed == 0 {
				return badSnapshot("page %d has contents and is not mapped", s.pages[next].number)
			}
		}
	}
	if next < len(s.pages) {
		return badSnapshot("page %d has contents and is not mapped", s.pages[next].number)
	}
	return nil
}
