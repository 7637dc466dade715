package locality

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"presage/perf/engine"
	"presage/perf/objfile"
	"presage/perf/reuse"
	"presage/perf/subject"
	"presage/perf/trace"
)

// Names of objects that are no variables.
const (
	HeapObject     = "heap"     // what brk gave; divided by what accessed it first
	MappingsObject = "mappings" // what mmap gave, to malloc for large allocations, for instance; likewise
	StackObject    = "stack"    // of the first thread
	OtherObject    = "other"    // anything else
)

// object is what a program accesses.
type object struct {
	name     string
	variable bool
	reuse.Object
}

// objectTable returns the objects of a program: its variables by symbol, what else
// its sections of data hold under their names, then ranges of addresses. Single
// allocations are not told apart, but for the lines of the source that first
// accessed their memory: see birthsOf.
func objectTable(prog *subject.Program) ([]object, error) {
	layout, err := prog.Layout()
	if err != nil || layout == nil {
		return nil, err
	}
	vars, err := prog.File.Variables()
	if err != nil {
		return nil, err
	}
	var list []object
	for _, v := range vars {
		list = append(list, object{v.Name, true, reuse.Object{Lo: v.Addr + layout.Bias, Hi: v.End() + layout.Bias}})
	}
	list = append(list, unnamed(prog.File, vars, layout.Bias)...)
	for _, r := range []struct {
		name string
		engine.Range
	}{{HeapObject, layout.Heap}, {MappingsObject, layout.Mappings}, {StackObject, layout.Stack}} {
		if r.Lo < r.Hi {
			list = append(list, object{r.name, false, reuse.Object{Lo: r.Lo, Hi: r.Hi, ByBirth: r.name != StackObject}})
		}
	}
	return list, nil
}

// birthsOf returns, by reference of a plan, the number of its line of the source, and
// the lines as "kernel.c:17"; what has no line, or one of assembly, is named by its
// routine.
func birthsOf(prog *subject.Program, plan *trace.Plan) (of []int32, names []string) {
	at := make(map[trace.PC]string)
	for _, r := range prog.References() {
		name := r.Routine
		if r.Line > 0 && !strings.HasSuffix(r.File, ".s") { // assembly clears memory, in lines that take turns
			name = fmt.Sprintf("%s:%d", r.File[strings.LastIndexByte(r.File, '/')+1:], r.Line)
		}
		at[r.PC] = name
	}
	number := make(map[string]int32)
	for i := range plan.Refs {
		name := at[plan.Refs[i].PC]
		n, ok := number[name]
		if !ok {
			n = int32(len(names))
			number[name], names = n, append(names, name)
		}
		of = append(of, n)
	}
	return of, names
}

// unnamed returns the parts of sections that are in no variable.
func unnamed(f *objfile.File, vars []objfile.Variable, bias uint64) (list []object) {
	end := uint64(0) // of what is named so far
	for _, s := range f.Sections {
		seg := f.SegmentAt(s.Addr)
		if seg == nil { // not loaded
			continue
		}
		at, last := max(s.Addr, end), s.Addr+min(s.Size, seg.Addr+seg.MemSize-s.Addr)
		i, _ := slices.BinarySearchFunc(vars, at, func(v objfile.Variable, at uint64) int { return cmp.Compare(v.End(), at+1) })
		for ; at < last; i++ {
			next := last
			if i < len(vars) {
				next = min(next, vars[i].Addr)
			}
			if at < next {
				list = append(list, object{s.Name, false, reuse.Object{Lo: at + bias, Hi: next + bias}})
			}
			if i == len(vars) {
				break
			}
			at = vars[i].End()
		}
		end = max(end, last)
	}
	return list
}
