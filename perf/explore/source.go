package explore

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"presage/perf/misses"
	"presage/perf/subject"
)

// LineMisses is the misses of a line of the source, at the size to predict.
type LineMisses struct {
	File   string  `frame:"file"`
	Line   int     `frame:"line"`
	Misses float64 `frame:"pred_misses"`
	Share  float64 `frame:"share"`
}

// Lines returns the lines of the source that have misses, most first. Accesses by
// code without debug information have no line: their file is empty.
func (v *View) Lines() ([]LineMisses, error) {
	st := v.State
	st.By = subject.ByReference
	h, err := v.session.scoped(v.model, &st, st.At)
	if err != nil {
		return nil, err
	}
	type line struct {
		file string
		line int
	}
	scopes := v.model.Scopes(subject.ByReference)
	where := make([]line, len(h.Names))
	for g := range misses.Group(v.model.Groups()) {
		r := v.model.References(g)[0]
		where[scopes.Of[g]] = line{r.File, r.Line}
	}
	sums, total := make(map[line]float64), 0.0
	for i := range h.Names {
		m := h.Misses(i, st.cache()).Total()
		sums[where[i]] += m
		total += m
	}
	var rows []LineMisses
	for at, m := range sums {
		if m > 0 {
			rows = append(rows, LineMisses{at.file, at.line, m, m / total})
		}
	}
	slices.SortFunc(rows, func(a, b LineMisses) int {
		return cmp.Or(cmp.Compare(b.Misses, a.Misses), strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return rows, nil
}

// What of the source is shown.
const (
	maxFiles    = 4
	around      = 3 // lines before and after one with misses
	hotShare    = 0.01
	maxFileSize = 8 << 20
)

type sourceContent struct {
	Note  string
	Files []fileContent
}

type fileContent struct {
	Name, Problem string
	Share         float64
	Lines         []lineContent
}

type lineContent struct {
	Text string
	Hot  bool
}

// source shows the files with the most misses, around the lines that have them.
func (v *View) source() (*sourceContent, error) {
	rows, err := v.Lines()
	if err != nil {
		return nil, err
	}
	files := make(map[string]map[int]LineMisses)
	shares := make(map[string]float64)
	var names []string
	for _, r := range rows {
		if files[r.File] == nil {
			files[r.File] = make(map[int]LineMisses)
			names = append(names, r.File)
		}
		files[r.File][r.Line] = r
		shares[r.File] += r.Share
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(shares[b], shares[a]) })
	c := &sourceContent{Note: fmt.Sprintf("Shares of the misses in %s of the whole program at %s. Lines with %g%% or more stand out.",
		v.State.Level, v.session.at(&v.State, v.State.At), 100*hotShare)}
	for _, name := range names[:min(maxFiles, len(names))] {
		if name == "" {
			c.Note += fmt.Sprintf(" %s are of code without debug information.", percent(shares[name]))
			continue
		}
		c.Files = append(c.Files, v.session.annotated(name, files[name], shares[name]))
	}
	return c, nil
}

// annotated shows a file, or only the numbers of its lines if it cannot be read.
func (s *Session) annotated(name string, lines map[int]LineMisses, share float64) fileContent {
	c := fileContent{Name: shortFile(name), Share: share}
	text, err := s.readSource(name)
	if err != nil {
		c.Problem = fmt.Sprintf("The source is not here (%v); start presage explore with --source FOLDER.", err)
	}
	numbers := make([]int, 0, len(lines))
	for n := range lines {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	shown := 0
	for _, n := range numbers {
		if lines[n].Share < hotShare/10 {
			continue
		}
		from, to := n, n
		if text != nil {
			from, to = max(shown+1, n-around, 1), min(n+around, len(text))
		}
		if from > shown+1 && shown > 0 {
			c.Lines = append(c.Lines, lineContent{Text: "      …"})
		}
		for k := from; k <= to; k++ {
			c.Lines = append(c.Lines, annotatedLine(k, lines[k], text))
		}
		shown = max(shown, to)
	}
	return c
}

func annotatedLine(n int, m LineMisses, text []string) lineContent {
	share := ""
	if m.Share >= 0.00005 {
		share = fmt.Sprintf("%.2f%%", 100*m.Share)
	}
	source := ""
	if n <= len(text) {
		source = text[n-1]
	}
	return lineContent{Text: fmt.Sprintf("%8s %5d  %s", share, n, source), Hot: m.Share >= hotShare}
}

// readSource reads a file that the program's debug information names, from where that
// says or from the session's folder of sources.
func (s *Session) readSource(name string) ([]string, error) {
	candidates := []string{filepath.FromSlash(name)}
	if s.opt.Source != "" {
		parts := strings.Split(strings.Trim(filepath.ToSlash(name), "/"), "/")
		for i := range parts { // the longest part of the path that is there
			if rest := filepath.Join(parts[i:]...); filepath.IsLocal(rest) {
				candidates = append(candidates, filepath.Join(s.opt.Source, rest))
			}
		}
	}
	var first error
	for _, c := range candidates {
		lines, err := readLines(c)
		if err == nil {
			return lines, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

func readLines(name string) ([]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	var lines []string
	in := bufio.NewScanner(io.LimitReader(f, maxFileSize))
	in.Buffer(nil, maxFileSize)
	for in.Scan() {
		lines = append(lines, strings.ToValidUTF8(in.Text(), "�"))
	}
	return lines, in.Err()
}
