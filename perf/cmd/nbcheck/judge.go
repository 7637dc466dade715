package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image/png"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// The kinds of findings; the command's documentation explains each.
const (
	kindMalformed    = "malformed"
	kindError        = "error"
	kindStderr       = "stderr"
	kindNotExecuted  = "not-executed"
	kindStaleOrder   = "stale-order"
	kindNoImage      = "no-image"
	kindBadImage     = "bad-image"
	kindHomePath     = "home-path"
	kindRemoteScript = "remote-script"
	kindNoKernel     = "no-kernel"
	kindExecution    = "execution"
	kindNoOutput     = "no-output"
)

var (
	// failed matches the sign of a failed program under GoNB: the first line of a
	// panic, or the line that GoNB adds for a non-zero exit or a signal.
	failed = regexp.MustCompile(`(?m)^(panic: |exit status [1-9]|signal: )`)

	// escapes matches terminal colour sequences.
	escapes = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")

	// homePath matches a path in a user's home folder on Linux or macOS.
	homePath = regexp.MustCompile(`(?:^|[\s"'=:(>\[])(/(?:home|Users)/[^/\s"'<]+/|/root/)`)

	// remoteScript matches an HTML script that a page loads from elsewhere.
	remoteScript = regexp.MustCompile(`(?i)<script[^>]+src\s*=\s*["']?(https?:)?//`)
)

// judge adds the findings on a notebook's outputs.
func (r *result) judge(nb *notebook) {
	if nb.Kernel == "" {
		r.add(finding{Kind: kindNoKernel, Line: 1, Message: "metadata.kernelspec.name is missing: choose the Presage kernel and save the notebook"})
	}
	last := 0
	for i := range nb.Cells {
		c := &nb.Cells[i]
		if !c.Code || strings.TrimSpace(c.Source) == "" {
			continue // Jupyter does not execute an empty cell
		}
		r.CodeCells++
		last = r.judgeCount(c, last)
		r.judgeStderr(c)
		for _, o := range c.Outputs {
			r.judgeOutput(c, o)
		}
	}
	r.judgeProse(nb)
	if r.Images == 0 {
		r.add(finding{Kind: kindNoImage, Line: 1, Message: "no output is an image: a notebook is committed with its figures"})
	}
}

// judgeCount compares a cell's execution count with the largest before it.
func (r *result) judgeCount(c *cell, last int) int {
	switch {
	case c.Count == 0:
		r.add(c.finding(kindNotExecuted, "code cell was never executed"))
	case c.Count <= last:
		r.add(c.finding(kindStaleOrder, "executed before a cell above it (count %d after %d): run all cells from the top", c.Count, last))
	}
	return max(last, c.Count)
}

// judgeStderr looks for signs of a failed program in a cell's complete stderr, as
// one line may be spread over several outputs.
func (r *result) judgeStderr(c *cell) {
	var all strings.Builder
	for _, o := range c.Outputs {
		if o.Stream == "stderr" {
			all.WriteString(o.Text)
		}
	}
	text := escapes.ReplaceAllString(all.String(), "")
	if at := failed.FindStringIndex(text); at != nil {
		n := 1 + strings.Count(text[:at[0]], "\n")
		f := c.finding(kindStderr, "stderr line %d: %s", n, firstLine(text[at[0]:]))
		f.Detail = excerpt(text)
		r.add(f)
	}
}

func (r *result) judgeOutput(c *cell, o output) {
	text := escapes.ReplaceAllString(o.Text, "")
	if o.Type == "error" {
		f := c.finding(kindError, "%s", firstLine(text))
		f.Detail = excerpt(text)
		r.add(f)
	}
	r.judgePaths(c, text)
	for _, mime := range slices.Sorted(maps.Keys(o.Data)) {
		data := o.Data[mime]
		if strings.HasPrefix(mime, "image/") {
			r.Images++
			if mime == "image/png" {
				r.judgePNG(c, data)
			}
			continue
		}
		r.judgePaths(c, data)
		if mime == "text/html" && remoteScript.MatchString(data) {
			r.add(c.finding(kindRemoteScript, "HTML output loads a script from the network: %s", firstLine(remoteScript.FindString(data))))
		}
	}
}

func (r *result) judgePaths(c *cell, text string) {
	if m := homePath.FindStringSubmatch(text); m != nil {
		r.add(c.finding(kindHomePath, "output names %s, a folder of the user who ran it: print paths relative to the notebook", m[1]))
	}
	if r.clone != "" && strings.Contains(text, r.clone) {
		r.add(c.finding(kindHomePath, "output names %s, where the notebook lies on this computer: print paths relative to it", r.clone))
	}
}

func (r *result) judgePNG(c *cell, data string) {
	// The format allows line breaks inside base64 text.
	raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(data), ""))
	if err == nil {
		_, err = png.Decode(bytes.NewReader(raw))
	}
	if err != nil {
		r.add(c.finding(kindBadImage, "PNG output cannot be decoded: %v", err))
	}
}

// malformed adds the finding for a file that is not a notebook.
func (r *result) malformed(err error) {
	f := finding{Kind: kindMalformed, Line: 1, Message: err.Error()}
	var s *syntaxError
	if errors.As(err, &s) {
		f.Line, f.Message = s.Line, s.Message
	}
	r.add(f)
}

// relocate changes the line numbers of findings on an executed notebook, which is
// discarded, to those of its source file. Execution preserves the number of cells.
func (r *result) relocate(source *notebook) {
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Cell > 0 && f.Cell <= len(source.Cells) {
			f.Line = source.Cells[f.Cell-1].Line
		}
	}
}

func (c *cell) finding(kind, format string, args ...any) finding {
	return finding{Kind: kind, Cell: c.Number, Line: c.Line, Message: fmt.Sprintf(format, args...)}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(line)
}

// maxExcerpt is the maximum number of lines of an output that a finding quotes: the
// interesting lines of a stack trace are its first.
const maxExcerpt = 20

func excerpt(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if n := len(lines); n > maxExcerpt {
		lines = append(lines[:maxExcerpt:maxExcerpt], fmt.Sprintf("… %d more lines", n-maxExcerpt))
	}
	return strings.Join(lines, "\n")
}
