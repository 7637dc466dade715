package judging

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"presage/perf/internal/yamlfile"
)

// Suite is a list of programs in one folder.
type Suite struct {
	Dir      string // of the sources
	Programs []Program
}

// Program is a program of a suite, in one source file, whose size is the parameter n.
type Program struct {
	Name   string   `yaml:"name"`
	Source string   `yaml:"source"` // file in the suite's folder; its ending tells the language
	Kind   Kind     `yaml:"kind"`
	Half   Half     `yaml:"half"`
	Size   SizeFrom `yaml:"size"`
	Flags  string   `yaml:"flags"` // of the compiler; DefaultFlags if the file gives none
	Train  []int    `yaml:"train"` // sizes that models are fitted to, ascending, three at least
	Judge  []int    `yaml:"judge"` // sizes that predictions are held against, ascending, beyond those
	Time   []int    `yaml:"time"`  // those of Judge at which cycles are simulated, too; may be none
	Test   int      `yaml:"test"`  // a size for a test of the program itself

	// Native says that the program is built for this computer, with shared libraries, and
	// not as a static one for linux/riscv64; no suite says it.
	Native bool `yaml:"-"`

	line     int
	fraction string // a number with a fraction, which the decoder would truncate
}

// DefaultFlags are the compiler's flags for a program that has no others.
const DefaultFlags = "-O2 -g"

// Kind is how large a program is.
type Kind string

// The kinds of programs.
const (
	Kernel      Kind = "kernel"
	Application Kind = "application"
)

// Half is the half of a suite that a program belongs to.
type Half string

// The halves of a suite, programs that are of neither, and all together.
const (
	Open   Half = "open"   // may be looked at while predictions are improved
	Closed Half = "closed" // is looked at when that is done
	Fresh  Half = "fresh"  // written after that
	Second Half = "second" // written after predictions of Fresh were looked at, and improved
	Third  Half = "third"  // written after intervals had become narrower since Second
	All    Half = "all"    // no program's own
)

// SizeFrom is where a program takes its size from.
type SizeFrom string

// Where programs take their sizes from.
const (
	FromArgument SizeFrom = "argument" // its one argument
	FromCompiler SizeFrom = "compiled" // -DN=n: an executable a size
	FromFile     SizeFrom = "file"     // a file that holds it, which its one argument names
)

// Language is the language of the source: C, C++ or Fortran; "" if its ending is none
// of theirs.
func (p *Program) Language() string { return compilers[filepath.Ext(p.Source)].language }

// LargestTrained returns the largest training size.
func (p *Program) LargestTrained() int { return p.Train[len(p.Train)-1] }

// Of returns the programs of one half, or of All. It returns an error if half is none
// of the constants.
func (s *Suite) Of(half Half) ([]Program, error) {
	if half == All {
		return s.Programs, nil
	}
	if err := half.check(); err != nil {
		return nil, fmt.Errorf("perf: judge: %w, or %s", err, All)
	}
	return slices.DeleteFunc(slices.Clone(s.Programs), func(p Program) bool { return p.Half != half }), nil
}

// Named returns the programs with some names, in the suite's order. It returns an
// error if a name is no program's.
func (s *Suite) Named(names ...string) ([]Program, error) {
	var all []string
	for i := range s.Programs {
		all = append(all, s.Programs[i].Name)
	}
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("perf: judge: no program %q; the suite has %s", name, strings.Join(all, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(s.Programs), func(p Program) bool { return !slices.Contains(names, p.Name) }), nil
}

// ReadSuite reads a suite from a YAML file such as datasets/suite/suite.yaml, which
// stands in the folder of the sources. Errors name the line.
func ReadSuite(path string) (*Suite, error) {
	data, err := yamlfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("perf: judge: suite: %w", err)
	}
	programs, err := parse(path, data)
	if err != nil {
		return nil, fmt.Errorf("perf: judge: %w", err)
	}
	return &Suite{Dir: filepath.Dir(path), Programs: programs}, nil
}

