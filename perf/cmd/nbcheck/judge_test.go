package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// nbcheck runs the command and returns its exit status and both outputs.
func nbcheck(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func golden(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// kinds returns "kind@cell" for every finding on a notebook's text.
func kinds(text string) (all []string, r result) {
	nb, err := parse([]byte(text))
	if err != nil {
		r.malformed(err)
	} else {
		r.judge(nb)
	}
	for _, f := range r.Findings {
		all = append(all, f.Kind+"@"+string(rune('0'+f.Cell)))
	}
	return all, r
}

// TestRecordedFailures judges failures.ipynb, a recording of the outputs of GoNB
// 0.11.3 for a panic, a non-zero exit, a compile error, a signal, a failed %test, a
// failed shell line, and (not a failure) text on stderr.
func TestRecordedFailures(t *testing.T) {
	got, r := kinds(golden(t, "failures.ipynb"))
	want := []string{"stderr@1", "stderr@2", "error@3", "stderr@4", "stderr@5", "stderr@6", "no-image@0"}
	if !slices.Equal(got, want) {
		t.Errorf("findings %q, want %q", got, want)
	}
	if m := r.Findings[0].Message; m != "stderr line 1: panic: boom" {
		t.Errorf("message %q", m)
	}
	lines := strings.Split(golden(t, "failures.ipynb"), "\n")
	for _, f := range r.Findings[:6] {
		if lines[f.Line-1] != "  {" {
			t.Errorf("cell %d: line %d is %q, want the cell's opening brace", f.Cell, f.Line, lines[f.Line-1])
		}
	}
}

func TestGood(t *testing.T) {
	code, out, errs := nbcheck(t, "--show", "headline", "testdata/good.ipynb")
	want := "side  8\ntestdata/good.ipynb: good: 4 code cells, 1 images\n"
	if code != 0 || out != want || errs != "" {
		t.Errorf("exit %d, stdout\n%s\nwant\n%s\nstderr %q", code, out, want, errs)
	}
}

// TestOneFault breaks the good notebook in one place in each case.
func TestOneFault(t *testing.T) {
	good := golden(t, "good.ipynb")
	const stdout = `"name": "stdout"`
	for _, c := range []struct {
		name, from, to string
		want           []string
	}{
		{"not executed", `"execution_count": 3`, `"execution_count": null`, []string{"not-executed@4"}},
		{"stale", `"execution_count": 3`, `"execution_count": 9`, []string{"stale-order@5"}},
		{"same count", `"execution_count": 3`, `"execution_count": 2`, []string{"stale-order@4"}},
		{"no image", `"image/png"`, `"text/plain"`, []string{"no-image@0"}},
		{"broken image", `iVBORw0KGgo`, `iVBORw0KGgp`, []string{"bad-image@4"}},
		{"stderr", stdout, `"name": "stderr"`, nil},
		{"panic", stdout, `"name": "stderr"`, []string{"stderr@5"}},
		{"home", "side  8", "read /home/ann/data.csv", []string{"home-path@5"}},
		{"home html", "<b>eight</b>", "<i>/Users/ann/x</i>", []string{"home-path@4"}},
		{"no home", "side  8", "see http://x.org/home/ann/x", nil},
		{"script", "<b>eight</b>", `<script src=\"https://cdn.example/plotly.js\"></script>`, []string{"remote-script@4"}},
		{"kernel", `"name": "presage"`, `"name": ""`, []string{"no-kernel@0"}},
	} {
		text := strings.Replace(good, c.from, c.to, 1)
		if c.name == "panic" {
			text = strings.Replace(text, `"side  8\n"`, `"fine\npan", "ic: boom\n"`, 1)
		}
		if text == good {
			t.Fatalf("%s: %q is not in good.ipynb", c.name, c.from)
		}
		if got, _ := kinds(text); !slices.Equal(got, c.want) {
			t.Errorf("%s: findings %q, want %q", c.name, got, c.want)
		}
	}
}

// TestClonePath demands a finding where an output names the folder around the notebook's.
func TestClonePath(t *testing.T) {
	clone := t.TempDir()
	dir := filepath.Join(clone, "notebooks")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "x.ipynb")
	for _, c := range []struct {
		says string
		code int
	}{{clone + "/datasets/a.c", exitFindings}, {clone + "-other/a.c", 0}, {"../datasets/a.c", 0}} {
		text := strings.Replace(golden(t, "good.ipynb"), "side  8", c.says, 1)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, errs := nbcheck(t, path)
		if code != c.code || strings.Contains(out, "home-path") != (c.code != 0) {
			t.Errorf("%s: exit %d\n%s%s", c.says, code, out, errs)
		}
	}
}

// TestStderrInPieces judges a line on stderr that arrives in pieces and coloured.
func TestStderrInPieces(t *testing.T) {
	stream := func(text string) output { return output{Type: "stream", Stream: "stderr", Text: text} }
	for _, c := range []struct {
		outputs []output
		want    int
	}{
		{[]output{stream("a\nexit st"), stream("atus 1\n")}, 1},
		{[]output{stream("\x1b[7mpanic: x\x1b[0m\n")}, 1},
		{[]output{stream("exit status 0\n")}, 0},
		{[]output{stream("no panic: here\n")}, 0},
		{[]output{{Type: "stream", Stream: "stdout", Text: "panic: quoted\n"}}, 0},
	} {
		var r result
		r.judgeStderr(&cell{Outputs: c.outputs})
		if len(r.Findings) != c.want {
			t.Errorf("%q: findings %v, want %d", c.outputs, r.Findings, c.want)
		}
	}
}

func TestJSON(t *testing.T) {
	code, out, _ := nbcheck(t, "--format", "json", "testdata/good.ipynb", "testdata/failures.ipynb")
	var got []result
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	if code != exitFindings || len(got) != 2 || len(got[0].Findings) != 0 || len(got[1].Findings) != 7 {
		t.Errorf("exit %d, want %d, and 0 and 7 findings:\n%s", code, exitFindings, out)
	}
	if got[1].Findings[1].Detail != "exit status 3" {
		t.Errorf("detail %q", got[1].Findings[1].Detail)
	}
	if !strings.Contains(out, `"findings": []`) {
		t.Error("a good notebook's findings are not written as []")
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, exitUsage, "requires at least 1 arg"},
		{[]string{"nosuch.ipynb"}, exitUsage, "no such file"},
		{[]string{"--format", "xml", "testdata/good.ipynb"}, exitUsage, "want text or json"},
		{[]string{"--output", "x", "testdata/good.ipynb"}, exitUsage, "--output needs --execute"},
		{[]string{"--execute", "--timeout", "10ms", "testdata/good.ipynb"}, exitUsage, "at least 1s"},
		{[]string{"--html", "d", "testdata/good.ipynb", "./testdata/good.ipynb"}, exitUsage, "would both be written"},
		{[]string{"--show", "nosuch", "testdata/good.ipynb"}, exitFindings, ""},
		{[]string{"testdata/failures.ipynb"}, exitFindings, ""},
		{[]string{"--help"}, 0, ""},
	} {
		if code, _, errs := nbcheck(t, c.args...); code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%q: exit %d, want %d and %q in\n%s", c.args, code, c.code, c.want, errs)
		}
	}
}
