package recordtest

import (
	"fmt"
	"strings"
)

// difference describes the first line in which two texts differ.
func difference(recorded, again string) string {
	a, b := strings.Split(recorded, "\n"), strings.Split(again, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d: recorded\n%s\nread and written again\n%s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines recorded, %d written again", len(a), len(b))
}
