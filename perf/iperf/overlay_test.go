package iperf

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presage/perf/fit"
)

func TestParseOverlay(t *testing.T) {
	o, err := ParseOverlay("o.yaml", []byte(`
name: k
values: {a1: n, "merge(a1)@": n + 1}
arrays: {a0: a}
nest: 'k.c:8'
loops: [{name: i}, {trips: n - 2}]
references: [{at: 'k.c:9', array: b, strides: ['8', 8*n], offset: 8*n}]
`))
	if err != nil {
		t.Fatal(err)
	}
	if o.Values["merge(a1)@"] != "n + 1" || o.Loops[1].Trips != "n - 2" || o.References[0].Strides[1] != "8*n" {
		t.Errorf("%+v", o)
	}
	for text, want := range map[string]string{
		"values: {a1: 'n +'}":                                          "o.yaml:1:",
		"name: k\nloops: [{name: i, trip: n}]":                         "o.yaml:2:",
		"name: k\nloops: [{name: i, trips: 'n n'}]":                    "o.yaml:2:",
		"name: k\nreferences: [{at: 'k.c:1', strides: ['8']}]":         "array is missing",
		"name: k\nreferences: [{array: a, strides: ['8']}]":            "at is missing",
		"name: k\nreferences: [{at: x, array: a}]":                     "strides are missing",
		"references: [{at: x, array: a, strides: ['8*']}]":             "o.yaml:1:",
		"references: [{at: x, array: a, strides: ['8'], offset: '*'}]": "o.yaml:1:",
		"registers: {a1: n}":                                           "registers",
	} {
		if _, err := ParseOverlay("o.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	path := filepath.Join(t.TempDir(), "o.yaml")
	if _, err := ReadOverlay(path); err == nil {
		t.Error("a file that is missing was read")
	}
	if err := os.WriteFile(path, []byte("name: x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if o, err := ReadOverlay(path); err != nil || o.Name != "x" {
		t.Errorf("%+v, %v", o, err)
	}
}

// What is written is read as the same kernel, and written the same again.
func TestFormatKernels(t *testing.T) {
	all := DefaultKernels()
	text := FormatKernels(all...)
	again, err := ParseKernels("k.yaml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if got := FormatKernels(again...); string(got) != string(text) {
		t.Errorf("written again:\n%s\nat first:\n%s", got, text)
	}
	for i, k := range all {
		a, err1 := k.At(fit.Point{"n": 24})
		b, err2 := again[i].At(fit.Point{"n": 24})
		if err1 != nil || err2 != nil || !slices.Equal(a.Trips, b.Trips) || len(a.Refs) != len(b.Refs) {
			t.Fatalf("%s: %v, %v", k.Name, err1, err2)
		}
		for j := range a.Refs {
			if !slices.Equal(a.Refs[j].Strides, b.Refs[j].Strides) || a.Refs[j].Offset != b.Refs[j].Offset || a.Refs[j].Kind != b.Refs[j].Kind {
				t.Errorf("%s, reference %d: %+v, want %+v", k.Name, j, b.Refs[j], a.Refs[j])
			}
		}
	}
}

// The localities of the report's kernel, by its section 3.1 no temporal reuse and
// spatial reuse along i, and of two loops that do not move a reference.
func TestLocalities(t *testing.T) {
	at := func(k *Kernel, n float64) *Nest {
		nest, err := k.At(fit.Point{"n": n})
		if err != nil {
			t.Fatal(err)
		}
		return nest
	}
	find := func(name string) *Kernel {
		k, err := FindKernel(name)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	for _, c := range []struct {
		kernel string
		n      float64
		block  uint64
		want   []Locality
	}{
		{"increment-ij", 100, 32, []Locality{{-1, 0, 0}, {-1, 0, 0}}},
		{"increment-ij", 100, 8, []Locality{{-1, -1, 0}, {-1, -1, 0}}},
		{"increment-ij", 2, 32, []Locality{{-1, 1, 0}, {-1, 1, 0}}}, // rows of 16 bytes
		{"increment-ji", 100, 32, []Locality{{-1, 1, 0}, {-1, 1, 0}}},
		{"copy", 100, 64, []Locality{{-1, 0, 0}, {-1, 0, 1}}},
		{"stencil", 100, 64, []Locality{{-1, 1, 0}, {-1, 1, 0}, {-1, 1, 0}, {-1, 1, 0}, {-1, 1, 0}, {-1, 1, 5}}},
	} {
		if got := at(find(c.kernel), c.n).Localities(c.block); !slices.Equal(got, c.want) {
			t.Errorf("%s, n %g, blocks of %d: %+v, want %+v", c.kernel, c.n, c.block, got, c.want)
		}
	}
	n := &Nest{Trips: []float64{5, 1, 7}, Refs: []NestReference{{Array: "s", Bytes: 8, Strides: []int64{0, 0, 0}}, {Array: "x", Bytes: 8, Strides: []int64{0, 0, -8}}}}
	if got, want := n.Localities(64), []Locality{{2, -1, 0}, {0, 2, 1}}; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
