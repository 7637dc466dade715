package rv64

import (
	"io"
	"maps"
	"slices"
)

// fileState is an open file in a snapshot; Kind determines which fields are used.
type fileState struct {
	Kind string // one of those below

	Name   int    // of a stream: 0, 1 or 2
	Taken  uint64 // bytes read from a stream
	Path   string // of a device or a file
	Flags  uint64 // flags with which a file was opened
	Offset int64  // in a file
	Listed bool   // of a folder: some entries were listed, up to Next
	Next   int
	Size   int64 // of a file that is only read, to detect a change
	Time   int64 // of its last modification, in nanoseconds

	Pipe             int // of a pipe's end: the pipe's number
	Writer           bool
	Data             []byte // in the pipe
	Readers, Writers bool   // is the end open?
	Count            uint64 // of an event counter
	Semaphore        bool
	Watched          []watchState // by an epoll
}

const (
	kindStream = "stream"
	kindDevice = "device"
	kindFile   = "file"
	kindPipe   = "pipe"
	kindEvent  = "event"
	kindEpoll  = "epoll"
)

type watchState struct {
	FD     uint64
	File   int
	Events uint32
	Data   uint64
	Seen   uint32
	Off    bool
}

type descriptorState struct {
	FD      uint64
	File    int
	Flags   uint64
	Cloexec bool
}

// save adds the open files to a snapshot's state, in the order of the
// descriptors.
func (t *fileTable) save(st *snapshotState) error {
	st.Cwd = t.cwd
	var files []file
	pipes := make(map[*pipe]int)
	for _, fd := range slices.Sorted(maps.Keys(t.open)) {
		d := t.open[fd]
		i := slices.Index(files, d.file)
		if i < 0 {
			i = len(files)
			files = append(files, d.file)
			f, err := stateOf(d, pipes)
			if err != nil {
				return err
			}
			st.Files = append(st.Files, f)
		}
		st.Descriptors = append(st.Descriptors, descriptorState{fd, i, d.flags, d.cloexe})
	}
	for i, f := range files {
		e, ok := f.(*epoll)
		if !ok {
			continue
		}
		for _, n := range e.entries {
			if t.get(n.fd) == n.file { // else it was closed
				st.Files[i].Watched = append(st.Files[i].Watched,
					watchState{n.fd, slices.Index(files, n.file), n.events, n.data, n.seen, n.off})
			}
		}
	}
	return nil
}

func stateOf(d *descriptor, pipes map[*pipe]int) (fileState, error) {
	switch f := d.file.(type) {
	case *stream:
		return fileState{Kind: kindStream, Name: f.name, Taken: f.taken}, nil
	case *device:
		return fileState{Kind: kindDevice, Path: f.name}, nil
	case *pipeEnd:
		if _, seen := pipes[f.p]; !seen {
			pipes[f.p] = len(pipes)
		}
		return fileState{
			Kind: kindPipe, Pipe: pipes[f.p], Writer: f.writer,
			Data: f.p.data, Readers: f.p.readers, Writers: f.p.writers,
		}, nil
	case *eventFD:
		return fileState{Kind: kindEvent, Count: f.count, Semaphore: f.semaphore}, nil
	case *epoll:
		return fileState{Kind: kindEpoll}, nil
	case *hostFile:
		return f.state(d.flags)
	}
	return fileState{}, badSnapshot("an open file of type %T cannot be saved", d.file)
}

func (h *hostFile) state(flags uint64) (fileState, error) {
	s := fileState{Kind: kindFile, Path: h.guest, Flags: flags, Listed: h.listed, Next: h.next}
	if h.append {
		s.Flags |= oAppend
	}
	info, err := h.f.Stat()
	if err != nil {
		return s, badSnapshot("file %s: %v", h.guest, err)
	}
	if info.IsDir() {
		return s, nil
	}
	if s.Offset, err = h.f.Seek(0, io.SeekCurrent); err != nil {
		return s, badSnapshot("file %s: %v", h.guest, err)
	}
	if flags&oAccess == 0 {
		s.Size, s.Time = info.Size(), info.ModTime().UnixNano()
	}
	return s, nil
}

