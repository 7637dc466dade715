package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMentions finds the figures of sentences, and passes over what is none.
func TestMentions(t *testing.T) {
	for _, c := range []struct {
		line string
		want string // figures with their units, apart by "; "
	}{
		{"It is 4% too low, 1,234 times at worst.", "4%; 1,234 times"},
		{"2 to 8% off, or 2, 3 and 5% in the median", "2%; 8%; 2%; 3%; 5%"},
		{"14%, 66%, 63 times", "14%; 66%; 63 times"},
		{"half of it at 60 and 70, 26% too low at 80", "26%"},
		{"0.05 points off, from 170 points", "0.05 points"},
		{"at n = 60 and 80 it holds 4 programs of 12", ""},
		{"routines with at least 2% of a level's misses, within 5%", ""},
		{"11% (paper: 12%; goal: 10%), or 9% here", "11%; 9%"},
		{"The paper has 12%. Here it is 13%.", "13%"},
		{"at 1.5 and 2 times the largest training size", ""},
		{"`rel_err` of `5%` in L2 and 8x8, 1e-8, x^2 times", ""},
		{"a share of **4.2%**, of ×3 times", "4.2%"},
		{"12<!-- = instructions --> million, and 3 million", "12 million"},
		{"Of 7<!-- = rows --> rows<!-- not a binding --> 5 remain.", "7"},
		{"4%<!-- = a --> to 6<!-- = b -->%", "4%; 6%"},
	} {
		var got []string
		for _, m := range mentions(c.line) {
			got = append(got, strings.Trim(m.quote(), `"`))
			if have := c.line[m.start:m.end]; have != m.text {
				t.Errorf("%q: %q stands at %q", c.line, m.text, have)
			}
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%q: figures %q, want %q", c.line, got, c.want)
		}
	}
}

// outputs is a notebook with a displayed table, a printed one, and headlines as
// notebook.Report prints them.
func outputs(prose ...string) *notebook {
	nb := &notebook{Kernel: "presage", Cells: []cell{
		{Number: 1, Code: true, Source: "x", Count: 1, Outputs: []output{
			{Type: "display_data", Data: map[string]string{
				"image/svg+xml": "<svg/>",
				"text/html": `<table><thead><tr><th>n</th><th>level</th><th>misses</th><th>rel_err</th><th>share</th></tr></thead><tbody>` +
					`<tr><td>60</td><td style="text-align:left">L1</td><td>1,000,100</td><td>-0.040693</td><td>12.5%</td></tr>` +
					`<tr><td>60</td><td>L1 TLB</td><td>20</td><td>0.30</td><td>4%</td></tr>` +
					`<tr><td>80</td><td>L1</td><td>7</td><td>-0.68575</td><td></td></tr></tbody></table>`,
			}},
			{Type: "stream", Stream: "stdout", Text: "Title of the table:\n   n  level  cycles\n  60     L1     3.5\n  60  L1 TLB     4.5\n"},
		}},
		{Number: 2, Code: true, Source: "x", Count: 2, Tags: []string{"headline"}, Outputs: []output{
			{Type: "stream", Stream: "stdout", Text: "" +
				"0.0355 (p90 0.492, worst 0.686 of 4)     goal <=0.05; worst<=0.1 not reached  misses of L1 and L2\n" +
				"0.812 (p90 0.954, worst 0.957 of 4)                                               n³ from n = 40\n" +
				"0.0021 (p90 0.002, worst 0.003 of 2)                                          misses of the TLB\n" +
				"0.5 (p90 0.6, worst 0.7 of 2)                                                     n³ from n = 40\n"},
		}},
	}}
	for i, text := range prose {
		nb.Cells = append(nb.Cells, cell{Number: 3 + i, Source: text})
	}
	return nb
}

// proseFindings are the messages of the findings on figures.
func proseFindings(nb *notebook) (all []string) {
	var r result
	r.judge(nb)
	for _, f := range r.Findings {
		if f.Kind == kindProse {
			all = append(all, f.Message)
		} else {
			all = append(all, "unexpected: "+f.Message)
		}
	}
	return all
}

