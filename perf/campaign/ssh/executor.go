package ssh

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"presage/perf/campaign"
	"presage/perf/campaign/pool"
	"presage/perf/internal/yamlfile"
)

// Config lists hosts.
type Config struct {
	Hosts []Host `yaml:"hosts"`
	// Options are arguments of ssh before the host, such as -F and a file.
	Options []string `yaml:"options"`
	// Setup are lines of sh that a worker begins with, such as module load.
	Setup string `yaml:"setup"`
}

// Host is a machine, and what campaigns may occupy of it.
type Host struct {
	Name   string `yaml:"name"`  // as ssh takes it
	Cores  int    `yaml:"cores"` // from 1
	Memory int    `yaml:"memory_mib"`
}

// ReadConfig reads a configuration from a YAML file.
func ReadConfig(path string) (Config, error) {
	var c Config
	data, err := yamlfile.Read(path)
	if err != nil {
		return c, fmt.Errorf("ssh: %w", err)
	}
	if _, err := yamlfile.Decode(path, data, &c); err != nil {
		return c, err
	}
	if err := c.check(); err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func (c *Config) check() error {
	if len(c.Hosts) == 0 {
		return errors.New("no hosts: want a list of them, each with name, cores and memory_mib")
	}
	for _, h := range c.Hosts {
		if h.Name == "" || strings.HasPrefix(h.Name, "-") || h.Cores < 1 || h.Memory < 1 {
			return fmt.Errorf("host %q: want a name as ssh takes it, and cores and memory_mib from 1", h.Name)
		}
	}
	return nil
}

// Executor has jobs done on hosts. It is a campaign.Executor.
type Executor struct {
	Config Config
	// Exe is the executable of workers. It is copied into the store, which the hosts
	// share. Args come before the store's folder.
	Exe  string
	Args []string
	// Invoked is the command that the campaign is part of, for its manifest.
	Invoked string
}

var _ campaign.Executor = (*Executor)(nil)

// Execute implements campaign.Executor.
func (e *Executor) Execute(ctx context.Context, c *campaign.Campaign, tell func(campaign.Event)) error {
	if err := e.Config.check(); err != nil {
		return fmt.Errorf("ssh: %w", err)
	}
	exe, err := campaign.KeepExe(c.Store, e.Exe)
	if err != nil {
		return err
	}
	folder, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("ssh: %w", err)
	}
	dir, err := filepath.Abs(c.Store.Dir())
	if err != nil {
		return fmt.Errorf("ssh: %w", err)
	}
	worker := append(append([]string{exe}, e.Args...), dir)
	p := pool.Executor{Title: "ssh", Invoked: e.Invoked}
	for _, h := range e.Config.Hosts {
		p.Hosts = append(p.Hosts, pool.Host{
			Name: h.Name, Cores: h.Cores, Memory: uint64(h.Memory) << 20,
			Command: func(string) *exec.Cmd { return e.Config.command(h.Name, folder, worker) },
		})
	}
	return p.Execute(ctx, c, tell)
}

// command returns what starts a worker on a host, in a folder.
func (c *Config) command(host, folder string, worker []string) *exec.Cmd {
	script := "cd " + shellquote.Join(folder) + " && exec " + shellquote.Join(worker...)
	if c.Setup != "" {
		script = strings.TrimRight(c.Setup, "\n") + "\n" + script
	}
	// A host that is gone is noticed within a minute.
	args := []string{"-o", "BatchMode=yes", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4"}
	return exec.Command("ssh", slices.Concat(args, c.Options, []string{host, script})...)
}
