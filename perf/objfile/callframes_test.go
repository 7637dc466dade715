package objfile

import (
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
)

// TestCallFramesAgainstReadelf compares every row of the table that readelf prints for
// programs by gcc and g++, with .eh_frame and with .debug_frame.
func TestCallFramesAgainstReadelf(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	gxx := oracle.Need(t, "riscv64-linux-gnu-g++")
	readelf := oracle.Need(t, "riscv64-linux-gnu-readelf")
	for _, flags := range [][]string{{"-O2"}, {"-O0", "-g", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-exceptions"}} {
		exe := filepath.Join(t.TempDir(), "program")
		args := append(flags, "-static", "-o", exe, "../engine/rv64/testdata/c/mix.c", "-lm", "-pthread", "-xc")
		if out, err := exec.Command(strings.Replace(gxx, "g++", "gcc", 1), args[:len(args)-1]...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		out, err := exec.Command(readelf, "--debug-dump=frames-interp", exe).Output()
		if err != nil {
			t.Fatal(err)
		}
		f, err := Open(exe)
		if err != nil {
			t.Fatal(err)
		}
		if n := compareFrames(t, f, string(out)); n < 1000 {
			t.Errorf("%v: %d rows compared", flags, n)
		}
	}
}

// compareFrames reads lines such as "000000000001067c sp+32    c-8   u" below their
// header "LOC CFA ra s0" and returns their number.
func compareFrames(t *testing.T, f *File, text string) (rows int) {
	t.Helper()
	var header []string
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) < 2 || strings.Contains(lines.Text(), "CIE"):
			header = nil
			continue
		case fields[0] == "LOC":
			header = fields
			continue
		case header == nil || len(fields) != len(header) || fields[1] == "exp":
			continue
		}
		pc, err := strconv.ParseUint(fields[0], 16, 64)
		if err != nil || pc == 0 {
			continue
		}
		frame, ok := f.CallFrameAt(pc)
		if got := rowText(frame, header); !ok || got != strings.Join(fields[1:], " ") {
			t.Errorf("%#x: %s, readelf %s", pc, got, strings.Join(fields[1:], " "))
			if rows++; rows > 10 {
				t.FailNow()
			}
		}
		rows++
	}
	return rows
}

// rowText prints a frame as readelf does.
func rowText(f CallFrame, header []string) string {
	names := make(map[string]uint64)
	for i, name := range strings.Fields("zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6 " +
		"ft0 ft1 ft2 ft3 ft4 ft5 ft6 ft7 fs0 fs1 fa0 fa1 fa2 fa3 fa4 fa5 fa6 fa7 fs2 fs3 fs4 fs5 fs6 fs7 fs8 fs9 fs10 fs11 ft8 ft9 ft10 ft11") {
		names[name] = uint64(i)
	}
	base := ""
	for name, n := range names {
		if n == f.CFARegister {
			base = name
		}
	}
	text := []string{fmt.Sprintf("%s%+d", base, f.CFAOffset)}
	for _, name := range header[2:] {
		at := "u"
		for _, s := range f.Saved {
			if s.Register == names[name] {
				at = fmt.Sprintf("c%+d", s.Offset)
			}
		}
		text = append(text, at)
	}
	return strings.Join(text, " ")
}

// FuzzCallFrames decodes anything as .eh_frame and as .debug_frame.
func FuzzCallFrames(f *testing.F) {
	f.Add("\x10\x00\x00\x00\x00\x00\x00\x00\x01zR\x00\x01\x7c\x01\x1b\x0d\x02\x00\x10\x00\x00\x00\x18\x00\x00\x00\x00\x10\x00\x00\x10\x00\x00\x00\x00\x0e\x10", uint64(0x1000))
	f.Fuzz(func(t *testing.T, data string, pc uint64) {
		for _, eh := range []bool{true, false} {
			var table frameTable
			table.section(data, 0, eh)
			for _, s := range table.spans {
				if s.to <= s.from {
					t.Fatalf("span from %#x to %#x", s.from, s.to)
				}
				table.at(s.from)
				table.at(s.to - 1)
			}
			table.at(pc)
		}
	})
}