// TestBindings holds right figures and wrong ones against the outputs.
func TestBindings(t *testing.T) {
	for _, c := range []struct{ right, wrong, binding string }{
		{"4%", "5%", "= -rel_err n=60 level=L1"},
		{"69%", "30%", "= max -rel_err"},
		{"1.3", "2.3", "= max 1+rel_err"},
		{"4.1%", "4.0%", "= -rel_err n=60 level=L1"},
		{"30%", "40%", `= rel_err level="L1 TLB"`},
		{"12.5%", "11%", "= share n=60 level=L1"},
		{"1.3 times", "0.3 times", `= 1+rel_err level="L1 TLB"`},
		{"69%", "4%", "= max abs rel_err level=L1"},
		{"4%", "69%", "= min abs rel_err level=L1"},
		{"30%", "4%", "= median abs rel_err n<=80"},
		{"34%", "30%", "= mean abs rel_err n!=70"},
		{"within 69%", "within 68%", ">= max abs rel_err"},
		{"at least 4%", "at least 5%", "<= min abs rel_err"},
		{"2", "3", "= count rel_err n=60"},
		{"27", "20", `= sum misses level="L1 TLB"|L1 misses<100`},
		{"1.0001 million", "1.0002 million", "= max misses"},
		{"1,000,100", "1,000,101", "= misses n=60 level=L1|L2"},
		{"7", "20", "= misses n>60"},
		{"4.5", "3.5", `= cycles level="L1 TLB"`},
		{"3.6%", "3.7%", `= median of "L1 and L2"`},
		{"69%", "68%", `= worst of "L1 and L2"`},
		{"4", "2", `= rows of "L1 and L2"`},
		{"81%", "50%", `= median of "L1 and L2" / "n³"`},
		{"60%", "95%", `= p90 of "TLB" / "n³"`},
	} {
		// The comment follows the number, and the unit may follow the comment.
		number, unit, _ := strings.Cut(c.right, " t")
		if unit != "" {
			unit = " t" + unit
		}
		if n, ok := strings.CutSuffix(number, " million"); ok {
			number, unit = n, " million"
		}
		text := fmt.Sprintf("It is %s<!-- %s -->%s there.", number, c.binding, unit)
		if got := proseFindings(outputs(text)); len(got) > 0 {
			t.Errorf("%s: %q, want none", text, got)
		}
		text = strings.Replace(text, number, strings.TrimSuffix(strings.TrimSuffix(c.wrong, unit), " million"), 1)
		if got := proseFindings(outputs(text)); len(got) != 1 || !strings.Contains(got[0], "outputs have") {
			t.Errorf("%s: %q, want 1 finding", text, got)
		}
	}
}

// TestBadBindings reads bindings that say nothing, or too little.
func TestBadBindings(t *testing.T) {
	for _, c := range []struct{ binding, want string }{
		{"= ", "want the name of a column"},
		{"= max", "want the name of a column"},
		{"= rel_err at n", "want a condition"},
		{"= rel_err n<60|80", "alternatives need"},
		{"= rel_err level=L1", "2 rows of a table differ"},
		{"= rel_err level=L3", "no table that shows column rel_err has such a row"},
		{"= rel_error", "no table shows a column rel_error"},
		{"= level n=80", "which is no number"},
		{`= worst of "n³"`, "0 headlines"},
		{`= worst of "misses"`, "2 headlines"},
		{`= median of "misses" / "n³"`, "2 headlines"},
	} {
		got := proseFindings(outputs("4%<!-- " + c.binding + " -->"))
		if len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%s: %q, want %q", c.binding, got, c.want)
		}
	}
}

