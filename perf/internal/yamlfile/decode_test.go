package yamlfile

import (
	"strings"
	"testing"
)

type content struct {
	Name string   `yaml:"name"`
	List []string `yaml:"list"`
}

func TestDecode(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"good":          {"name: x\nlist: [a, b]\n", ""},
		"one document":  {"---\nname: x\n", ""},
		"two documents": {"name: x\n---\nname: y\n", "f.yaml: 2 documents"},
		"too large":     {"name: " + strings.Repeat("x", MaxBytes), "f.yaml: 1048582 bytes"},
		"too deep":      {"name: " + strings.Repeat("[", 65), "f.yaml: line 1 is nested"},
		"unknown key":   {"name: x\nnme: y\n", "f.yaml:2:1: unknown field"},
		"not YAML":      {"name: [", "f.yaml:1:7"},
		"another type":  {"list: {a: b}\n", "f.yaml:1:"},
	} {
		var v content
		tree, err := Decode("f.yaml", []byte(c.text), &v)
		if (err == nil) != (c.want == "") || (tree == nil) != (err != nil) || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err == nil && v.Name != "x" {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// FuzzDecode demands a tree or an error, and no panic.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("name: x\nlist: [a]\n"))
	f.Add([]byte("!!seq\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v content
		if tree, err := Decode("f", data, &v); (tree == nil) == (err == nil) {
			t.Fatalf("%v, %v", tree, err)
		}
	})
}