// UnmarshalYAML decodes a program strictly and keeps its line.
func (p *Program) UnmarshalYAML(n ast.Node) error {
	type plain Program
	p.line = n.GetToken().Position.Line
	for _, f := range ast.Filter(ast.FloatType, n) {
		p.fraction = f.String()
	}
	return yaml.NodeToValue(n, (*plain)(p), yaml.Strict())
}

// parse decodes the text of a suite.
func parse(file string, data []byte) ([]Program, error) {
	var list struct {
		Programs []Program `yaml:"programs"`
	}
	if _, err := yamlfile.Decode(file, data, &list); err != nil {
		return nil, err
	}
	if len(list.Programs) == 0 {
		return nil, fmt.Errorf("%s: no programs", file)
	}
	names := make(map[string]bool)
	for i := range list.Programs {
		p := &list.Programs[i]
		if p.Flags == "" {
			p.Flags = DefaultFlags
		}
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, p.line, err)
		}
		if names[p.Name] {
			return nil, fmt.Errorf("%s:%d: there are two programs %q", file, p.line, p.Name)
		}
		names[p.Name] = true
	}
	return list.Programs, nil
}

// check returns an error if a field is missing or wrong.
func (p *Program) check() error {
	if !plainName(p.Name) {
		return fmt.Errorf("program %q: want a name of letters, digits, - and _", p.Name)
	}
	err := errors.Join(p.Kind.check(), p.Half.check(), p.Size.check())
	switch {
	case p.fraction != "":
		err = fmt.Errorf("%s: want a whole number", p.fraction)
	case p.Language() == "" || filepath.Base(p.Source) != p.Source:
		err = fmt.Errorf("source %q: want a file of this folder that ends in .c, .cpp, .f90 or .F90", p.Source)
	case err != nil:
	case len(p.Train) < minTrain || !ascending(p.Train):
		err = fmt.Errorf("train %v: want %d sizes at least, ascending, from 1", p.Train, minTrain)
	case len(p.Judge) == 0 || !ascending(p.Judge) || p.Judge[0] <= p.LargestTrained():
		err = fmt.Errorf("judge %v: want sizes beyond %d, ascending", p.Judge, p.LargestTrained())
	case slices.ContainsFunc(p.Time, func(n int) bool { return !slices.Contains(p.Judge, n) }) || len(p.Time) > 0 && !ascending(p.Time):
		err = fmt.Errorf("time %v: want some of the sizes to be judged, %v, ascending", p.Time, p.Judge)
	case p.Test < 1:
		err = fmt.Errorf("test %d: want a size from 1", p.Test)
	}
	if err != nil {
		return fmt.Errorf("program %s: %w", p.Name, err)
	}
	return nil
}

// minTrain is the least number of sizes that a model can be fitted to.
const minTrain = 3

// maxSize bounds sizes, far above what can be simulated.
const maxSize = 1 << 30

func ascending(sizes []int) bool {
	for i, n := range sizes {
		if n < 1 || n > maxSize || i > 0 && n <= sizes[i-1] {
			return false
		}
	}
	return true
}

func (k Kind) check() error {
	if k != Kernel && k != Application {
		return fmt.Errorf("kind %q: want %s or %s", k, Kernel, Application)
	}
	return nil
}

func (h Half) check() error {
	if h != Open && h != Closed && !h.afterwards() {
		return fmt.Errorf("half %q: want %s, %s, %s, %s or %s", h, Open, Closed, Fresh, Second, Third)
	}
	return nil
}

// Beside returns the half that stands beside the results of h; empty: none does.
func (h Half) Beside() Half {
	switch {
	case h == Closed:
		return Open
	case h.afterwards():
		return Closed
	}
	return ""
}

// afterwards reports whether programs of h were written after what they are to judge.
func (h Half) afterwards() bool { return h == Fresh || h == Second || h == Third }

func (s SizeFrom) check() error {
	if s != FromArgument && s != FromCompiler && s != FromFile {
		return fmt.Errorf("size %q: want %s, %s or %s", s, FromArgument, FromCompiler, FromFile)
	}
	return nil
}

// plainName reports whether a name can stand in tables and file names.
func plainName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_')
	})
}