// TestUnboundFigures: every figure needs a binding, in any notebook; bounds do not.
func TestUnboundFigures(t *testing.T) {
	const bound = "4%<!-- = -rel_err n=60 level=L1 -->"
	for _, c := range []struct {
		prose []string
		want  int // findings
	}{
		{[]string{"off by 30%, 1.3 times, 70% of it"}, 3}, // though the outputs have 0.30
		{[]string{"off by 37%"}, 1},
		{[]string{bound, "off by 30%"}, 1},
		{[]string{bound, "within 30%"}, 0},
		{[]string{bound + ", within 30%<!-- >= rel_err n=60 level=L1 -->"}, 0},
		{[]string{"```\n37%\n```\nno figure"}, 0},
	} {
		got := proseFindings(outputs(c.prose...))
		if len(got) != c.want || c.want > 0 && !strings.Contains(got[0], "no binding says") {
			t.Errorf("%q: findings %q, want %d", c.prose, got, c.want)
		}
	}
}

// TestUpdateProse writes figures anew that are bound, and nothing else of the file.
func TestUpdateProse(t *testing.T) {
	good := golden(t, "good.ipynb")
	text := strings.Replace(good, `"<b>eight</b>"`, `"<table><tr><th>n</th><th>err</th></tr><tr><td>8</td><td>-0.0312</td></tr><tr><td>9000</td><td>0.2500</td></tr></table>"`, 1)
	const fence = "```" // what is in code is no figure
	prose := func(low, high, count string) string {
		return strings.Replace(text, `"It shows an image, HTML and text."`,
			`"<b>It</b> is `+low+`%<!-- = -err n=8 --> too low and\n",`+"\n    "+`"`+high+`<!-- = err n=9000 -->%<!-- no --> too high, `+count+`<!-- = max n --> long, 7%<!-- = -err n=9000 -->.\n",`+"\n    "+`"`+fence+`\n",`+"\n    "+`"5<!-- = max n -->, as an example\n"`, 1)
	}
	path := filepath.Join(t.TempDir(), "x.ipynb")
	if err := os.WriteFile(path, []byte(prose("4.0", "24", "1,000")), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := nbcheck(t, "--update-prose", path)
	// What remains is of the other sign.
	if code != exitFindings || !strings.Contains(out, `"7%": the notebook's outputs have -25%`) || strings.Count(out, "prose:") != 1 {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := prose("3.1", "25", "9,000"); string(got) != want {
		t.Errorf("updated to\n%s\nwant\n%s", got, want)
	}
	if code, out, _ := nbcheck(t, "--update-prose", path); code != exitFindings || strings.Contains(out, "anew") {
		t.Errorf("again: exit %d\n%s", code, out)
	}
}

// TestCommittedBindings changes each bound figure of the project's notebooks: a check
// that passes whatever the text says is none.
func TestCommittedBindings(t *testing.T) {
	paths, err := filepath.Glob("../../../notebooks/*.ipynb")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no notebooks: %v", err)
	}
	checked := 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		nb, err := parse(data)
		if err != nil {
			t.Fatal(err)
		}
		found := readResults(nb)
		for i := range nb.Cells {
			for _, line := range proseLines(&nb.Cells[i]) {
				for _, m := range mentions(line) {
					if m.bound == nil || m.bound.relation != "=" {
						continue
					}
					checked++
					if err := m.check(found, nb.Cells[i].Number); err != nil {
						t.Errorf("%s: cell %d: %s: %v", path, i+1, m.quote(), err)
					}
					m.value = 1.3*m.value + 2
					if m.check(found, nb.Cells[i].Number) == nil {
						t.Errorf("%s: cell %d: %s passes as %g, too", path, i+1, m.quote(), m.value)
					}
				}
			}
		}
	}
	if checked == 0 {
		t.Error("no notebook binds a figure")
	}
}

