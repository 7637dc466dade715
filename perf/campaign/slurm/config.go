package slurm

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kballard/go-shellquote"

	"presage/perf/internal/yamlfile"
)

// Config says how a cluster is used. The zero value is the documented default.
type Config struct {
	Partition  string `yaml:"partition" json:"partition,omitempty"` // "": the cluster's default
	Account    string `yaml:"account" json:"account,omitempty"`
	QOS        string `yaml:"qos" json:"qos,omitempty"`
	Constraint string `yaml:"constraint" json:"constraint,omitempty"` // features of nodes
	// Time is the limit of a task, as sbatch takes it, such as 4:00:00; "": the
	// partition's.
	Time string `yaml:"time" json:"time,omitempty"`
	// Memory in MiB is the least that a task is given; 0: what its jobs expect.
	Memory int `yaml:"memory_mib" json:"memory_mib,omitempty"`
	// Environment are variables of tasks, beside those of the submitting process.
	Environment map[string]string `yaml:"environment" json:"environment,omitempty"`
	// Setup are lines of sh that a task begins with, such as module load.
	Setup string `yaml:"setup" json:"setup,omitempty"`
	// Target is the time in seconds that a task ought to take; 0: DefaultTarget.
	Target float64 `yaml:"target_sec" json:"target_sec,omitempty"`
	// Tasks is how many tasks are submitted at a time at most; 0: DefaultTasks.
	Tasks int `yaml:"tasks" json:"tasks,omitempty"`
	// Running is how many tasks of an array run at a time at most; 0: any number.
	Running int `yaml:"running" json:"running,omitempty"`
}

// Defaults of Config.
const (
	DefaultTarget = 600.0
	DefaultTasks  = 1000
)

// ReadConfig reads a configuration from a YAML file.
func ReadConfig(path string) (Config, error) {
	var c Config
	data, err := yamlfile.Read(path)
	if err != nil {
		return c, fmt.Errorf("slurm: %w", err)
	}
	return parseConfig(path, data)
}

func parseConfig(file string, data []byte) (Config, error) {
	var c Config
	if strings.TrimSpace(string(data)) == "" {
		return c, nil
	}
	if _, err := yamlfile.Decode(file, data, &c); err != nil {
		return c, err
	}
	if err := c.check(); err != nil {
		return c, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// A day and hours, hours, minutes and seconds, or minutes, as sbatch documents.
	timeLimit = regexp.MustCompile(`^([0-9]+-[0-9]+(:[0-9]+){0,2}|[0-9]+(:[0-9]+){0,2})$`)
)

func (c *Config) check() error {
	for _, f := range []struct{ name, value string }{
		{"partition", c.Partition}, {"account", c.Account}, {"qos", c.QOS}, {"constraint", c.Constraint},
	} {
		if strings.ContainsAny(f.value, " \t\n\x00") || strings.HasPrefix(f.value, "-") {
			return fmt.Errorf("%s: %q: want a name as Slurm knows it", f.name, f.value)
		}
	}
	if c.Time != "" && !timeLimit.MatchString(c.Time) {
		return fmt.Errorf("time: %q: want what sbatch takes: minutes, hours:minutes:seconds or days-hours", c.Time)
	}
	if c.Memory < 0 || !(c.Target >= 0) || c.Tasks < 0 || c.Running < 0 {
		return errors.New("memory_mib, target_sec, tasks and running: want no negative numbers")
	}
	for name, value := range c.Environment {
		if !variableName.MatchString(name) || strings.Contains(value, "\x00") {
			return fmt.Errorf("environment: %q is no name of a variable", name)
		}
	}
	return nil
}

// limit returns the time limit of a task; 0 if it is the partition's.
func (c *Config) limit() time.Duration {
	if c.Time == "" {
		return 0
	}
	days, rest, dated := strings.Cut(c.Time, "-")
	if !dated {
		days, rest = "0", c.Time
	}
	parts := make([]int, 3)
	fields := strings.Split(rest, ":")
	for i, f := range fields {
		fmt.Sscanf(f, "%d", &parts[i]) // digits, by check
	}
	if !dated && len(fields) < 3 { // minutes, or minutes:seconds
		parts = []int{0, parts[0], parts[1]}
	}
	d := 0
	fmt.Sscanf(days, "%d", &d)
	return time.Duration(((d*24+parts[0])*60+parts[1])*60+parts[2]) * time.Second
}

// script returns what a task of an array runs: the worker, after what the
// configuration wants before it.
func (c *Config) script(worker ...string) string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n")
	for _, name := range slices.Sorted(maps.Keys(c.Environment)) {
		fmt.Fprintf(&b, "export %s=%s\n", name, shellquote.Join(c.Environment[name]))
	}
	if c.Setup != "" {
		b.WriteString(strings.TrimRight(c.Setup, "\n") + "\n")
	}
	fmt.Fprintf(&b, "exec %s --task \"$SLURM_ARRAY_TASK_ID\"\n", shellquote.Join(worker...))
	return b.String()
}
