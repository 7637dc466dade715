package yamlfile

import (
	"strings"
	"testing"
)

func TestCheckLayout(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":                {"", ""},
		"plain":                {"a:\n  - b: [1, {c: d}]\n", ""},
		"many brackets":        {strings.Repeat("- [1, {a: b}]\n", 1000), ""},
		"as deep as may":       {strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth), ""},
		"sequences":            {"a:\n" + strings.Repeat("[", maxDepth+1), "line 2 is nested more than 64"},
		"over lines":           {strings.Repeat("{a:\n", maxDepth+1), "line 65"},
		"compact blocks":       {strings.Repeat("- ", maxDepth+1) + "a\n", "line 1"},
		"as many lines as may": {strings.Repeat("a\n", maxLines), ""},
		"too many lines":       {strings.Repeat("\n", maxLines+1), "more than 4000 lines"},
		"indented":             {"a:\n" + strings.Repeat(" ", 2*maxDepth+2) + "b\n", "line 2"},
		"keys of mappings":     {strings.Repeat("? ", maxDepth+1) + "a\n", "line 1"},
	} {
		err := checkLayout([]byte(c.text))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
