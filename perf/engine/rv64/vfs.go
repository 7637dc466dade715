package rv64

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"presage/perf/engine"
)

// maxFiles bounds the guest's open files.
const maxFiles = 1024

// file is what a descriptor refers to. Methods return a positive error number.
type file interface {
	read(p []byte) (int, int64)
	write(p []byte) (int, int64)
	readAt(p []byte, off int64) (int, int64)
	writeAt(p []byte, off int64) (int, int64)
	seek(off int64, whence int) (int64, int64)
	stat() (fileStat, int64)
	// ready reports whether a read and a write would not block.
	ready() (in, out bool)
	close()
}

// fileStat is the metadata that the guest sees of a file.
type fileStat struct {
	mode  uint32 // including the type
	ino   uint64
	size  int64
	mtime int64 // nanoseconds
}

// File types in a mode.
const (
	modePipe = 0o010000
	modeChar = 0o020000
	modeDir  = 0o040000
	modeFile = 0o100000
)

// noFile is embedded for the methods that a type of file does not support.
type noFile struct{}

func (noFile) read([]byte) (int, int64)           { return 0, eINVAL }
func (noFile) write([]byte) (int, int64)          { return 0, eINVAL }
func (noFile) readAt([]byte, int64) (int, int64)  { return 0, eSPIPE }
func (noFile) writeAt([]byte, int64) (int, int64) { return 0, eSPIPE }
func (noFile) seek(int64, int) (int64, int64)     { return 0, eSPIPE }
func (noFile) stat() (fileStat, int64)            { return fileStat{mode: modePipe | 0o600, ino: 1}, 0 }
func (noFile) ready() (bool, bool)                { return true, true }
func (noFile) close()                             {}

// stream is a standard stream.
type stream struct {
	noFile
	r     io.Reader
	w     io.Writer
	name  int    // 0, 1 or 2: its original descriptor
	taken uint64 // bytes read
	limit *outputLimit
}

// outputLimit bounds what the program writes to both output streams.
type outputLimit struct {
	most    uint64 // 0: no limit
	written uint64
	reached bool
}

func (s *stream) read(p []byte) (int, int64) {
	if s.r == nil || len(p) == 0 {
		return 0, 0
	}
	for {
		n, err := s.r.Read(p)
		switch {
		case n > 0:
			s.taken += uint64(n)
			return n, 0
		case errors.Is(err, io.EOF):
			return 0, 0
		case err != nil:
			return 0, eIO
		}
	}
}

func (s *stream) write(p []byte) (int, int64) {
	if l := s.limit; l != nil && l.most > 0 {
		if room := l.most - l.written; uint64(len(p)) > room {
			l.reached = true
			p = p[:room]
		}
		l.written += uint64(len(p))
	}
	if s.w == nil || len(p) == 0 {
		return len(p), 0
	}
	n, err := s.w.Write(p)
	if err != nil && n == 0 {
		return 0, errno(err)
	}
	return n, 0
}

// device is /dev/null, /dev/zero or /dev/urandom.
type device struct {
	noFile
	name string
	fill func(p []byte) int
}

func (d *device) read(p []byte) (int, int64)            { return d.fill(p), 0 }
func (d *device) readAt(p []byte, _ int64) (int, int64) { return d.fill(p), 0 }
func (d *device) write(p []byte) (int, int64)           { return len(p), 0 }
func (d *device) seek(int64, int) (int64, int64)        { return 0, 0 }
func (d *device) stat() (fileStat, int64)               { return fileStat{mode: modeChar | 0o666, ino: 2}, 0 }

// hostFile is a file or folder inside a grant.
type hostFile struct {
	noFile
	f       *os.File
	guest   string
	mount   *mount // whose quota its writes use
	append  bool
	entries []fs.DirEntry // of a folder, read all at once
	next    int
	listed  bool
}

