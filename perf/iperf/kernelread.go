package iperf

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"presage/perf/fit"
	"presage/perf/trace"
)

// The content of a file.
type kernelsText struct {
	Kernels []kernelText `yaml:"kernels"`
}

type kernelText struct {
	Name       string          `yaml:"name"`
	Title      string          `yaml:"title"`
	Source     string          `yaml:"source"`
	Params     []string        `yaml:"params"`
	Loops      []loopText      `yaml:"loops"`
	References []referenceText `yaml:"references"`
}

type loopText struct {
	Name  string `yaml:"name"`
	Trips string `yaml:"trips"`
}

type referenceText struct {
	Array   string            `yaml:"array"`
	Kind    string            `yaml:"kind"`
	Bytes   uint64            `yaml:"bytes"`
	Strides map[string]string `yaml:"strides"`
	Offset  string            `yaml:"offset"`
}

//go:embed kernels.yaml
var defaultKernels []byte

// DefaultKernels returns the package's kernels.
func DefaultKernels() []*Kernel {
	k, err := ParseKernels("kernels.yaml", defaultKernels)
	if err != nil {
		panic("iperf: " + err.Error()) // a test reads the file
	}
	return k
}

// FindKernel returns the package's kernel called name.
func FindKernel(name string) (*Kernel, error) {
	var names []string
	for _, k := range DefaultKernels() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return nil, fmt.Errorf("iperf: no kernel %q; there are %s", name, strings.Join(names, ", "))
}

// ParseKernels reads descriptions of kernels. An error begins with file:line.
func ParseKernels(file string, data []byte) ([]*Kernel, error) {
	var t kernelsText
	doc, err := decode(file, data, &t)
	if err != nil {
		return nil, err
	}
	if len(t.Kernels) == 0 {
		doc.fail("$", "no kernels: list them under kernels:")
	}
	r := &factorReader{document: doc}
	var out []*Kernel
	for i := range t.Kernels {
		path := fmt.Sprintf("$.kernels[%d]", i)
		k := r.kernel(path, &t.Kernels[i])
		if doc.err != nil {
			return nil, doc.err
		}
		if err := k.Check(); err != nil {
			return nil, fmt.Errorf("%s: %w", doc.at(path), err)
		}
		if slices.ContainsFunc(out, func(o *Kernel) bool { return o.Name == k.Name }) {
			doc.fail(path+".name", "kernel %q stands twice", k.Name)
		}
		out = append(out, k)
	}
	if doc.err != nil {
		return nil, doc.err
	}
	return out, nil
}

func (r *factorReader) kernel(path string, t *kernelText) *Kernel {
	k := &Kernel{Name: t.Name, Title: t.Title, Source: t.Source, Params: t.Params}
	r.need(path+".name", t.Name)
	var names []string
	for i, l := range t.Loops {
		at := fmt.Sprintf("%s.loops[%d]", path, i)
		if r.need(at+".name", l.Name) && slices.Contains(names, l.Name) {
			r.fail(at+".name", "loop %q stands twice", l.Name)
		}
		names = append(names, l.Name)
		k.Loops = append(k.Loops, Loop{Name: l.Name, Trips: r.term(at+".trips", l.Trips)})
	}
	for i := range t.References {
		k.References = append(k.References, r.reference(fmt.Sprintf("%s.references[%d]", path, i), &t.References[i], names))
	}
	return k
}

func (r *factorReader) reference(path string, t *referenceText, loops []string) Reference {
	ref := Reference{Array: t.Array, Bytes: t.Bytes}
	r.need(path+".array", t.Array)
	switch t.Kind {
	case "load":
	case "store":
		ref.Kind = trace.Store
	default:
		r.fail(path+".kind", "kind: %q is neither load nor store", t.Kind)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Strides)) {
		if !slices.Contains(loops, name) {
			r.fail(path+".strides", "stride along %q, which is no loop", name)
		}
	}
	for _, name := range loops {
		text, ok := t.Strides[name]
		if !ok {
			r.fail(path, "no stride along loop %s; write 0 if it does not move the reference", name)
			return ref
		}
		ref.Strides = append(ref.Strides, r.term(path+".strides", text))
	}
	ref.Offset = fit.Term{}
	if t.Offset != "" {
		ref.Offset = r.term(path+".offset", t.Offset)
	}
	return ref
}
