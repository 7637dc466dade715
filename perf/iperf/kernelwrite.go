package iperf

import (
	"fmt"
	"strconv"
	"strings"

	"presage/perf/fit"
	"presage/perf/trace"
)

// FormatKernels returns kernels in the format of ParseKernels.
func FormatKernels(kernels ...*Kernel) []byte {
	var b strings.Builder
	b.WriteString("kernels:\n")
	for _, k := range kernels {
		fmt.Fprintf(&b, "  - name: %s\n", strconv.Quote(k.Name))
		if k.Title != "" {
			fmt.Fprintf(&b, "    title: %s\n", strconv.Quote(k.Title))
		}
		if k.Source != "" {
			fmt.Fprintf(&b, "    source: %s\n", strconv.Quote(k.Source))
		}
		fmt.Fprintf(&b, "    params: [%s]\n    loops:\n", strings.Join(k.Params, ", "))
		for _, l := range k.Loops {
			fmt.Fprintf(&b, "      - {name: %s, trips: %s}\n", strconv.Quote(l.Name), quoted(l.Trips))
		}
		b.WriteString("    references:\n")
		for i := range k.References {
			b.WriteString(k.formatReference(&k.References[i]))
		}
	}
	return []byte(b.String())
}

func (k *Kernel) formatReference(r *Reference) string {
	kind := "load"
	if r.Kind == trace.Store {
		kind = "store"
	}
	var strides []string
	for j, s := range r.Strides {
		strides = append(strides, fmt.Sprintf("%s: %s", strconv.Quote(k.Loops[j].Name), quoted(s)))
	}
	text := fmt.Sprintf("      - {array: %s, kind: %s, bytes: %d, strides: {%s}", strconv.Quote(r.Array), kind, r.Bytes, strings.Join(strides, ", "))
	if r.Offset.String() != "" {
		text += ", offset: " + quoted(r.Offset)
	}
	return text + "}\n"
}

func quoted(t fit.Term) string { return strconv.Quote(t.String()) }
