package annotate

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"presage/perf/internal/num"
)

// around is the number of lines shown before and after one that costs something.
const around = 2

// least is the share of the costs of a run from which a file is shown.
const least = 0.01

// file is a file of the source with the lines to be shown.
type file struct {
	path  string
	share float64 // of the cost of the run
	lines []*Line // by line
	text  []string
	err   error // why there is no text
}

// weight is what lines, files and scopes are compared by: the wait or, where no latency
// is known, the misses of the first level.
func (a *Annotation) weight(c *Costs) float64 {
	if a.timed() {
		return c.Wait
	}
	return c.Misses[0]
}

// timed reports whether any latency is known.
func (a *Annotation) timed() bool {
	return slices.ContainsFunc(a.Latency, func(l float64) bool { return l > 0 })
}

// total returns the costs of the run.
func (a *Annotation) total() *Costs {
	all := &Costs{Misses: make([]float64, len(a.Levels))}
	for i := range a.Lines {
		all.add(&a.Lines[i].Costs)
	}
	return all
}

// files returns the files that cost most first, those of little cost left out.
func (a *Annotation) files() []*file {
	total := a.weight(a.total())
	var files []*file
	for i := range a.Lines {
		l := &a.Lines[i]
		if len(files) == 0 || files[len(files)-1].path != l.File {
			files = append(files, &file{path: l.File})
		}
		f := files[len(files)-1]
		f.lines = append(f.lines, l)
		f.share += num.Ratio(a.weight(&l.Costs), total)
	}
	files = slices.DeleteFunc(files, func(f *file) bool { return f.share < least })
	slices.SortStableFunc(files, func(x, y *file) int { return -cmp.Compare(x.share, y.share) })
	for _, f := range files {
		if f.path != "" {
			f.text, f.err = a.sources.lines(f.path)
		}
	}
	return files
}

// shown is a line of a file to be shown: of the source, with its costs if it has any,
// or a gap.
type shown struct {
	number int // 0: a gap
	text   string
	line   *Line // nil: no costs
}

// shown returns the lines of a file with the lines around them.
func (f *file) shown() []shown {
	byNumber := make(map[int]*Line)
	wanted := make(map[int]bool)
	for _, l := range f.lines {
		byNumber[l.Line] = l
		for n := max(1, l.Line-around); n <= l.Line+around && len(f.text) > 0; n++ {
			wanted[n] = true
		}
		wanted[l.Line] = true
	}
	var all []shown
	last := 0
	numbers := make([]int, 0, len(wanted))
	for n := range wanted {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		if n > len(f.text) && byNumber[n] == nil {
			continue
		}
		if last > 0 && n > last+1 {
			all = append(all, shown{})
		}
		text := ""
		if n >= 1 && n <= len(f.text) {
			text = f.text[n-1]
		}
		all = append(all, shown{n, text, byNumber[n]})
		last = n
	}
	return all
}

// about says what the misses of a line come from.
func (l *Line) about() string {
	p := &l.Most
	switch {
	case l.MostWait == 0:
		return ""
	case p.Cold():
		return "first accesses to " + p.Object
	case p.Carrier == "":
		return fmt.Sprintf("%s, after %s", p.Object, p.Source)
	case p.Crosses:
		return fmt.Sprintf("%s, carried by %s", p.Object, p.Carrier)
	}
	return fmt.Sprintf("%s, after %s in one iteration of %s", p.Object, p.Source, p.Carrier)
}

// title says what is annotated.
func (a *Annotation) title() string {
	at := a.Point.String()
	if at != "" {
		at = " at " + at
	}
	return a.Program + at + " on " + a.Machine
}

// head names the columns.
func (a *Annotation) head() []string {
	head := []string{"executions", "accesses"}
	for _, l := range a.Levels {
		head = append(head, l+" misses")
	}
	if a.timed() {
		head = append(head, "wait")
	}
	return head
}

// cells are the values of the columns, empty for what is 0; wait is a share.
func (a *Annotation) cells(l *Line, total *Costs) []string {
	count := func(n float64) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf("%.0f", n)
	}
	cells := []string{count(float64(l.Executions)), count(l.Accesses)}
	for _, n := range l.Misses {
		cells = append(cells, count(n))
	}
	if a.timed() {
		wait := ""
		if l.Wait > 0 {
			wait = num.Percent(num.Ratio(l.Wait, total.Wait))
		}
		cells = append(cells, wait)
	}
	return cells
}

// WriteText writes the files that cost most with the costs of each line, then the tree of
// scopes. Where a file of the source is not found, it says so and lists its lines.
func (a *Annotation) WriteText(w io.Writer) error {
	total := a.total()
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", a.title())
	if a.timed() {
		fmt.Fprintln(&out, "wait: the share of what all misses take if none overlaps another")
	}
	for _, f := range a.files() {
		fmt.Fprintf(&out, "\n%s\n", f.heading())
		t := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(t, "%s\tline\t \n", strings.Join(a.head(), "\t"))
		blank := strings.Repeat("\t", len(a.head()))
		for _, s := range f.shown() {
			switch {
			case s.number == 0:
				fmt.Fprintf(t, "%s…\t \n", blank)
			case s.line == nil:
				fmt.Fprintf(t, "%s%d\t %s\n", blank, s.number, plain(s.text))
			default:
				text := plain(s.text)
				if about := s.line.about(); about != "" {
					text += "    « " + about
				}
				fmt.Fprintf(t, "%s\t%d\t %s\n", strings.Join(a.cells(s.line, total), "\t"), s.number, text)
			}
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	a.writeScopes(&out, total)
	for _, warning := range a.Warnings {
		fmt.Fprintf(&out, "warning: %s\n", warning)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// plain makes a line of the source fit a table: without tabs and control characters.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ReplaceAll(text, "\t", "    "))
}

// heading names a file and says what is missing.
func (f *file) heading() string {
	name := f.path
	if name == "" {
		name = "no line is known"
	}
	text := fmt.Sprintf("%s: %s", name, num.Percent(f.share))
	if f.err != nil {
		text += fmt.Sprintf(" (no text: %v)", f.err)
	}
	return text
}

// writeScopes writes the tree of scopes.
func (a *Annotation) writeScopes(out *strings.Builder, total *Costs) {
	fmt.Fprintf(out, "\nscopes, with the loops inside\n")
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	head := a.head()[1:]
	if a.timed() {
		head = append(head, "own wait")
	}
	fmt.Fprintf(t, "%s\t \n", strings.Join(head, "\t"))
	for i := range a.Scopes {
		s := &a.Scopes[i]
		if num.Ratio(a.weight(&s.All), a.weight(total)) < least {
			continue
		}
		cells := a.cells(&Line{Costs: s.All}, total)[1:]
		if a.timed() {
			cells = append(cells, num.Percent(num.Ratio(s.Own.Wait, total.Wait)))
		}
		fmt.Fprintf(t, "%s\t %s%s\n", strings.Join(cells, "\t"), strings.Repeat("  ", s.Depth), s.Label)
	}
	_ = t.Flush() // a Builder takes all
}
