// Package yamldepth refuses YAML texts that are nested too deeply to be meant,
// before a decoder sees them: decoders take time and memory that grow with the
// square of the depth, gigabytes for a file of some tens of kilobytes.
package yamldepth

import (
	"bytes"
	"fmt"
)

// Most is the greatest depth that Check lets pass. Descriptions that people write
// have a depth below ten.
const Most = 64

// Check returns an error that names the line if a text is nested more than Most
// levels deep. It looks at brackets, wherever they stand, and at how far a line is
// indented by spaces and by the dashes of sequences, two columns counting as a
// level: an upper bound of the depth, from one pass over the text.
func Check(data []byte) error {
	depth, number := 0, 0
	for line := range bytes.Lines(data) {
		number++
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
		if most > Most {
			return fmt.Errorf("line %d is nested more than %d levels deep", number, Most)
		}
	}
	return nil
}