// errno translates a host's error.
func errno(err error) int64 {
	var e syscall.Errno
	switch {
	case err == nil:
		return 0
	case errors.Is(err, fs.ErrNotExist):
		return eNOENT
	case errors.Is(err, fs.ErrExist):
		return eEXIST
	case errors.Is(err, fs.ErrPermission):
		return eACCES
	case errors.As(err, &e):
		switch e {
		case syscall.EISDIR:
			return eISDIR
		case syscall.ENOTDIR:
			return eNOTDIR
		case syscall.ENOTEMPTY:
			return eNOTEMPTY
		case syscall.EINVAL:
			return eINVAL
		case syscall.EBADF:
			return eBADF
		case syscall.EPIPE:
			return ePIPE
		case syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG:
			return eNOSPC
		case syscall.ENAMETOOLONG:
			return eNAMETOOLONG
		case syscall.ELOOP:
			return eLOOP
		case syscall.EPERM:
			return ePERM
		}
		return eIO
	case strings.Contains(err.Error(), "path escapes"):
		return eACCES // os.Root has no exported error for it
	}
	return eIO
}

func (h *hostFile) read(p []byte) (int, int64) {
	n, err := h.f.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, errno(err)
	}
	return n, 0
}

func (h *hostFile) write(p []byte) (int, int64) {
	var at int64
	if !h.append {
		var err error
		if at, err = h.f.Seek(0, io.SeekCurrent); err != nil {
			return 0, errno(err)
		}
	}
	if e := h.spend(at, len(p)); e != 0 {
		return 0, e
	}
	n, err := h.f.Write(p)
	if err != nil && n == 0 {
		return 0, errno(err)
	}
	return n, 0
}

func (h *hostFile) readAt(p []byte, off int64) (int, int64) {
	n, err := h.f.ReadAt(p, off)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, errno(err)
	}
	return n, 0
}

func (h *hostFile) writeAt(p []byte, off int64) (int, int64) {
	if h.append {
		return h.write(p)
	}
	if e := h.spend(off, len(p)); e != 0 {
		return 0, e
	}
	n, err := h.f.WriteAt(p, off)
	if err != nil && n == 0 {
		return 0, errno(err)
	}
	return n, 0
}

func (h *hostFile) seek(off int64, whence int) (int64, int64) {
	n, err := h.f.Seek(off, whence)
	if err == nil && n == 0 {
		h.listed, h.next = false, 0
	}
	return n, errno(err)
}

func (h *hostFile) stat() (fileStat, int64) {
	info, err := h.f.Stat()
	if err != nil {
		return fileStat{}, errno(err)
	}
	return statOf(info, h.guest), 0
}

func (h *hostFile) close() { _ = h.f.Close() } // the guest cannot be told of an error any more

func statOf(info fs.FileInfo, guest string) fileStat {
	s := fileStat{mode: modeFile | uint32(info.Mode().Perm()), size: info.Size(), mtime: info.ModTime().UnixNano()}
	if info.IsDir() {
		s.mode = modeDir | uint32(info.Mode().Perm())
	}
	s.ino = statInode(guest)
	return s
}

// statInode derives an inode number from a guest path (FNV-1a): the host's own
// would differ between hosts.
func statInode(guest string) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range []byte(guest) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h >> 1
}

// spend takes n bytes that are written at an offset from the quota, and the gap that
// they leave behind the end of the file.
func (h *hostFile) spend(off int64, n int) int64 {
	cost := uint64(n)
	if !h.append && n > 0 {
		info, err := h.f.Stat()
		if err != nil {
			return errno(err)
		}
		cost += uint64(max(0, off-info.Size()))
	}
	if !h.mount.spend(cost) {
		return eNOSPC
	}
	return 0
}

// resize changes the file's size. Growth counts as written.
func (h *hostFile) resize(size int64) int64 {
	info, err := h.f.Stat()
	if err != nil {
		return errno(err)
	}
	if growth := size - info.Size(); growth > 0 && !h.mount.spend(uint64(growth)) {
		return eNOSPC
	}
	return errno(h.f.Truncate(size))
}

// mount is a grant in use.
type mount struct {
	guest   string
	root    *os.Root
	write   bool
	devices bool
	quota   uint64 // bytes that may still be written
	full    bool   // a write was refused
}

// spend takes n bytes from the quota and reports whether it had as many.
func (m *mount) spend(n uint64) bool {
	if n > m.quota {
		m.full = true
		return false
	}
	m.quota -= n
	return true
}

// descriptor is an entry of the file table. Copies made by dup share the file.
type descriptor struct {
	file   file
	shared *int // descriptors that refer to the file
	flags  uint64
	cloexe bool
}

