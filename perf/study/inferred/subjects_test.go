package inferred

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presage/perf/internal/yamlfile"
)

// datasets is the folder of all data sets.
var datasets = filepath.Join("..", "..", "..", "datasets")

// recordedSubjects reads the subjects of the recorded campaign.
func recordedSubjects(t testing.TB) []Subject {
	t.Helper()
	all, err := LoadSubjects(filepath.Join(recorded, "subjects.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSubjectsAreTheRecordedOnes holds the file of subjects against the recorded
// tables: the same variants in the same order, used as their roles say.
func TestSubjectsAreTheRecordedOnes(t *testing.T) {
	subjects := recordedSubjects(t)
	p, err := LoadProfiles(recorded)
	if err != nil {
		t.Fatal(err)
	}
	var variants []string
	for _, s := range p.Shards {
		if n := len(variants); n == 0 || variants[n-1] != s.Variant {
			variants = append(variants, s.Variant)
		}
	}
	uses := make(map[string][]string)
	for _, q := range p.Profiles {
		if !slices.Contains(uses[q.Variant], q.Use) {
			uses[q.Variant] = append(uses[q.Variant], q.Use)
		}
	}
	want := map[Role][]string{ToTrain: {Train, Choose, Check, New}, ToChoose: {Update, Choose}, ToJudge: {Update, Check, New}}
	if len(subjects) != len(variants) {
		t.Fatalf("%d subjects, %d variants are recorded", len(subjects), len(variants))
	}
	for i, s := range subjects {
		if s.Variant() != variants[i] {
			t.Fatalf("subject %d is %s, recorded is %s", i, s.Variant(), variants[i])
		}
		if got := uses[s.Variant()]; !slices.Equal(got, want[s.Role]) {
			t.Errorf("%s of the role %s was used to %v", s.Variant(), s.Role, got)
		}
		if level, input, err := parseVariant(s.Application, s.Variant()); err != nil || level != s.Level || input != s.Input {
			t.Errorf("%s reads as %s, %s, error %v", s.Variant(), level, input, err)
		}
		if files, err := os.ReadDir(filepath.Join(datasets, "programs", s.Folder)); err != nil || len(files) == 0 || len(s.Args) == 0 {
			t.Errorf("%s has arguments %v and the program %s: %v", s.Variant(), s.Args, s.Folder, err)
		}
	}
}

const goodSubjects = `applications:
  - name: first-one
    folder: first
    role: judge
    inputs:
      - {name: a, args: -n 1}
  - name: second
    folder: sub/second
    role: train
    stands_for: something
    plain_library: true
    inputs:
      - name: b
        args: -n 2 -quiet
      - {name: c-d, args: -n 3}
`

func TestReadSubjects(t *testing.T) {
	all, err := readSubjects("s.yaml", []byte(goodSubjects))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Variant())
	}
	if got := strings.Join(names, " "); got != "second-O1-b second-O3-b second-O1-c-d second-O3-c-d first-one-O1-a first-one-O3-a" {
		t.Errorf("the subjects are %s", got)
	}
	s := all[1]
	if s.Folder != "sub/second" || s.Level != O3 || s.Role != ToTrain || !s.PlainLibrary || strings.Join(s.Args, ",") != "-n,2,-quiet" || all[4].PlainLibrary {
		t.Errorf("%+v, %+v", s, all[4])
	}
}

// TestSubjectErrors changes the good file in one place at a time: errors name the
// file, the line and what is wrong.
func TestSubjectErrors(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"an unknown key":          {"    stands_for:", "    standsfor:", "s.yaml:10:"},
		"an unknown key of input": {"        args: -n 2", "        arguments: -n 2", "s.yaml:14:"},
		"an unknown key above":    {"applications:\n", "programs: []\napplications:\n", "s.yaml:1:"},
		"no name":                 {"name: first-one", "name: \"\"", `s.yaml:2: application ""`},
		"a name with blanks":      {"name: first-one", "name: first one", `s.yaml:2: application "first one"`},
		"no folder":               {"    folder: first\n", "", `s.yaml:2: application first-one: folder ""`},
		"a folder outside":        {"folder: first", "folder: ../first", `s.yaml:2: application first-one: folder "../first"`},
		"no role":                 {"    role: judge\n", "", `s.yaml:2: application first-one: role ""`},
		"another role":            {"role: train", "role: teach", `s.yaml:7: application second: role "teach"`},
		"no inputs":               {"      - {name: a, args: -n 1}\n", "", "s.yaml:2: application first-one: no inputs"},
		"an input without a name": {"name: a, args", "args", `s.yaml:6: application first-one: input ""`},
		"an input without args":   {"        args: -n 2 -quiet\n", "", "s.yaml:13: application second: input b: no args"},
		"an input twice":          {"name: c-d", "name: b", `s.yaml:15: application second: there are two inputs "b"`},
		"an application twice":    {"name: second", "name: first-one", `s.yaml:7: there are two applications "first-one"`},
		"a list for a name":       {"name: second", "name: [second]", "s.yaml:7:"},
		"no list":                 {goodSubjects, "applications: 3\n", "s.yaml:1:"},
		"nothing":                 {goodSubjects, "", "s.yaml: no applications"},
		"not YAML":                {goodSubjects, "applications: [", "s.yaml:1:"},
		"too long":                {goodSubjects, strings.Repeat("#", yamlfile.MaxBytes+1), "s.yaml: 131073 bytes, at most 131072"},
	} {
		if strings.Count(goodSubjects, c.old) != 1 {
			t.Fatalf("%s: the good file has %q %d times", name, c.old, strings.Count(goodSubjects, c.old))
		}
		all, err := readSubjects("s.yaml", []byte(strings.Replace(goodSubjects, c.old, c.new, 1)))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %d subjects, error %v, want one that begins %q", name, len(all), err, c.want)
		}
	}
	dir := t.TempDir()
	if _, err := LoadSubjects(filepath.Join(dir, "none.yaml")); err == nil || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("a missing file: error %v", err)
	}
	long := filepath.Join(dir, "long.yaml")
	if err := os.WriteFile(long, make([]byte, yamlfile.MaxBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadSubjects(long); err == nil || !strings.Contains(err.Error(), "the most that is read") {
		t.Errorf("a file that is too long: error %v", err)
	}
}

// FuzzReadSubjects demands subjects or an error, never both or neither, and that subjects
// have everything that a campaign needs.
func FuzzReadSubjects(f *testing.F) {
	f.Add([]byte(goodSubjects))
	text, err := os.ReadFile(filepath.Join(recorded, "subjects.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("applications:\n  - &a {name: x, folder: x, role: judge, inputs: [{name: y, args: z}]}\n  - *a\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := readSubjects("s.yaml", data)
		if (err == nil) != (len(all) > 0) {
			t.Fatalf("%d subjects, error %v", len(all), err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "s.yaml:") {
			t.Errorf("the error does not name the file: %v", err)
		}
		seen := make(map[string]bool)
		for _, s := range all {
			level, input, err := parseVariant(s.Application, s.Variant())
			if s.check() != nil || err != nil || level != s.Level || input != s.Input || len(s.Args) == 0 || !filepath.IsLocal(s.Folder) {
				t.Errorf("%+v, error %v", s, err)
			}
			key := s.Application + " " + s.Variant()
			if seen[key] {
				t.Errorf("%s stands twice", key)
			}
			seen[key] = true
		}
	})
}

// TestParseVariant demands an error for anything that does not name a variant.
func TestParseVariant(t *testing.T) {
	for variant, good := range map[string]bool{
		"p-q-O1-in": true, "p-q-O3-in-put": true,
		"p-q": false, "p-q-": false, "p-q-O1": false, "p-q-O1-": false, "p-q-O2-in": false, "p-O1-in": false, "": false, "x-O1-in": false,
	} {
		if _, _, err := parseVariant("p-q", variant); (err == nil) != good {
			t.Errorf("%q: error %v", variant, err)
		}
	}
}
