package rv64

import (
	"bufio"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"presage/perf/engine"
)

// Snapshot is the state of a program between two instructions: memory, threads,
// signals, waits, descriptors, clock, random number state and the position in the
// threads' turns. It holds the memory compressed and is immutable: several runs
// may resume from it concurrently.
//
// It does not hold earlier output to files and the standard streams: a resumed run
// expects granted files as they were, and writes only the later output.
type Snapshot struct {
	state snapshotState
	pages []snapshotPage
}

// snapshotPage is a page with nonzero contents.
type snapshotPage struct {
	number uint64
	data   []byte // DEFLATE (RFC 1951)
}

// Instructions returns the number of instructions executed so far.
func (s *Snapshot) Instructions() uint64 { return s.state.Executed }

var _ engine.Snapshot = (*Snapshot)(nil)

// resumption returns the snapshot that a run resumes from, or nil if the run starts
// from the beginning.
func resumption(s engine.Snapshot) (*Snapshot, error) {
	if s == nil {
		return nil, nil
	}
	own, ok := s.(*Snapshot)
	if !ok || own == nil {
		return nil, badSnapshot("it is a %T of another engine", s)
	}
	return own, nil
}

func badSnapshot(format string, args ...any) error {
	return fmt.Errorf("rv64: snapshot: %s: %w", fmt.Sprintf(format, args...), engine.ErrSnapshot)
}

// A snapshot file, numbers little-endian:
//
//	"presage rv64 snapshot\n"
//	version                          uint32
//	size of the state                uint32
//	state                            JSON
//	number of pages                  uint32
//	a page each, by ascending number:
//	  page number                    uint32
//	  size of the data, 1 to 8192    uint16
//	  data                           DEFLATE
//	SHA-256 of everything before     32 bytes
const (
	snapshotMagic   = "presage rv64 snapshot\n"
	snapshotVersion = 1

	// maxState bounds the state: 4096 threads of about 2 KiB, their signals,
	// 1024 descriptors.
	maxState = 64 << 20
	// maxPageData is above the size of any page after DEFLATE.
	maxPageData = 2 * pageBytes
)

// WriteTo implements io.WriterTo. For an atomic update of a file, write to a
// temporary one and rename it.
func (s *Snapshot) WriteTo(w io.Writer) (int64, error) {
	state, err := json.Marshal(&s.state)
	if err != nil {
		return 0, fmt.Errorf("rv64: snapshot: %w", err)
	}
	if len(state) > maxState {
		return 0, badSnapshot("a state of %d bytes; at most %d are possible", len(state), maxState)
	}
	sum := sha256.New()
	out := &countingWriter{w: bufio.NewWriter(w), sum: sum}
	head := append([]byte(snapshotMagic), make([]byte, 8)...)
	binary.LittleEndian.PutUint32(head[len(snapshotMagic):], snapshotVersion)
	binary.LittleEndian.PutUint32(head[len(snapshotMagic)+4:], uint32(len(state)))
	out.write(head)
	out.write(state)
	out.write(binary.LittleEndian.AppendUint32(nil, uint32(len(s.pages))))
	for _, p := range s.pages {
		b := binary.LittleEndian.AppendUint32(nil, uint32(p.number))
		out.write(binary.LittleEndian.AppendUint16(b, uint16(len(p.data))))
		out.write(p.data)
	}
	out.write(sum.Sum(nil))
	if out.err == nil {
		out.err = out.w.Flush()
	}
	if out.err != nil {
		return out.n, fmt.Errorf("rv64: snapshot: %w", out.err)
	}
	return out.n, nil
}

// countingWriter counts and hashes the bytes written and keeps the first error.
type countingWriter struct {
	w   *bufio.Writer
	sum hash.Hash
	n   int64
	err error
}

func (c *countingWriter) write(p []byte) {
	if c.err != nil {
		return
	}
	c.sum.Write(p) // never fails
	var n int
	n, c.err = c.w.Write(p)
	c.n += int64(n)
}

