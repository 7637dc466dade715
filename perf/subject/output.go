package subject

import "strings"

// outputKept is how many bytes of a program's output are kept: enough for what a
// benchmark prints about its own verification.
const outputKept = 8 << 10

// Tail is a writer that keeps the last 8 KiB.
type Tail struct{ data []byte }

// Write implements io.Writer; it never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if extra := len(t.data) - outputKept; extra > outputKept {
		t.data = append(t.data[:0], t.data[extra:]...)
	}
	return len(p), nil
}

// String returns what was kept.
func (t *Tail) String() string { return string(t.data[max(0, len(t.data)-outputKept):]) }

// quoted is how many lines of a program's output an error quotes.
const quoted = 12

// Quote returns the last lines, indented, of the first output that is not blank,
// to end an error with; empty if all are.
func Quote(outputs ...*Tail) string {
	for _, t := range outputs {
		text := strings.TrimSpace(t.String())
		if text == "" {
			continue
		}
		lines := strings.Split(text, "\n")
		if extra := len(lines) - quoted; extra > 0 {
			lines = lines[extra:]
		}
		return "\n\t" + strings.Join(lines, "\n\t")
	}
	return ""
}