// fileTable holds the guest's descriptors and its view of the file system.
type fileTable struct {
	open    map[uint64]*descriptor
	mounts  []mount
	cwd     string
	output  outputLimit
	refused []engine.RefusedFile
}

// maxRefused bounds the list of files that could not be opened.
const maxRefused = 64

// refuse records that the program was not allowed to open a file.
func (t *fileTable) refuse(name, reason string) {
	if strings.HasPrefix(name, "/proc/") || strings.HasPrefix(name, "/sys/") {
		return // runtimes look there, and manage without
	}
	for i := range t.refused {
		if r := &t.refused[i]; r.Path == name && r.Reason == reason {
			r.Count++
			return
		}
	}
	if len(t.refused) < maxRefused {
		t.refused = append(t.refused, engine.RefusedFile{Path: name, Reason: reason, Count: 1})
	}
}

func newFileTable(opt *options) (*fileTable, error) {
	t := &fileTable{open: make(map[uint64]*descriptor), cwd: "/", output: outputLimit{most: opt.OutputLimit}}
	for i, g := range opt.Grants {
		root, err := os.OpenRoot(g.Host)
		if err != nil {
			t.close()
			return nil, fmt.Errorf("rv64: grant of %s: %w", g.Host, err)
		}
		t.mounts = append(t.mounts, mount{guest: path.Clean(g.Guest), root: root, write: g.Write, devices: g.Devices, quota: cmp.Or(g.Quota, engine.DefaultQuota)})
		if i == 0 {
			t.cwd = path.Clean(g.Guest)
		}
	}
	for i, s := range standard(opt, &t.output) {
		t.add(s, bit(i > 0))
	}
	return t, nil
}

// standard makes the three standard streams.
func standard(opt *options, limit *outputLimit) [3]*stream {
	return [3]*stream{{name: 0, r: opt.Stdin}, {name: 1, w: opt.Stdout, limit: limit}, {name: 2, w: opt.Stderr, limit: limit}}
}

func (t *fileTable) close() {
	for fd := range t.open {
		t.drop(fd)
	}
	for _, m := range t.mounts {
		_ = m.root.Close() // read-only handle of a folder
	}
}

// get returns the file of a descriptor, nil if it is not open.
func (t *fileTable) get(fd uint64) file {
	if d := t.open[fd&0xffffffff]; d != nil {
		return d.file
	}
	return nil
}

// add assigns the lowest free descriptor to f and returns it, or a negated error
// number.
func (t *fileTable) add(f file, flags uint64) int64 {
	return t.addFrom(&descriptor{file: f, shared: new(int), flags: flags}, 0)
}

func (t *fileTable) addFrom(d *descriptor, least uint64) int64 {
	for fd := least; fd < maxFiles; fd++ {
		if t.open[fd] == nil {
			t.open[fd] = d
			*d.shared++
			return int64(fd)
		}
	}
	if *d.shared == 0 {
		d.file.close()
	}
	return -eMFILE
}

func (t *fileTable) drop(fd uint64) bool {
	d := t.open[fd]
	if d == nil {
		return false
	}
	delete(t.open, fd)
	if *d.shared--; *d.shared == 0 {
		d.file.close()
	}
	return true
}

// resolve makes a guest path absolute.
func (t *fileTable) resolve(dirFD uint64, name string) (string, int64) {
	const atFDCWD = -100
	if name == "" {
		return "", eNOENT
	}
	if path.IsAbs(name) {
		return path.Clean(name), 0
	}
	if int32(dirFD) == atFDCWD {
		return path.Join(t.cwd, name), 0
	}
	h, ok := t.get(dirFD).(*hostFile)
	if !ok {
		return "", eBADF
	}
	return path.Join(h.guest, name), 0
}

// find returns the grant that contains a path, and the path within it.
func (t *fileTable) find(name string) (*mount, string) {
	var best *mount
	for i := range t.mounts {
		m := &t.mounts[i]
		inside := name == m.guest || m.guest == "/" || strings.HasPrefix(name, m.guest+"/")
		if inside && (best == nil || len(m.guest) > len(best.guest)) {
			best = m
		}
	}
	if best == nil {
		return nil, ""
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(name, best.guest), "/")
	if rel == "" {
		rel = "."
	}
	return best, rel
}
