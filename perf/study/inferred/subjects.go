package inferred

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"presage/perf/internal/yamlfile"
)

// Subject is a variant of an application: its program, compiled at a level of
// optimisation, with an input.
type Subject struct {
	Application string
	Level       Level
	Input       string // name of the arguments
	Folder      string // of the program, below that of all programs
	Args        []string
	Role        Role

	// PlainLibrary compiles Go's standard library at the program's level, too:
	// for programs that spend their time there.
	PlainLibrary bool
}

// Level is how far a compiler optimises.
type Level string

// The levels of optimisation.
const (
	O1 Level = "O1" // Go's flags -N -l; C's -O1
	O3 Level = "O3" // Go's defaults; C's -O3
)

func levels() []Level { return []Level{O1, O3} }

// Role is what the profiles of an application are for.
type Role string

// The roles of applications.
const (
	ToTrain  Role = "train"  // models are fitted to them
	ToChoose Role = "choose" // the form of the models was chosen by them; no model is fitted to them
	ToJudge  Role = "judge"  // no model is fitted to them, and no choice was made by them
)

// Variant names the subject among those of its application.
func (s Subject) Variant() string {
	return s.Application + "-" + string(s.Level) + "-" + s.Input
}

// check returns an error if the level or the role is not one of the constants.
func (s Subject) check() error {
	if !slices.Contains(levels(), s.Level) {
		return fmt.Errorf("level %q: want one of %v", s.Level, levels())
	}
	return s.Role.check()
}

func (r Role) check() error {
	if r != ToTrain && r != ToChoose && r != ToJudge {
		return fmt.Errorf("role %q: want %s, %s or %s", r, ToTrain, ToChoose, ToJudge)
	}
	return nil
}

// parseVariant returns the level and the input in the name of a variant.
func parseVariant(application, variant string) (level Level, input string, err error) {
	rest, ours := strings.CutPrefix(variant, application+"-")
	of, input, _ := strings.Cut(rest, "-")
	if level = Level(of); !ours || input == "" || !slices.Contains(levels(), level) {
		return "", "", fmt.Errorf("%q does not name a variant of %s: want %s-LEVEL-INPUT with a level of %v", variant, application, application, levels())
	}
	return level, input, nil
}

// application is a program of a file of subjects.
type application struct {
	Name         string  `yaml:"name"`
	Folder       string  `yaml:"folder"`
	Role         Role    `yaml:"role"`
	StandsFor    string  `yaml:"stands_for"` // benchmark of the paper; optional
	PlainLibrary bool    `yaml:"plain_library"`
	Inputs       []input `yaml:"inputs"`

	line int
}

// input is an input of an application.
type input struct {
	Name string `yaml:"name"`
	Args string `yaml:"args"`

	line int
}

// UnmarshalYAML decodes an application strictly and keeps its line.
func (a *application) UnmarshalYAML(n ast.Node) error {
	type plain application
	a.line = n.GetToken().Position.Line
	return yaml.NodeToValue(n, (*plain)(a), yaml.Strict())
}

// UnmarshalYAML decodes an input strictly and keeps its line.
func (in *input) UnmarshalYAML(n ast.Node) error {
	type plain input
	in.line = n.GetToken().Position.Line
	return yaml.NodeToValue(n, (*plain)(in), yaml.Strict())
}

// LoadSubjects reads the programs of a campaign from a YAML file such as
// datasets/inferred/subjects.yaml, each in two levels of optimisation for each of
// its inputs. Those that models are fitted to come first, and among these the
// first input of every application, then the second; the order is that of the
// tables that a campaign records.
func LoadSubjects(path string) ([]Subject, error) {
	data, err := yamlfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("perf: infer: subjects: %w", err)
	}
	all, err := readSubjects(path, data)
	if err != nil {
		return nil, fmt.Errorf("perf: infer: %w", err)
	}
	return all, nil
}

// readSubjects decodes the text of a file of subjects.
func readSubjects(file string, data []byte) (all []Subject, err error) {
	var list struct {
		Applications []application `yaml:"applications"`
	}
	if _, err := yamlfile.Decode(file, data, &list); err != nil {
		return nil, err
	}
	if len(list.Applications) == 0 {
		return nil, fmt.Errorf("%s: no applications", file)
	}
	names := make(map[string]bool)
	for i := range list.Applications {
		a := &list.Applications[i]
		if line, err := a.check(); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, line, err)
		}
		if names[a.Name] {
			return nil, fmt.Errorf("%s:%d: there are two applications %q", file, a.line, a.Name)
		}
		names[a.Name] = true
	}
	trained := func(a application) bool { return a.Role == ToTrain }
	others := slices.DeleteFunc(slices.Clone(list.Applications), trained)
	return slices.Concat(variants(slices.DeleteFunc(list.Applications, func(a application) bool { return !trained(a) })), variants(others)), nil
}

// check returns an error, and its line, if a field is missing or wrong.
func (a *application) check() (line int, err error) {
	switch {
	case !plainName(a.Name):
		return a.line, fmt.Errorf("application %q: want a name of letters, digits, - and _", a.Name)
	case a.Folder == "" || !filepath.IsLocal(a.Folder):
		return a.line, fmt.Errorf("application %s: folder %q: want one below that of the programs", a.Name, a.Folder)
	case a.Role.check() != nil:
		return a.line, fmt.Errorf("application %s: %w", a.Name, a.Role.check())
	case len(a.Inputs) == 0:
		return a.line, fmt.Errorf("application %s: no inputs", a.Name)
	}
	for i, in := range a.Inputs {
		switch same := func(other input) bool { return other.Name == in.Name }; {
		case !plainName(in.Name):
			return in.line, fmt.Errorf("application %s: input %q: want a name of letters, digits, - and _", a.Name, in.Name)
		case slices.ContainsFunc(a.Inputs[:i], same):
			return in.line, fmt.Errorf("application %s: there are two inputs %q", a.Name, in.Name)
		case strings.TrimSpace(in.Args) == "":
			return in.line, fmt.Errorf("application %s: input %s: no args", a.Name, in.Name)
		}
	}
	return 0, nil
}

// plainName reports whether a name can stand in tables and file names.
func plainName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_')
	})
}

// variants returns the first input of all applications at all levels, then the
// second, and so on.
func variants(applications []application) (all []Subject) {
	most := 0
	for _, a := range applications {
		most = max(most, len(a.Inputs))
	}
	for i := range most {
		for _, a := range applications {
			if i >= len(a.Inputs) {
				continue
			}
			for _, level := range levels() {
				all = append(all, Subject{
					Application: a.Name, Level: level, Input: a.Inputs[i].Name, Folder: a.Folder,
					Args: strings.Fields(a.Inputs[i].Args), Role: a.Role, PlainLibrary: a.PlainLibrary,
				})
			}
		}
	}
	return all
}
