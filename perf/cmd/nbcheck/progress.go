package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cellMark begins a line of nbconvert's standard error that announces a code cell:
// the rest is the cell's index.
const cellMark = "nbcheck-cell "

// cellHook is a configuration file for nbconvert that makes it announce each code
// cell before it runs it, and leave out what a cell displayed and then cleared, such as
// its progress. Versions that do not know a hook ignore it.
const cellHook = `import sys

from nbconvert.preprocessors import Preprocessor

def announce(cell, cell_index):
    print("` + cellMark + `%d" % cell_index, file=sys.stderr, flush=True)

def blank(output):
    return output.output_type == "display_data" and not any(output.data.values())

class Tidy(Preprocessor):
    enabled = True

    def preprocess(self, notebook, resources):
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = [o for o in cell.outputs if not blank(o)]
        return notebook, resources

c = get_config()
c.ExecutePreprocessor.on_cell_execute = announce
c.NotebookExporter.preprocessors = [Tidy]
`

// writeHook writes cellHook into a folder and returns the file's path.
func writeHook(dir string) (string, error) {
	path := filepath.Join(dir, "announce.py")
	return path, os.WriteFile(path, []byte(cellHook), 0o600)
}

// A cellLog takes nbconvert's standard error apart: announced cells become lines of
// progress, everything else is kept.
type cellLog struct {
	out      io.Writer // for progress; nil: none
	notebook string
	code     map[int]int // which of the code cells, from 1, by index of the cell
	start    time.Time

	text, line bytes.Buffer // other output, and the line that has not ended
}

// newCellLog returns the log of a notebook that starts to run now.
func newCellLog(out io.Writer, path string, nb *notebook) *cellLog {
	l := &cellLog{out: out, notebook: path, code: make(map[int]int), start: time.Now()}
	for i, c := range nb.Cells {
		if c.Code {
			l.code[i] = len(l.code) + 1
		}
	}
	return l
}

// Write implements io.Writer.
func (l *cellLog) Write(p []byte) (int, error) {
	for _, b := range p {
		l.line.WriteByte(b)
		if b == '\n' {
			l.endLine()
		}
	}
	return len(p), nil
}

// endLine reports the line if it announces a cell, and keeps it if not.
func (l *cellLog) endLine() {
	defer l.line.Reset()
	rest, ok := strings.CutPrefix(strings.TrimSpace(l.line.String()), cellMark)
	index, err := strconv.Atoi(rest)
	if !ok || err != nil {
		l.text.Write(l.line.Bytes())
		return
	}
	if l.out != nil {
		fmt.Fprintf(l.out, "%s: code cell %d of %d, after %.0f s\n", l.notebook, l.code[index], len(l.code), time.Since(l.start).Seconds())
	}
}

// String returns what was no announcement.
func (l *cellLog) String() string { return l.text.String() + l.line.String() }
