package rv64

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/objfile"
)

// Addresses in the executables that assemble makes.
const (
	testText = 0x10000
	testData = 0x1000000
)

// assemble makes a static executable from 4-byte instruction words (or halfwords
// that the caller packed) and data. The data segment is dataSize bytes.
func assemble(text []byte, data []byte, dataSize int) []byte {
	const headers = 64 + 2*56
	var b bytes.Buffer
	write := func(v any) {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	hdr := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_RISCV), Version: 1,
		Entry: testText + headers, Phoff: 64, Flags: 5, // RVC, double-float ABI
		Ehsize: 64, Phentsize: 56, Phnum: 2, Shentsize: 64,
	}
	copy(hdr.Ident[:], "\x7fELF\x02\x01\x01")
	write(hdr)
	textSize := uint64(headers + len(text))
	dataOff := pageUp(textSize)
	write(elf.Prog64{
		Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X),
		Vaddr: testText, Filesz: textSize, Memsz: textSize, Align: pageBytes,
	})
	write(elf.Prog64{
		Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_W), Off: dataOff,
		Vaddr: testData, Filesz: uint64(len(data)), Memsz: uint64(dataSize), Align: pageBytes,
	})
	b.Write(text)
	b.Write(make([]byte, dataOff-textSize))
	b.Write(data)
	return b.Bytes()
}

// asm assembles instructions.
type asm struct{ text []byte }

func (a *asm) word(w ...uint32) {
	for _, v := range w {
		a.text = binary.LittleEndian.AppendUint32(a.text, v)
	}
}

func (a *asm) half(h uint16) { a.text = binary.LittleEndian.AppendUint16(a.text, h) }

// set loads a constant of 32 bits, sign-extended.
func (a *asm) set(rd uint32, v int32) {
	hi := (v + 0x800) &^ 0xfff
	a.word(uint32(hi)|rd<<7|opcodeLUI, wordI(opcodeImm32, 0, rd, rd, v-hi))
}

// call makes a system call with its arguments in a0 and up.
func (a *asm) call(n int32) {
	a.set(regA7, n)
	a.word(opcodeSystem)
}

// finish writes n bytes at addr to standard output and exits with status 0.
func (a *asm) finish(addr, n int32) {
	a.set(regA0, 1)
	a.set(regA1, addr)
	a.set(regA2, n)
	a.call(64)
	a.set(regA0, 0)
	a.call(93)
}

func readFile(t testing.TB, image []byte) *objfile.File {
	t.Helper()
	f, err := objfile.Read(bytes.NewReader(image), int64(len(image)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// runGuest runs an executable on the engine and returns its output.
func runGuest(t testing.TB, f *objfile.File, opt options) (string, *result, error) {
	t.Helper()
	var out bytes.Buffer
	opt.Stdout = &out
	if opt.MaxInstructions == 0 {
		opt.MaxInstructions = 20e9
	}
	r, err := run(context.Background(), f, opt)
	return out.String(), r, err
}

const qemu = "qemu-riscv64"

// runQemu runs an executable on qemu, the reference.
func runQemu(t testing.TB, path string, args ...string) (out string, status int) {
	t.Helper()
	cmd := exec.Command(qemu, append([]string{"-cpu", "rv64,zba=true,zbb=true,zbc=true,zbs=true", path}, args...)...)
	var b bytes.Buffer
	cmd.Stdout = &b
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return b.String(), cmd.ProcessState.ExitCode()
}

// modes yields the modes available on this host, with their names.
func modes(tb testing.TB) iter.Seq2[string, Mode] {
	tb.Helper()
	return func(yield func(string, Mode) bool) {
		_ = yield("interp", Interpret) && (!hasJIT() || yield("jit", Translate))
	}
}

// hasJIT reports whether the host has a translator.
var hasJIT = sync.OnceValue(func() bool {
	j, err := newJIT(&machine{code: newCodeCache(nil, nil, 0)}, nil)
	if err != nil {
		return false
	}
	j.close()
	return true
})

// both runs an assembled program on qemu and on the engine in every mode. The
// modes must agree; both returns qemu's output and the engine's.
func both(t testing.TB, image []byte) (want, got string) {
	t.Helper()
	oracle.Need(t, qemu)
	path := filepath.Join(t.TempDir(), "guest")
	if err := os.WriteFile(path, image, 0o755); err != nil {
		t.Fatal(err)
	}
	want, status := runQemu(t, path)
	if status != 0 {
		t.Fatalf("qemu: exit status %d", status)
	}
	for name, mode := range modes(t) {
		out, r, err := runGuest(t, readFile(t, image), options{mode: mode, heat: 2})
		if err != nil || r.ExitCode != 0 {
			t.Fatalf("%s: exit status %d: %v", name, r.ExitCode, err)
		}
		if got != "" && out != got {
			t.Errorf("%s differs from the interpreter", name)
		}
		got = out
	}
	return want, got
}
