package yamlfile

import (
	"bytes"
	"fmt"
)

// maxDepth is the greatest depth that is read. Descriptions that people write have a
// depth below ten. Decoders take time and memory that grow with the square of the
// depth, gigabytes for a file of some tens of kilobytes.
const maxDepth = 64

// maxLines bounds the lines of a file: ten times those of the longest one of this module.
// See MaxBytes.
const maxLines = 4000

// checkLayout returns an error if a text has more than maxLines lines, or one that names
// the line if the text is nested more than maxDepth levels deep. It looks at brackets, wherever they stand, and at how far a line is
// indented by spaces and by the dashes of sequences, two columns counting as a
// level: an upper bound of the depth, from one pass over the text.
func checkLayout(data []byte) error {
	depth, number := 0, 0
	for line := range bytes.Lines(data) {
		if number++; number > maxLines {
			return fmt.Errorf("more than %d lines, the most that is read", maxLines)
		}
		prefix := len(line) - len(bytes.TrimLeft(line, " \t-?:"))
		most := max(depth, prefix/2)
		for _, c := range line {
			switch c {
			case '[', '{':
				depth++
				most = max(most, depth)
			case ']', '}':
				depth = max(depth-1, 0)
			}
		}
		if most > maxDepth {
			return fmt.Errorf("line %d is nested more than %d levels deep", number, maxDepth)
		}
	}
	return nil
}
