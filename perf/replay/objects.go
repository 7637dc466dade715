package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// Object is a variable of an executable.
type Object struct {
	Name      string // unique in the executable, the same in another compilation
	Addr, End uint64
}

// objects returns the variables of an executable, by ascending address.
func (c *Code) objects() ([]Object, error) {
	list, err := c.graph.File.Variables()
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	seen := make(map[string]int)
	out := make([]Object, 0, len(list))
	for _, v := range list {
		name := v.Name
		if n := seen[name]; n > 0 { // static ones of several files
			name += " " + strconv.Itoa(n+1)
		}
		seen[v.Name]++
		out = append(out, Object{name, v.Addr, v.End()})
	}
	return out, nil
}

// objectOf returns the index of the object that holds all addresses of a reference;
// -1 if there is none.
func (r *Run) objectOf(ref *RunRef) int {
	i, found := slices.BinarySearchFunc(r.Objects, ref.Lo, func(o Object, addr uint64) int { return cmp.Compare(o.Addr, addr) })
	if !found {
		i--
	}
	if i < 0 || ref.Lo > ref.Hi || ref.Hi >= r.Objects[i].End {
		return -1
	}
	return i
}

// addressOf returns the address of an object; false if the executable has none of the
// name.
func addressOf(objects []Object, name string) (uint64, bool) {
	i := slices.IndexFunc(objects, func(o Object) bool { return o.Name == name })
	if i < 0 {
		return 0, false
	}
	return objects[i].Addr, true
}

// findObjects finds, where each size has an executable of its own, the object that
// each reference goes to, by the name that it has in all runs.
func (f *fitter) findObjects() {
	f.addresses = make([]map[string]uint64, len(f.runs))
	for r := range f.runs {
		f.addresses[r] = make(map[string]uint64)
		for _, o := range f.runs[r].Objects {
			f.addresses[r][o.Name] = o.Addr
		}
	}
	f.objects = make([]string, f.first[len(f.prog.Places)])
	for i := range f.prog.Places {
		for j := range f.prog.Places[i].Refs {
			f.objects[f.first[i]+j] = f.object(i, j)
		}
	}
}

func (f *fitter) object(i, j int) string {
	name := ""
	for r, in := range f.in[i] {
		if in == nil || in.Refs[j].Lo > in.Refs[j].Hi {
			continue
		}
		k := f.runs[r].objectOf(&in.Refs[j])
		if k < 0 || name != "" && f.runs[r].Objects[k].Name != name {
			return ""
		}
		name = f.runs[r].Objects[k].Name
	}
	return name
}
