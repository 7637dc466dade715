package judging

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presage/perf/internal/yamlfile"
)

const (
	suitePath    = "../../../datasets/suite/suite.yaml"
	freshPath    = "../../../datasets/fresh/suite.yaml"
	secondPath   = "../../../datasets/fresh/second/suite.yaml"
	thirdPath    = "../../../datasets/fresh/third/suite.yaml"
	practicePath = "../../../datasets/practice/suite.yaml"
)

// suite reads the suite of the project.
func suite(t testing.TB) *Suite {
	t.Helper()
	return suiteOf(t, suitePath)
}

func suiteOf(t testing.TB, path string) *Suite {
	t.Helper()
	s, err := ReadSuite(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSuiteIsAsDescribed: twenty kernels and six applications in three languages,
// whose sizes come from all three places, judged at 1.5, 2 and 4 times the largest
// training size, at powers of two among others.
func TestSuiteIsAsDescribed(t *testing.T) {
	s := suite(t)
	count := make(map[string]int)
	powers := 0
	for i := range s.Programs {
		p := &s.Programs[i]
		for _, what := range []string{string(p.Kind), p.Language(), string(p.Size), string(p.Half) + " " + string(p.Kind)} {
			count[what]++
		}
		max := p.LargestTrained()
		if len(p.Train) < 6 || !slices.Equal(p.Judge, []int{max * 3 / 2, max * 2, max * 4}) || max%2 != 0 {
			t.Errorf("%s: trained at %v, judged at %v", p.Name, p.Train, p.Judge)
		}
		if slices.ContainsFunc(p.Judge, func(n int) bool { return n&(n-1) == 0 }) {
			powers++
		}
		if p.Test >= p.Train[0] {
			t.Errorf("%s: tested at %d, trained from %d", p.Name, p.Test, p.Train[0])
		}
		if p.Size == FromCompiler && len(p.Time) > 0 {
			t.Errorf("%s: times are of one executable", p.Name)
		}
	}
	for what, want := range map[string]int{"kernel": 20, "application": 6, "open kernel": 10, "closed kernel": 10, "open application": 3, "closed application": 3} {
		if count[what] != want {
			t.Errorf("%d of %s, want %d", count[what], what, want)
		}
	}
	for _, what := range []string{"C", "C++", "Fortran", string(FromArgument), string(FromCompiler), string(FromFile)} {
		if count[what] < 3 {
			t.Errorf("%d of %s, want 3 at least", count[what], what)
		}
	}
	if powers < 10 || powers > 16 {
		t.Errorf("%d programs are judged at powers of two", powers)
	}
}

// TestHalvesAreDrawn draws the halves again, as README.md says: of the programs of a
// kind, closed are the half whose digests are the least.
func TestHalvesAreDrawn(t *testing.T) {
	const seed = "suite 2026-11-22"
	for _, kind := range []Kind{Kernel, Application} {
		var drawn []string
		halves := make(map[string]Half)
		for _, p := range suite(t).Programs {
			if p.Kind == kind {
				sum := sha256.Sum256([]byte(seed + ": " + p.Name))
				drawn = append(drawn, hex.EncodeToString(sum[:])+" "+p.Name)
				halves[p.Name] = p.Half
			}
		}
		slices.Sort(drawn)
		for i, d := range drawn {
			_, name, _ := strings.Cut(d, " ")
			want := Open
			if i < len(drawn)/2 {
				want = Closed
			}
			if halves[name] != want {
				t.Errorf("%s is in the %s half, drawn was %s", name, halves[name], want)
			}
		}
	}
	readme, err := os.ReadFile("../../../datasets/suite/README.md")
	if err != nil || !strings.Contains(string(readme), seed+": ") {
		t.Errorf("README.md does not name the seed %q (%v)", seed, err)
	}
}

// TestReadmeListsTheSuite: README.md has the row of each program, as suite.yaml says.
func TestReadmeListsTheSuite(t *testing.T) {
	text, err := os.ReadFile("../../../datasets/suite/README.md")
	if err != nil {
		t.Fatal(err)
	}
	list := func(sizes []int) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(sizes), " ", ", "), "[]") }
	for i := range suite(t).Programs {
		p := &suite(t).Programs[i]
		row := fmt.Sprintf("| `%s` | %s | %s | %s | %s | `%s` | %s | %s |", p.Name, p.Language(), p.Kind, p.Half, p.Size, p.Flags, list(p.Train), list(p.Judge))
		if !strings.Contains(string(text), row) {
			t.Errorf("README.md lacks\n%s", row)
		}
	}
}

// TestReadmeListsFreshPrograms: likewise of the programs that were written last, which are
// judged at 1.5, 2 and 4 times the largest training size, too.
func TestReadmeListsFreshPrograms(t *testing.T) {
	for half, path := range map[Half]string{Fresh: freshPath, Second: secondPath, Third: thirdPath} {
		t.Run(string(half), func(t *testing.T) { readmeListsFresh(t, half, path) })
	}
}

func readmeListsFresh(t *testing.T, half Half, path string) {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	list := func(sizes []int) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(sizes), " ", ", "), "[]") }
	fresh := suiteOf(t, path)
	for i := range fresh.Programs {
		p := &fresh.Programs[i]
		row := fmt.Sprintf("| %s | %s | %s | `%s` | %s | %s |", p.Language(), p.Kind, p.Size, p.Flags, list(p.Train), list(p.Judge))
		if p.Half != half || !strings.Contains(string(text), row) || !strings.Contains(string(text), "| `"+p.Name+"` |") {
			t.Errorf("%s, %s: README.md lacks\n%s", p.Name, p.Half, row)
		}
		for k, times := range []float64{1.5, 2, 4} {
			if len(p.Judge) != 3 || float64(p.Judge[k]) != times*float64(p.LargestTrained()) {
				t.Errorf("%s is judged at %v", p.Name, p.Judge)
			}
		}
	}
}

