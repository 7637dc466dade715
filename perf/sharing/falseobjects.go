package sharing

import (
	"cmp"

	"presage/perf/locality"
	"presage/perf/subject"
)

// falseObjects are the objects that parts are of.
type falseObjects struct {
	of     []int32 // by part
	list   []falseObject
	at     map[string]int32 // by name: index in list
	misses float64          // of false sharing, of all
}

// falseObject is an object with its misses of false sharing.
type falseObject struct {
	name          string
	misses        float64
	scope, writer string
	library       bool
}

// objects returns those of a run's parts.
func (s *stored) objects(prog *subject.Program) (*falseObjects, error) {
	kinds, err := locality.ClassificationOf(prog)
	if err != nil {
		return nil, err
	}
	a := &falseObjects{of: make([]int32, len(s.Parts)), at: make(map[string]int32)}
	named := make([]namedMiss, len(s.Misses))
	byBlock := make(map[uint64][]namedMiss)
	for i := range s.Misses {
		m := &s.Misses[i]
		named[i] = namedMiss{m, cmp.Or(m.Memory, kinds.NameAt(m.Address, m.First))}
		block := m.Address / maxBlockBytes
		byBlock[block] = append(byBlock[block], named[i])
		a.misses += float64(m.Counts.False)
	}
	for k := range s.Parts {
		p := &s.Parts[k]
		a.of[k] = a.objectOf(p, byBlock[p.Address/maxBlockBytes])
	}
	byScopes := falseByScopes(named, prog)
	libraries := prog.LibraryScopes()
	for i := range a.list {
		a.list[i].sumUp(byScopes[a.list[i].name], libraries)
	}
	return a, nil
}

// namedMiss is misses with the name of the object that they are on.
type namedMiss struct {
	*storedMiss
	object string
}

// objectOf returns the object of a part, given the misses in its block: that of the first
// inside the part or, if none is, of the first; -1 without misses. The list holds the first
// in any case.
func (a *falseObjects) objectOf(p *part, inBlock []namedMiss) int32 {
	object := int32(-1)
	for _, m := range inBlock {
		if p.Address <= m.Address && m.Address < p.Address+p.Bytes {
			return a.number(m.object)
		}
		if object < 0 {
			object = a.number(m.object)
		}
	}
	return object
}

// number returns the index of an object in the list, to which it is added if it is new.
func (a *falseObjects) number(name string) int32 {
	n, ok := a.at[name]
	if !ok {
		n = int32(len(a.list))
		a.at[name] = n
		a.list = append(a.list, falseObject{name: name})
	}
	return n
}

// scopePair is the scope of a miss, and that which wrote the block before.
type scopePair struct{ scope, writer string }

// falseByScopes sums misses of false sharing by object and scopes.
func falseByScopes(all []namedMiss, prog *subject.Program) map[string]map[scopePair]float64 {
	sums := make(map[string]map[scopePair]float64)
	for _, m := range all {
		if sums[m.object] == nil {
			sums[m.object] = make(map[scopePair]float64)
		}
		pair := scopePair{prog.ScopeOf(subject.ByLoop, subject.Ref(m.Ref)), prog.ScopeOf(subject.ByLoop, subject.Ref(m.Writer))}
		sums[m.object][pair] += float64(m.Counts.False)
	}
	return sums
}

// sumUp sets what is said of the object's misses, given those by scopes. Of pairs with as
// many misses, the alphabetically first is named.
func (o *falseObject) sumUp(byScopes map[scopePair]float64, libraries map[string]bool) {
	most, ofLibrary := 0.0, 0.0
	for p, n := range byScopes {
		o.misses += n
		if libraries[p.scope] && libraries[p.writer] {
			ofLibrary += n
		}
		if n > most || n == most && (p.scope < o.scope || p.scope == o.scope && p.writer < o.writer) {
			most, o.scope, o.writer = n, p.scope, p.writer
		}
	}
	o.library = ofLibrary > o.misses/2
}