func TestSummaries(t *testing.T) {
	all := readResults(outputs()).summaries
	var got []string
	for _, s := range all {
		got = append(got, s.beside+"/"+s.metric+"="+s.values["worst"])
	}
	want := []string{"/misses of L1 and L2=0.686", "misses of L1 and L2/n³ from n = 40=0.957", "/misses of the TLB=0.003", "misses of the TLB/n³ from n = 40=0.7"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAmbiguousBindings: where tables of several cells have the rows that a binding asks
// for, and other results, it must say which; figures are not written anew by any of them.
func TestAmbiguousBindings(t *testing.T) {
	table := func(id string, tags []string, misses ...string) cell {
		page := "<table><tr><th>n</th><th>misses</th></tr>"
		for i, m := range misses {
			page += fmt.Sprintf("<tr><td>%d</td><td>%s</td></tr>", i, m)
		}
		return cell{ID: id, Tags: tags, Code: true, Source: "x", Outputs: []output{{Type: "display_data", Data: map[string]string{"text/html": page + "</table>"}}}}
	}
	of := func(text string) (*notebook, *cell) {
		nb := &notebook{Kernel: "presage", Cells: []cell{
			table("first", nil, "10", "7"), table("second", []string{"judged"}, "20", "7"), {Source: text}, table("third", nil, "30", "7"), table("fourth", nil, "40", "7", "50"),
		}}
		for i := range nb.Cells {
			nb.Cells[i].Number = i + 1
		}
		return nb, &nb.Cells[2]
	}
	for _, c := range []struct{ text, want string }{ // want: in the finding; empty: none
		{"20<!-- = misses n=0 -->", "cell 1 has 10, cell 2 20; say which by @above or @below"},
		{"20<!-- = misses n=0 @above -->", ""},
		{"10<!-- = misses n=0 @above -->", "the notebook's outputs have 20"},
		{"30<!-- = misses n=0 @below -->", ""},
		{"50<!-- = misses n=2 @below -->", ""}, // not the next table, but the next with such a row
		{"10<!-- = misses n=0 @first -->", ""},
		{"20<!-- = misses n=0 @judged -->", ""},
		{"40<!-- = max misses n<2 @fourth -->", ""},
		{"30<!-- = misses n=0 @first -->", "the notebook's outputs have 10"},
		{"7<!-- = misses n=1 -->", ""}, // all agree
		{"50<!-- = misses n=2 -->", ""},
		{"50<!-- = misses n=2 @above -->", "no table at @above that shows column misses has such a row"},
		{"20<!-- = misses n=0 @nowhere -->", "want @above, @below, or the ID or a tag of a cell"},
		{"within 50<!-- >= misses n=0 -->", ""}, // of all
		{"within 30<!-- >= misses n=0 -->", "the notebook's outputs have 40"},
		{"within 30<!-- >= misses n=0 @below -->", ""},
		{`20<!-- = worst of "L1" @above -->`, "without a place"},
		{"20<!-- = misses @ n=0 -->", "want a condition"},
	} {
		nb, _ := of(c.text)
		var got []string
		var r result
		r.judgeProse(nb)
		for _, f := range r.Findings {
			got = append(got, f.Message)
		}
		if len(got) > 1 || (len(got) == 0) != (c.want == "") || c.want != "" && !strings.Contains(got[0], c.want) {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
	for text, want := range map[string]string{
		"11<!-- = misses n=0 -->":        "11<!-- = misses n=0 -->", // by none of them
		"11<!-- = misses n=0 @above -->": "20<!-- = misses n=0 @above -->",
		"11<!-- = misses n=0 @first -->": "10<!-- = misses n=0 @first -->",
	} {
		nb, c := of(text)
		fenced := false
		if got, _ := updateLines(text, readResults(nb), c.Number, &fenced); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
	// Two tables of one cell.
	nb, _ := of("20<!-- = misses n=0 @second -->")
	nb.Cells[1].Outputs = append(nb.Cells[1].Outputs, nb.Cells[0].Outputs...)
	var r result
	if r.judgeProse(nb); len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Message, "cell 2 has 20, cell 2 10; add a condition") {
		t.Errorf("%+v", r.Findings)
	}
}
