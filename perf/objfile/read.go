package objfile

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"io"
	"os"
)

// MaxFileBytes is the size of the largest file that is accepted.
const MaxFileBytes = 1 << 30

// Open reads the executable at path.
func Open(path string) (*File, error) {
	f, err := open(path)
	if e := (*Error)(nil); errors.As(err, &e) {
		e.Path = path
	}
	if err != nil {
		return nil, err
	}
	f.Path = path
	return f, nil
}

func open(path string) (*File, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, refuse(ErrNotELF, "this is a directory: give an executable file")
	}
	if !info.Mode().IsRegular() {
		return nil, refuse(ErrNotELF, "this is not a regular file (%s): give an executable file", info.Mode().Type())
	}
	return Read(r, info.Size())
}

// Read reads an executable of size bytes from r.
func Read(r io.ReaderAt, size int64) (*File, error) {
	if size > MaxFileBytes {
		return nil, refuse(ErrTooLarge, "%d bytes; at most %d are read: strip the file", size, MaxFileBytes)
	}
	image, err := io.ReadAll(io.NewSectionReader(r, 0, max(size, 0)))
	if err != nil {
		return nil, err
	}
	if int64(len(image)) < size {
		return nil, refuse(ErrTruncated, "ends after %d of %d bytes: %s", len(image), size, rebuild)
	}
	return parse(image)
}

// parse does the work of Read. Before it calls debug/elf it checks everything
// that debug/elf does not bound.
func parse(image []byte) (*File, error) {
	h, err := readHeader(image)
	if err != nil {
		return nil, err
	}
	if err := h.checkSectionNames(image); err != nil {
		return nil, err
	}
	ef, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return nil, refuse(ErrMalformed, "%v: %s", err, rebuild)
	}
	sum := sha256.Sum256(image)
	f := &File{
		Target:    h.target,
		SHA256:    hex.EncodeToString(sum[:]),
		Entry:     h.entry,
		PIE:       h.kind == elf.ET_DYN,
		PHdrSize:  progHeaderSize,
		PHdrCount: uint16(h.phnum),
	}
	if f.Interpreter, err = checkLinking(ef, image, h.machine.Dynamic); err != nil {
		return nil, err
	}
	if f.Segments, err = readSegments(ef, image, h.target.AddressLimit); err != nil {
		return nil, err
	}
	f.PHdrAddr = progHeaderAddr(ef, h)
	if h.machine.Dynamic {
		if err := f.readDynamic(ef, image, h.machine); err != nil {
			return nil, err
		}
	}
	if err := f.checkEntry(); err != nil && !(h.machine.Dynamic && f.PIE && f.Entry == 0) {
		return nil, err
	}
	if f.Sections, err = f.readSections(ef); err != nil {
		return nil, err
	}
	f.frames = &frameTable{file: ef}
	pcln := readGoTable(ef, image)
	if f.Routines, err = f.readRoutines(ef, image, pcln); err != nil {
		return nil, err
	}
	f.lines = &lineTable{file: ef, pcln: pcln, code: executable(f.Sections)}
	f.inlines = &inlineTable{file: ef, pcln: pcln, code: f.lines.code}
	return f, nil
}

func (f *File) checkEntry() error {
	s := f.SegmentAt(f.Entry)
	switch {
	case f.Entry == 0 && s == nil:
		return refuse(ErrKind, "no entry point: this is a shared library or an incomplete link; %s", howToBuild)
	case s == nil || !s.Execute || f.Entry-s.Addr >= uint64(len(s.Data)):
		return refuse(ErrMalformed, "entry point %#x is not in the code of an executable segment: %s", f.Entry, rebuild)
	case !f.Target.Aligned(f.Entry):
		return refuse(ErrMalformed, "entry point %#x is not a multiple of %d: %s", f.Entry, f.Target.Align, rebuild)
	}
	return nil
}
