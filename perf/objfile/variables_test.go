package objfile

import (
	"debug/elf"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/internal/oracle"
)

// TestVariables: symbols of data, of which some overlap.
func TestVariables(t *testing.T) {
	m := newImage()
	m.names = "\x00whole\x00part\x00tail\x00alias\x00beyond\x00"
	object := func(name uint32, addr, size uint64, kind elf.SymType) elf.Sym64 {
		return elf.Sym64{Name: name, Info: elf.ST_INFO(elf.STB_LOCAL, kind), Shndx: 1, Value: addr, Size: size}
	}
	const whole, part, tail, alias, beyond = 1, 7, 12, 17, 23
	m.symbols = []elf.Sym64{
		{},
		object(tail, codeAddr+12, 8, elf.STT_OBJECT),
		object(whole, codeAddr, 16, elf.STT_OBJECT),
		object(part, codeAddr+4, 4, elf.STT_OBJECT),
		object(alias, codeAddr, 8, elf.STT_OBJECT),
		object(beyond, codeAddr+28, 8, elf.STT_OBJECT), // ends after the segment
		object(alias, codeAddr+24, 4, elf.STT_TLS),
		object(alias, codeAddr+24, 0, elf.STT_OBJECT),
	}
	f, err := readBytes(m.bytes(t))
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Variables()
	if err != nil {
		t.Fatal(err)
	}
	want := []Variable{{"whole", codeAddr, 12}, {"tail", codeAddr + 12, 8}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	m = newImage()
	m.symbols = append(m.symbols, object(1<<20, codeAddr, 8, elf.STT_OBJECT))
	if f, err = readBytes(m.bytes(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Variables(); err == nil {
		t.Error("a name beyond its table: no error")
	}
}

// TestVariablesOfPrograms compares with nm.
func TestVariablesOfPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	gcc, nm := oracle.Need(t, "riscv64-linux-gnu-gcc"), oracle.Need(t, "riscv64-linux-gnu-nm")
	exe := filepath.Join(t.TempDir(), "vars")
	source := "int table[100] = {1}; static double grid[3][5]; __thread int mine; long big[1 << 20];\n" +
		"int main(void) { return table[1] + (int)grid[1][2] + mine + (int)big[7]; }"
	cmd := exec.Command(gcc, "-O0", "-static", "-x", "c", "-o", exe, "-")
	cmd.Stdin = strings.NewReader(source)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	vars, err := f.Variables()
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]uint64)
	for _, v := range vars {
		found[v.Name] = v.Size
	}
	out, err := exec.Command(nm, "-S", "-t", "d", exe).Output()
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) != 4 || !strings.Contains("table grid big", fields[3]) {
			continue
		}
		checked++
		if got := found[fields[3]]; strings.TrimLeft(fields[1], "0") != fmt.Sprint(got) {
			t.Errorf("%s has %d bytes, by nm %s", fields[3], got, fields[1])
		}
	}
	if _, ok := found["mine"]; ok || checked != 3 {
		t.Errorf("%d variables compared; thread-local one found: %t", checked, ok)
	}
}
