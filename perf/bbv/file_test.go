package bbv_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"presage/perf/bbv"
	"presage/perf/internal/oracle"
)

func TestWriteThenRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := random(t)
		var file bytes.Buffer
		if err := bbv.Write(&file, v); err != nil {
			t.Fatal(err)
		}
		back, err := bbv.Read(iotest.OneByteReader(&file), "x.bb")
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(v, back); d != "" {
			t.Fatalf("(-written +read):\n%s", d)
		}
	})
}

// The line of SimPoint 3.2's documentation of the format, and what exp-bbv
// adds to it.
func TestRead(t *testing.T) {
	const file = "T:1:1024 :4:99 \n\nT:7:3   :2:20\t:3:0 \r\n# Thread 1\n#   Total intervals: 2\n"
	want := &bbv.Vectors{
		Starts: []uint64{0, 1123}, Lengths: []uint64{1123, 23}, First: []int{0, 2, 4},
		Blocks: []uint32{0, 3, 1, 6}, Instructions: []uint64{1024, 99, 20, 3},
	}
	got, err := bbv.Read(strings.NewReader(file), "x.bb")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestReadRefuses(t *testing.T) {
	for file, want := range map[string]string{
		"T:1:2 \nX:1:2":                   `x.bb:2: a line begins with 'X'`,
		"  :1:2":                          `x.bb:1: a line begins with ':'`,
		"T:1:2 \n\nT:1:":                  `x.bb:3: '\n' where a whole number`,
		"T:1 2":                           `x.bb:1: ' ' after block 1`,
		"T:0:2":                           `x.bb:1: block 0, want 1`,
		"T:4294967296:2":                  `x.bb:1: block 4294967296`,
		"T:1:1.5":                         `x.bb:1: '.' after the 1 instructions`,
		"T:1:-5":                          `x.bb:1: '-' where`,
		"T 5:1":                           `x.bb:1: '5' after 0 elements`,
		"T:1:2 :3:4 :1:5":                 `x.bb:1: block 1 stands twice`,
		"T:1:0":                           `x.bb:1: an interval without`,
		"T":                               `x.bb:1: an interval without`,
		"T:1:99999999999999999999":        `x.bb:1: a number above 2^64`,
		"T:1:18446744073709551615\nT:2:1": `x.bb:2: more than 2^64`,
	} {
		v, err := bbv.Read(strings.NewReader(file), "x.bb")
		if v != nil || !errors.Is(err, bbv.ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", file, err, want)
		}
	}
	broken := errors.New("broken")
	for _, text := range []string{"", "T", "T:", "T:1", "T:1:", "T:1:1 ", "#"} {
		_, err := bbv.Read(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), "x.bb")
		if !errors.Is(err, broken) {
			t.Errorf("%q, then a reader's error: %v", text, err)
		}
	}
	v := &bbv.Vectors{Starts: []uint64{0}, Lengths: []uint64{5}, First: []int{0, 1}, Blocks: []uint32{0}, Instructions: []uint64{5}}
	if err := bbv.Write(failing{}, v); err == nil {
		t.Error("a writer's error was lost")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

// FuzzRead demands consistent vectors or an error, never both, and that vectors
// survive being written and read again.
func FuzzRead(f *testing.F) {
	f.Add([]byte("T:1:1024 :4:99 \nT:2:1\n# end"))
	f.Add([]byte("T:1:1:2:2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := bbv.Read(bytes.NewReader(data), "x.bb")
		if (v == nil) == (err == nil) {
			t.Fatalf("vectors %v, error %v", v, err)
		}
		if err != nil {
			return
		}
		if err := v.Check(); err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := bbv.Write(&file, v); err != nil {
			t.Fatal(err)
		}
		back, err := bbv.Read(&file, "y.bb")
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(v, back); d != "" {
			t.Fatal(d)
		}
	})
}

const nativeProgram = `
int main(void) {
	volatile long s = 0;
	for (int i = 0; i < 300000; i++) s += i;
	for (int i = 0; i < 200000; i++) { if (i % 3) s ^= i; else s *= 3; }
	return s == 42;
}
`

// TestExpBBV reads the output of valgrind's exp-bbv for a native program of two loops.
// exp-bbv drops the last, partial interval.
func TestExpBBV(t *testing.T) {
	valgrind, gcc := oracle.Need(t, "valgrind"), oracle.Need(t, "gcc")
	dir := t.TempDir()
	source, exe, file := filepath.Join(dir, "p.c"), filepath.Join(dir, "p"), filepath.Join(dir, "p.bb")
	if err := os.WriteFile(source, []byte(nativeProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gcc, "-O1", "-o", exe, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const interval = 100_000
	out, err := exec.Command(valgrind, "--tool=exp-bbv", "--interval-size=100000", "--bb-out-file="+file, exe).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	v, err := bbv.Read(in, file)
	if err != nil {
		t.Fatal(err)
	}
	// At -O1 the loops have about 4 and 9 instructions an iteration.
	if v.Len() < 20 {
		t.Fatalf("%d intervals", v.Len())
	}
	// exp-bbv keeps to multiples of the interval, up to the length of a block.
	const longest = 1000
	for i, n := range v.Lengths {
		if n < interval-longest || n > interval+longest {
			t.Errorf("interval %d has %d instructions, want about %d", i, n, interval)
		}
	}
	phases := map[uint32]int{}
	for i := range v.Len() {
		blocks, counts := v.Interval(i)
		best := 0
		for j := range counts {
			if counts[j] > counts[best] {
				best = j
			}
		}
		phases[blocks[best]]++
	}
	if len(phases) < 2 {
		t.Errorf("one block leads in all intervals: the two loops are not told apart")
	}
}

func TestDifference(t *testing.T) {
	v, err := bbv.Read(strings.NewReader("T:1:30 :2:10\nT:1:6 :2:2\nT:3:5\nT:2:1 :3:1\n"), "x.bb")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		i, j int
		want float64
	}{{0, 1, 0}, {0, 2, 1}, {2, 0, 1}, {2, 3, 0.5}, {0, 3, 0.75}, {3, 3, 0}} {
		if got := v.Difference(c.i, c.j); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("intervals %d and %d: %g, want %g", c.i, c.j, got, c.want)
		}
	}
}
