package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/frame"
	"presage/perf/machine"
	"presage/perf/machine/catalog"
)

func machinesCommand() *cobra.Command {
	var (
		out     output
		classes bool
	)
	cmd := &cobra.Command{
		Use:   "machines [NAME]",
		Short: "List the machines, explain one, or compare two",
		Long: `machines lists the machines with descriptions. With NAME, one of these machines
or a .yaml file, it explains that machine: the capabilities of its core and the
costs of instructions, its caches, TLBs and memory, and the sources of the
numbers. With --format csv or json it prints the caches and TLBs as a table; with
--classes, in any format, the cost of each class of instructions.

A file with a mistake is rejected: the error gives its position and a remedy.`,
		Example: `  presage machines
  presage machines origin2000
  presage machines zen4 --classes --format csv
  presage machines diff ultrasparc-1 ultrasparc-2`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if len(args) == 0 {
				return listMachines(cmd.OutOrStdout(), out, classes)
			}
			m, err := perf.FindMachine(args[0])
			if err != nil {
				return err
			}
			return explainMachine(cmd.OutOrStdout(), out, m, classes)
		},
	}
	cmd.Flags().BoolVar(&classes, "classes", false, "print a table of the cost of each class of instructions")
	out.register(cmd)
	cmd.AddCommand(machinesDiffCommand())
	return cmd
}

func listMachines(w io.Writer, out output, classes bool) error {
	if classes {
		return errors.New("--classes is about one machine: name it")
	}
	rows, err := catalog.List()
	if err != nil {
		return err
	}
	return out.print(w, frame.Of(rows))
}

func explainMachine(w io.Writer, out output, m *machine.Machine, classes bool) error {
	switch {
	case classes && !m.Core.Described():
		return fmt.Errorf("%s: the core is not described: its file gives no order, width, units and classes under core", m.Path)
	case classes:
		return out.print(w, frame.Of(catalog.Classes(m)))
	case out.format == "text":
		_, err := io.WriteString(w, m.Explain())
		return err
	}
	return out.print(w, perf.MachineTable(m))
}

func machinesDiffCommand() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Show the properties in which two machines differ",
		Long: `diff prints a row for each property in which machine A differs from machine B;
columns a and b are empty where a machine has no such part or it is unknown.`,
		Example: `  presage machines diff ultrasparc-1 ultrasparc-2
  presage machines diff zen4 my.yaml --format json`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			a, err := perf.FindMachine(args[0])
			if err != nil {
				return err
			}
			b, err := perf.FindMachine(args[1])
			if err != nil {
				return err
			}
			return out.print(cmd.OutOrStdout(), frame.Of(catalog.Diff(a, b)))
		},
	}
	out.register(cmd)
	return cmd
}
