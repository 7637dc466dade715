package yamlfile

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

type content struct {
	Name string   `yaml:"name"`
	List []string `yaml:"list"`
}

func TestDecode(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"good":            {"name: x\nlist: [a, b]\n", ""},
		"one document":    {"---\nname: x\n", ""},
		"two documents":   {"name: x\n---\nname: y\n", "f.yaml: 2 documents"},
		"too large":       {"name: " + strings.Repeat("x", MaxBytes), "f.yaml: 131078 bytes"},
		"too many lines":  {"name: x\nlist: [\n" + strings.Repeat("\n", 4000), "f.yaml: more than 4000 lines"},
		"aliases":         {"name: &n x\nlist: [*n, *n]\n", ""},
		"many aliases":    {"list: &l [" + strings.Repeat("a,", 1000) + "]\nname: [" + strings.Repeat("*l,", 100) + "]\n", "f.yaml: more than 100000 values"},
		"key is an alias": {"name: &n x\n*n : y\n", "f.yaml:2:1: unknown field"},
		"too deep":        {"name: " + strings.Repeat("[", 65), "f.yaml: line 1 is nested"},
		"unknown key":     {"name: x\nnme: y\n", "f.yaml:2:1: unknown field"},
		"not YAML":        {"name: [", "f.yaml:1:7"},
		"another type":    {"list: {a: b}\n", "f.yaml:1:"},
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

// TestDecodeTime demands that texts which took half a minute or gigabytes before they
// were bounded come to an end.
func TestDecodeTime(t *testing.T) {
	laughs, merged := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n", "a0: &a0 {x: y}\n"
	for i := range 9 {
		laughs += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 10))
		merged += fmt.Sprintf("a%d: &a%d {%s}\n", i+1, i+1, strings.Repeat(fmt.Sprintf("? {<<: *a%d} : x, ", i), 10))
	}
	for name, text := range map[string]string{
		"laughs":    laughs,
		"merged":    merged,
		"folded":    "name: >\n" + strings.Repeat("\n", MaxBytes-9),
		"documents": strings.Repeat("--- a\n", MaxBytes/6),
		"keys":      strings.Repeat("k: v\n", MaxBytes/5),
		"mappings":  "list: [" + strings.Repeat("{a: b},", MaxBytes/7-2) + "]",
	} {
		done := make(chan error, 1)
		go func() {
			var v any
			_, err := Decode("f", []byte(text), &v)
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil && name != "mappings" {
				t.Errorf("%s: no error", name)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: not decoded within 20 seconds", name)
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
