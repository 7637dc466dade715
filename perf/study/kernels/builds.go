package kernels

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"
)

// Build is a program that times a kernel itself, and how it is built for this
// machine.
type Build struct {
	Name    string // such as gcc-O3
	Command string // a shell command; {exe} stands for the path of the executable to make
	Args    string // template for the arguments of a run; see subject.Point.Arguments
}

var buildColumns = []string{"build", "command", "args"}

// ReadBuilds reads a table of builds: a CSV file with the columns build, command
// and args.
func ReadBuilds(path string) ([]Build, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("perf: builds: %w", err)
	}
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("perf: builds: %s: %w", path, err)
	}
	if len(records) < 2 || !slices.Equal(records[0], buildColumns) {
		return nil, fmt.Errorf("perf: builds: %s:1: want the columns %s, and a row for each build", path, strings.Join(buildColumns, ","))
	}
	var all []Build
	for i, r := range records[1:] {
		b := Build{r[0], r[1], r[2]}
		if err := b.check(all); err != nil {
			return nil, fmt.Errorf("perf: builds: %s:%d: %w", path, i+2, err)
		}
		all = append(all, b)
	}
	return all, nil
}

// check returns an error if b cannot be run, or has the name of one of others.
func (b Build) check(others []Build) error {
	words, err := shellquote.Split(b.Command)
	switch {
	case err != nil:
		return fmt.Errorf("command: %w", err)
	case b.Name == "" || len(words) == 0:
		return fmt.Errorf("want a name and a command")
	case !slices.Contains(words, "{exe}"):
		return fmt.Errorf("the command does not say {exe}, the executable to make")
	case slices.ContainsFunc(others, func(o Build) bool { return o.Name == b.Name }):
		return fmt.Errorf("build %q stands twice", b.Name)
	}
	return nil
}

// compilers returns the first line of what the compilers of builds print about
// their version.
func compilers(builds []Build) (all []string) {
	for _, b := range builds {
		words, err := shellquote.Split(b.Command)
		if err != nil || len(words) == 0 {
			continue
		}
		flag := "--version"
		if filepath.Base(words[0]) == "go" {
			flag = "version"
		}
		out, err := exec.Command(words[0], flag).Output()
		first, _, _ := strings.Cut(string(out), "\n")
		if err == nil && !slices.Contains(all, first) {
			all = append(all, first)
		}
	}
	return all
}