// restore opens a snapshot's files again.
func (t *fileTable) restore(m *machine, st *snapshotState) error {
	for fd := range t.open { // the standard streams of a fresh start
		t.drop(fd)
	}
	t.cwd = st.Cwd
	files := make([]file, len(st.Files))
	shared := make([]*int, len(st.Files))
	pipes := make(map[int]*pipe)
	for i := range st.Files {
		f, err := st.Files[i].open(m, pipes)
		if err != nil {
			return err
		}
		files[i], shared[i] = f, new(int)
	}
	for _, d := range st.Descriptors {
		t.open[d.FD] = &descriptor{files[d.File], shared[d.File], d.Flags, d.Cloexec}
		*shared[d.File]++
	}
	for i, s := range st.Files {
		for _, w := range s.Watched {
			e := files[i].(*epoll)
			e.entries = append(e.entries, epollEntry{w.FD, files[w.File], w.Events, w.Data, w.Seen, w.Off})
		}
	}
	return nil
}

func (s *fileState) open(m *machine, pipes map[int]*pipe) (file, error) {
	switch s.Kind {
	case kindStream:
		f := standard(&m.opt, &m.files.output)[s.Name]
		f.taken = s.Taken
		if f.r != nil && s.Taken > 0 {
			if _, err := io.CopyN(io.Discard, f.r, int64(s.Taken)); err != nil {
				return nil, badSnapshot("standard input ends before the %d bytes that had been read: %v", s.Taken, err)
			}
		}
		return f, nil
	case kindPipe:
		p := pipes[s.Pipe]
		if p == nil {
			p = &pipe{data: slices.Clone(s.Data), readers: s.Readers, writers: s.Writers}
			pipes[s.Pipe] = p
		}
		return &pipeEnd{p: p, writer: s.Writer}, nil
	case kindEvent:
		return &eventFD{count: s.Count, semaphore: s.Semaphore}, nil
	case kindEpoll:
		return &epoll{}, nil
	case kindDevice:
		if f := m.device(s.Path); f != nil {
			return f, nil
		}
	case kindFile:
		return s.reopen(m)
	}
	return nil, badSnapshot("no file %q of kind %q", s.Path, s.Kind)
}

// reopen opens a granted file in its saved state.
func (s *fileState) reopen(m *machine) (file, error) {
	mt, rel := m.files.find(s.Path)
	if mt == nil || s.Flags&oAccess != 0 && !mt.write {
		return nil, badSnapshot("no grant holds the open file %s", s.Path)
	}
	f, err := mt.root.OpenFile(rel, hostFlags(s.Flags&(oAccess|oAppend)), 0)
	if err != nil {
		return nil, badSnapshot("file %s: %v", s.Path, err)
	}
	h := &hostFile{f: f, guest: s.Path, mount: mt, append: s.Flags&oAppend != 0}
	if err := s.position(h); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

func (s *fileState) position(h *hostFile) error {
	info, err := h.f.Stat()
	if err != nil {
		return badSnapshot("file %s: %v", s.Path, err)
	}
	if info.IsDir() {
		if s.Listed {
			if e := h.list(); e != 0 {
				return badSnapshot("folder %s cannot be listed", s.Path)
			}
			h.next = min(s.Next, len(h.entries)+2)
		}
		return nil
	}
	if s.Flags&oAccess == 0 && (info.Size() != s.Size || info.ModTime().UnixNano() != s.Time) {
		return badSnapshot("file %s has changed since", s.Path)
	}
	if _, err := h.f.Seek(s.Offset, io.SeekStart); err != nil {
		return badSnapshot("file %s: %v", s.Path, err)
	}
	return nil
}