const goodSuite = `programs:
  - {name: one, source: one.c, kind: kernel, half: open, size: argument, train: [4, 5, 6], judge: [9, 12], time: [9], test: 2}
  - name: two-b
    source: two.F90
    kind: application
    half: closed
    size: file
    flags: -O1
    train: [1, 2, 3]
    judge: [4]
    test: 1
`

func TestParse(t *testing.T) {
	all, err := parse("s.yaml", []byte(goodSuite))
	if err != nil {
		t.Fatal(err)
	}
	one, two := all[0], all[1]
	if one.Flags != DefaultFlags || one.Language() != "C" || one.LargestTrained() != 6 || one.Size != FromArgument || one.Time[0] != 9 {
		t.Errorf("%+v", one)
	}
	if two.Flags != "-O1" || two.Language() != "Fortran" || two.Kind != Application || two.Half != Closed || two.Compiler("x-") != "x-gfortran" {
		t.Errorf("%+v", two)
	}
	s := Suite{Programs: all}
	for half, want := range map[Half]string{Open: "one", Closed: "two-b", All: "one two-b"} {
		var names []string
		of, err := s.Of(half)
		for _, p := range of {
			names = append(names, p.Name)
		}
		if got := strings.Join(names, " "); got != want || err != nil {
			t.Errorf("%s: %s, %v", half, got, err)
		}
	}
	if _, err := s.Of("best"); err == nil || !strings.Contains(err.Error(), `half "best": want open, closed, fresh, second or third, or all`) {
		t.Errorf("no half: %v", err)
	}
	if of, err := s.Named("two-b"); err != nil || len(of) != 1 || of[0].Name != "two-b" {
		t.Errorf("%v, %v", of, err)
	}
	if _, err := s.Named("three"); err == nil || !strings.Contains(err.Error(), "one, two-b") {
		t.Errorf("no such program: %v", err)
	}
}

// TestParseErrors changes the good file in one place at a time: errors name the file,
// the line and what is wrong.
func TestParseErrors(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"an unknown key":             {"    flags: -O1", "    flag: -O1", "s.yaml:8:"},
		"an unknown key above":       {"programs:\n", "lists: []\nprograms:\n", "s.yaml:1:"},
		"no name":                    {"name: two-b", `name: ""`, `s.yaml:3: program ""`},
		"a name with a slash":        {"name: one", "name: a/b", `s.yaml:2: program "a/b"`},
		"two of a name":              {"name: two-b", "name: one", `s.yaml:3: there are two programs "one"`},
		"a source elsewhere":         {"source: one.c", "source: ../one.c", `s.yaml:2: program one: source "../one.c"`},
		"a source in Go":             {"source: one.c", "source: one.go", "want a file of this folder that ends in .c"},
		"another kind":               {"kind: kernel", "kind: core", `s.yaml:2: program one: kind "core": want kernel or application`},
		"another half":               {"half: closed", "half: all", `s.yaml:3: program two-b: half "all": want open, closed, fresh, second or third`},
		"another source of the size": {"size: file", "size: stdin", `size "stdin": want argument, compiled or file`},
		"too few training sizes":     {"train: [1, 2, 3]", "train: [1, 2]", "train [1 2]: want 3 sizes at least"},
		"sizes that descend":         {"train: [4, 5, 6]", "train: [4, 6, 5]", "train [4 6 5]"},
		"a size of zero":             {"train: [1, 2, 3]", "train: [0, 2, 3]", "train [0 2 3]"},
		"a judged size within":       {"judge: [4]", "judge: [3]", "judge [3]: want sizes beyond 3"},
		"nothing to judge":           {"    judge: [4]\n", "", "judge []"},
		"a time that is not judged":  {"time: [9]", "time: [10]", "time [10]: want some of the sizes to be judged"},
		"no test":                    {"    test: 1\n", "", "s.yaml:3: program two-b: test 0"},
		"a word for a size":          {"judge: [4]", "judge: [four]", "s.yaml:10:"},
		"a fraction for a size":      {"judge: [4]", "judge: [4.5]", "s.yaml:3: program two-b: 4.5: want a whole number"},
		"nothing":                    {goodSuite, "", "s.yaml: no programs"},
		"not YAML":                   {goodSuite, "programs: [", "s.yaml:1:"},
		"too deep":                   {goodSuite, strings.Repeat("[", 100), "nested more than"},
		"too long":                   {goodSuite, strings.Repeat(" ", yamlfile.MaxBytes+1), "bytes, at most"},
	} {
		if _, err := parse("s.yaml", []byte(strings.Replace(goodSuite, c.old, c.new, 1))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := ReadSuite("testdata/none.yaml"); err == nil {
		t.Error("a file that is not there, and no error")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(goodSuite))
	f.Add([]byte("programs: [{name: a, train: [1, 2, 3]}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		programs, err := parse("s.yaml", data)
		if (err == nil) != (len(programs) > 0) {
			t.Fatalf("%d programs, error %v", len(programs), err)
		}
		for i := range programs {
			if err := programs[i].check(); err != nil {
				t.Fatalf("accepted, and %v", err)
			}
		}
	})
}
