package subject_test

import (
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
)

// TestLibraryScopes: what is a program's own, and what its library's, in C++ with and
// without source lines, and in Go.
func TestLibraryScopes(t *testing.T) {
	gxx := oracle.Need(t, "riscv64-linux-gnu-g++")
	source := perftest.Source(t, "sorted.cpp")
	for _, c := range []struct {
		name string
		of   map[string]bool
		own  []string // beginnings of names
		not  []string
	}{
		{"C++", perftest.Link(t, gxx, []string{"-O2", "-g", "-static", source}, "sorted").LibraryScopes(), []string{"main"}, []string{"memset", "_ZSt16__introsort_loop", "_start"}},
		{"without lines", perftest.Link(t, gxx, []string{"-O2", "-static", source}, "sorted").LibraryScopes(), []string{"main", "memset"}, nil},
		{"Go", perftest.Built("planted")(t).LibraryScopes(), []string{"main.count", "main.main"}, []string{"runtime.mallocgc", "internal/runtime/maps.NewMap", "strconv.ParseInt"}},
	} {
		for _, own := range c.own {
			for name := range c.of {
				if name == own || strings.HasPrefix(name, own+"/loop") && !strings.Contains(name, "stl_") {
					t.Errorf("%s: %s is a library's", c.name, name)
				}
			}
		}
		for _, not := range c.not {
			found := false
			for name := range c.of {
				found = found || strings.HasPrefix(name, not)
			}
			if !found {
				t.Errorf("%s: %s is the program's", c.name, not)
			}
		}
	}
}