// readSnapshot reads a snapshot written by WriteTo.
func readSnapshot(r io.Reader) (*Snapshot, error) {
	in := &snapshotReader{r: bufio.NewReader(r), sum: sha256.New()}
	s, err := in.read()
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = badSnapshot("it ends too early")
		}
		return nil, err
	}
	return s, nil
}

type snapshotReader struct {
	r   *bufio.Reader
	sum hash.Hash
}

// take reads n bytes. It allocates as data arrives, so that a false n costs no
// memory.
func (in *snapshotReader) take(n int) ([]byte, error) {
	var b bytes.Buffer
	if _, err := io.CopyN(&b, in.r, int64(n)); err != nil {
		return nil, err
	}
	in.sum.Write(b.Bytes()) // never fails
	return b.Bytes(), nil
}

func (in *snapshotReader) uint32() (uint32, error) {
	b, err := in.take(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (in *snapshotReader) read() (*Snapshot, error) {
	magic, err := in.take(len(snapshotMagic))
	if err != nil {
		return nil, err
	}
	if string(magic) != snapshotMagic {
		return nil, badSnapshot("it begins with %q", magic)
	}
	version, err := in.uint32()
	if err != nil {
		return nil, err
	}
	if version != snapshotVersion {
		return nil, badSnapshot("its version is %d, not %d: take it anew", version, snapshotVersion)
	}
	size, err := in.uint32()
	if err != nil {
		return nil, err
	}
	if size > maxState {
		return nil, badSnapshot("a state of %d bytes; at most %d are possible", size, maxState)
	}
	state, err := in.take(int(size))
	if err != nil {
		return nil, err
	}
	s := new(Snapshot)
	if s.pages, err = in.pages(); err != nil {
		return nil, err
	}
	want := in.sum.Sum(nil)
	got, err := in.take(sha256.Size)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(got, want) {
		return nil, badSnapshot("its checksum is wrong: it is damaged")
	}
	if _, err := in.r.ReadByte(); err == nil {
		return nil, badSnapshot("data follow its end")
	}
	dec := json.NewDecoder(bytes.NewReader(state))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s.state); err != nil {
		return nil, badSnapshot("its state: %v", err)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	return s, nil
}

func (in *snapshotReader) pages() ([]snapshotPage, error) {
	n, err := in.uint32()
	if err != nil {
		return nil, err
	}
	var pages []snapshotPage
	for range n {
		head, err := in.take(6)
		if err != nil {
			return nil, err
		}
		p := snapshotPage{number: uint64(binary.LittleEndian.Uint32(head))}
		size := int(binary.LittleEndian.Uint16(head[4:]))
		if size > maxPageData || len(pages) > 0 && p.number <= pages[len(pages)-1].number {
			return nil, badSnapshot("page %d of %d bytes makes no sense", p.number, size)
		}
		if p.data, err = in.take(size); err != nil {
			return nil, err
		}
		pages = append(pages, p)
	}
	return pages, nil
}

// pagePacker compresses pages.
type pagePacker struct {
	out bytes.Buffer
	w   *flate.Writer
}

func newPagePacker() *pagePacker {
	p := new(pagePacker)
	p.w, _ = flate.NewWriter(&p.out, flate.BestSpeed) // the level is valid
	return p
}

// pack returns a page compressed, or nil if it is all zero.
func (p *pagePacker) pack(page []byte) []byte {
	if allZero(page) {
		return nil
	}
	p.out.Reset()
	p.w.Reset(&p.out)
	// Writing to a bytes.Buffer does not fail.
	_, _ = p.w.Write(page)
	_ = p.w.Close()
	return bytes.Clone(p.out.Bytes())
}

func allZero(page []byte) bool {
	for i := 0; i < len(page); i += 8 {
		if binary.LittleEndian.Uint64(page[i:]) != 0 {
			return false
		}
	}
	return true
}

// unpack decompresses into a page of guest memory.
func (p *snapshotPage) unpack(dst []byte) error {
	r := flate.NewReader(bytes.NewReader(p.data))
	if _, err := io.ReadFull(r, dst); err != nil {
		return badSnapshot("page %d: %v", p.number, err)
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return badSnapshot("page %d holds more than %d bytes", p.number, pageBytes)
	}
	return nil
}
